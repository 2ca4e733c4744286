/**
 * The waiting writes of a process in their classes, and which of them goes next (DR-36).
 *
 * Promises: the most urgent class goes first, except that a class that waits is passed over only so
 * many times, so that a storm of phases starves no eviction and no class stands still; within a
 * class writes go in the order of arrival; a class that the API server asked to wait (Retry-After)
 * waits, and holds up no other. Pure arithmetic on the time that it is given.
 */
import type { Telemetry } from '../api/telemetry.ts';
import type { TrialEnd } from './connection-circuit.ts';
import { WRITE_CLASSES, type WriteClass } from './writes.ts';

/** A write that waits; called once it has its token. */
export type Waiter = (end: TrialEnd) => void;

/**
 * The floor of each class: one of so many writes is of this class while it waits. The most urgent
 * class needs none: the floors of the others leave it 7 of 16 writes.
 */
const FLOORS: Readonly<Record<WriteClass, number>> = {
  phase: Number.POSITIVE_INFINITY,
  eviction: 4,
  demand: 8,
  request: 8,
  event: 16,
};

/** The writes of one class. */
interface ClassQueue {
  readonly writeClass: WriteClass;
  readonly waiting: Set<Waiter>;
  /** Writes of other classes that went while this one waited. */
  passed: number;
  /** Monotonic time until which the API server asked to wait. */
  heldUntilMs: number;
}

/** Waiting writes; no two of them are the same function. */
export class WriteQueue {
  readonly #telemetry: Telemetry;
  readonly #waitingMax: number;
  readonly #classes: readonly ClassQueue[] = WRITE_CLASSES.map((writeClass) => ({
    writeClass,
    waiting: new Set(),
    passed: 0,
    heldUntilMs: Number.NEGATIVE_INFINITY,
  }));

  constructor(telemetry: Telemetry, waitingMax: number) {
    this.#telemetry = telemetry;
    this.#waitingMax = waitingMax;
    for (const queue of this.#classes) this.#show(queue);
  }

  get isEmpty(): boolean {
    return this.#classes.every(({ waiting }) => waiting.size === 0);
  }

  /** False when the class is full. */
  add(writeClass: WriteClass, waiter: Waiter): boolean {
    const queue = this.#of(writeClass);
    if (queue === undefined || queue.waiting.size >= this.#waitingMax) return false;
    queue.waiting.add(waiter);
    this.#show(queue);
    return true;
  }

  remove(writeClass: WriteClass, waiter: Waiter): void {
    const queue = this.#of(writeClass);
    if (queue?.waiting.delete(waiter) === true) this.#show(queue);
  }

  /** Writes of the class wait until `untilMs`. */
  hold(writeClass: WriteClass, untilMs: number): void {
    const queue = this.#of(writeClass);
    if (queue !== undefined) queue.heldUntilMs = Math.max(queue.heldUntilMs, untilMs);
  }

  /** How long the class has to wait because the API server asked for it; 0 when it may go. */
  heldMs(writeClass: WriteClass, nowMs: number): number {
    return Math.max(0, (this.#of(writeClass)?.heldUntilMs ?? nowMs) - nowMs);
  }

  /** How long all that wait have to wait for the API server; 0 when one may go or none waits. */
  allHeldMs(nowMs: number): number {
    const held = this.#classes.filter(({ waiting }) => waiting.size > 0)
      .map(({ writeClass }) => this.heldMs(writeClass, nowMs));
    return held.length === 0 ? 0 : Math.min(...held);
  }

  /** Takes the write that goes next; `isHolding` is false when held classes go, too. */
  next(nowMs: number, isHolding: boolean): Waiter | undefined {
    const ready = this.#classes.filter(({ waiting, writeClass }) =>
      waiting.size > 0 && !(isHolding && this.heldMs(writeClass, nowMs) > 0)
    );
    const due = ready.find(({ writeClass, passed }) => passed >= FLOORS[writeClass] - 1);
    const chosen = due ?? ready[0];
    if (chosen === undefined) return undefined;
    for (const queue of ready) queue.passed += 1;
    chosen.passed = 0;
    const [waiter] = chosen.waiting;
    if (waiter !== undefined) this.remove(chosen.writeClass, waiter);
    return waiter;
  }

  #of(writeClass: WriteClass): ClassQueue | undefined {
    return this.#classes.find((queue) => queue.writeClass === writeClass);
  }

  #show({ writeClass, waiting }: ClassQueue): void {
    this.#telemetry.gauge('tidegate_write_queue_depth', waiting.size, { class: writeClass });
  }
}
