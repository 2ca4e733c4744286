/**
 * The programs of one test bed: started together, stopped together, and monitored for an early
 * exit.
 */
import { readFile } from 'node:fs/promises';
import type { Print } from './go-builds.ts';
import { type Program, supervise, type Supervised } from './processes.ts';
import { eventually } from './waiting.ts';

const LOG_TAIL_LINES = 15;
const START_TIMEOUT_MS = 120_000;

const logTail = async (path: string | undefined): Promise<string> => {
  const text = path === undefined ? '' : await readFile(path, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n');
};

/**
 * Polls `probe` until it succeeds. `what` continues the program's name in messages. Rejects with
 * the end of its log on a timeout, or when the program has exited.
 */
export const untilStarted = async (
  { program, child }: { readonly program: Program; readonly child: Supervised },
  what: string,
  probe: () => Promise<boolean>,
): Promise<void> => {
  try {
    await eventually(probe, {
      what: `${program.name} ${what}`,
      timeoutMs: START_TIMEOUT_MS,
      hopeless: () => child.isRunning() ? undefined : 'it has ended',
    });
  } catch (problem) {
    throw new Error(`${problem}\n${await logTail(program.log)}`, { cause: problem });
  }
};

/** Starts programs, reports unexpected exits, and stops the rest. */
export class Programs {
  readonly #running = new Set<Supervised>();
  readonly #unwanted = new Set<Supervised>();
  readonly #print: Print;

  constructor(print: Print) {
    this.#print = print;
  }

  start(program: Program): Supervised {
    const child = supervise(program);
    this.#running.add(child);
    child.exited.then((code) => this.#ended(child, program, code));
    return child;
  }

  async #ended(child: Supervised, program: Program, code: number): Promise<void> {
    this.#running.delete(child);
    if (this.#unwanted.delete(child)) return;
    this.#print(`${program.name} exited unexpectedly with ${code}:\n${await logTail(program.log)}`);
  }

  /** Ends one program at once and waits for it. */
  async kill(child: Supervised): Promise<void> {
    if (!child.isRunning()) return;
    this.#unwanted.add(child);
    child.signal('KILL');
    await child.exited;
  }

  /** Takes the processor from all of them: a control plane at rest uses a twentieth of a core. */
  pause(): void {
    for (const child of this.#running) child.signal('STOP');
  }

  /** Lets all of them go on after `pause`. */
  resume(): void {
    for (const child of this.#running) child.signal('CONT');
  }

  /** All data are discarded anyway, so nothing is stopped gracefully. */
  async end(): Promise<void> {
    await Promise.all([...this.#running].map((child) => this.kill(child)));
  }
}
