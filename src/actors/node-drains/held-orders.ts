/**
 * Reclaim instructions that came before the drains of their term were resumed.
 *
 * Promises: in the order in which they came, without machines that have left since (DR-10).
 */
import type { ReclaimOrder } from '../../domain/frames.ts';

/** An instruction, and when it came, on the wall clock. */
export interface HeldOrder extends ReclaimOrder {
  readonly sinceMs: number;
}

/** None at first. */
export class HeldOrders {
  #orders: HeldOrder[] = [];

  readonly all = (): readonly HeldOrder[] => this.#orders;

  readonly add = (order: HeldOrder): void => void this.#orders.push(order);

  /** All of them; none is left. */
  readonly take = (): readonly HeldOrder[] => this.#orders.splice(0);

  /** Removes the machines that left. */
  readonly leave = (
    hasLeft: (name: string) => boolean,
    onLeft: (instruction: string, name: string) => void,
  ): void => {
    this.#orders = this.#orders.map((order) => {
      const left = new Set(order.machines.filter(hasLeft));
      for (const name of left) onLeft(order.instructionId, name);
      return { ...order, machines: order.machines.filter((name) => !left.has(name)) };
    });
  };
}
