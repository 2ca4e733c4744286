/**
 * How many lines an instruction may log.
 *
 * Promises: memory is bounded; of the instructions with lines, the oldest is forgotten first.
 */

/** Instructions whose lines are counted. */
const INSTRUCTIONS_MAX = 1000;

/** Whether to write a line: `Last` is the one that says that others are left out. */
export type LineVerdict = 'Write' | 'Last' | 'LeaveOut';

/** The lines of instructions. */
export class LineBudget {
  readonly #linesMax: number;
  readonly #lines = new Map<string, number>();

  constructor(linesMax: number) {
    this.#linesMax = linesMax;
  }

  /** Counts one more line of an instruction. */
  readonly take = (id: string): LineVerdict => {
    const lines = (this.#lines.get(id) ?? 0) + 1;
    this.#lines.set(id, lines);
    const [oldest] = this.#lines.keys();
    if (this.#lines.size > INSTRUCTIONS_MAX && oldest !== undefined) this.#lines.delete(oldest);
    if (lines <= this.#linesMax) return 'Write';
    return lines === this.#linesMax + 1 ? 'Last' : 'LeaveOut';
  };
}
