/**
 * Reclaim instructions that came before the drains of their term were resumed.
 *
 * Promises: in the order in which they came, without machines that have left since (DR-10).
 */
import type { ReclaimInstruction } from '../../domain/frames.ts';

/** An instruction, and when it came, on the wall clock. */
export interface HeldInstruction extends ReclaimInstruction {
  readonly sinceMs: number;
}

/** None at first. */
export class HeldInstructions {
  #instructions: HeldInstruction[] = [];

  /** Those of other ids; the shard may repeat one. */
  readonly others = (id: string): readonly HeldInstruction[] =>
    this.#instructions.filter(({ instructionId }) => instructionId !== id);

  readonly add = (instruction: HeldInstruction): void => void this.#instructions.push(instruction);

  /** All of them; none is left. */
  readonly take = (): readonly HeldInstruction[] => this.#instructions.splice(0);

  /** Removes the machines that left. */
  readonly leave = (
    hasLeft: (name: string) => boolean,
    onLeft: (instruction: string, name: string) => void,
  ): void => {
    this.#instructions = this.#instructions.map((held) => {
      const left = new Set(held.machines.filter(hasLeft));
      for (const name of left) onLeft(held.instructionId, name);
      return { ...held, machines: held.machines.filter((name) => !left.has(name)) };
    });
  };
}
