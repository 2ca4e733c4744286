/** Names and numbers as the page prints them. */
import { type Reason, type ReasonName, REASONS } from '../../api/reasons.ts';
import { WHO } from '../../domain/reason.ts';
import type { BoardVerdict } from '../../view/board/board-verdict.ts';

const isReason = (text: string): text is ReasonName => Object.hasOwn(REASONS, text);

/** Why an actor waits, and who can act. */
export interface Why {
  readonly reason: string;
  readonly sentence: string;
  readonly who: string;
  readonly action: string;
  /** Why it will not end well; empty while that is not certain. */
  readonly forecast: string;
}

/** The explanation of a verdict, or of a reason; undefined for none. */
export const whyOf = (reason: string, verdict: BoardVerdict | null = null): Why | undefined => {
  if (verdict !== null) {
    const { sentence, canAct, change: action, forecast } = verdict;
    return { reason: verdict.reason, sentence, who: WHO[canAct], action, forecast };
  }
  if (!isReason(reason)) return undefined;
  const { sentence, canAct, change }: Reason = REASONS[reason];
  const action = canAct === 'nobody' ? '' : change ?? '';
  return { reason, sentence, who: WHO[canAct], action, forecast: '' };
};

const WORD_STARTS = /(?<=[a-z0-9])(?=[A-Z])/g;

/** `nodeDrain` → `node drain`. */
export const spoken = (name: string): string => name.replaceAll(WORD_STARTS, ' ').toLowerCase();

/** The last segment of a path, the state's own name: `work.drained` → `drained`. */
export const shortState = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

/** States as one text: `ample · draining open`. */
export const statesText = (states: readonly string[]): string =>
  states.map((path) => spoken(shortState(path))).join(' · ');

const SECOND_MS = 1000;

/** A time of day by the process's clock, to the millisecond. */
export const timeOfDay = (atMs: number): string => new Date(atMs).toISOString().slice(11, 23);

/** How long: `340 ms`, `12s`, `3m5s`. */
export const span = (ms: number, duration: (ms: number) => string): string =>
  ms < SECOND_MS ? `${Math.max(0, Math.round(ms))} ms` : duration(ms);

/** A state and its ancestors: `a.b.c` → `a`, `a.b`, `a.b.c`. */
export const withOuter = (path: string): readonly string[] => {
  const names = path.split('.');
  return names.map((_, at) => names.slice(0, at + 1).join('.'));
};

/** The paths without the ancestors of others. */
export const innermost = (paths: readonly string[]): readonly string[] =>
  paths.filter((path) => !paths.some((other) => other.startsWith(`${path}.`)));
