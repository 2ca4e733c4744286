/** The arithmetic of the time scrubber: moments, keys, milestones and their texts. */
import type { DrainMilestone, MilestoneKind } from '../../view/board/drain-milestones.ts';
import { duration } from '../../view/duration.ts';
import { counted } from './names.ts';
import { timeOfDay } from './words.ts';

/** How far back the page can go; the end is the present. */
export interface Span {
  readonly fromMs: number;
  readonly nowMs: number;
}

/** The speeds of playing, in multiples of real time. */
export const SPEEDS = [0.25, 1, 5, 20, 100] as const;

const SECOND_MS = 1000;
const LARGE_STEP_MS = 10_000;
const HUNDRED = 100;

/** A moment inside the span; undefined for the present and later, which is live. */
export const momentIn = ({ fromMs, nowMs }: Span, atMs: number): number | undefined =>
  atMs >= nowMs ? undefined : Math.max(fromMs, Math.round(atMs));

/** The place of a moment on the slider, in percent. */
export const placeOf = ({ fromMs, nowMs }: Span, atMs: number): number =>
  nowMs <= fromMs
    ? HUNDRED
    : Math.min(HUNDRED, Math.max(0, (atMs - fromMs) / (nowMs - fromMs) * HUNDRED));

/** How far a key moves the slider; undefined for other keys. */
export const keyMove = (key: string, { fromMs, nowMs }: Span): number | undefined => {
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return -SECOND_MS;
    case 'ArrowRight':
    case 'ArrowUp':
      return SECOND_MS;
    case 'PageDown':
      return -LARGE_STEP_MS;
    case 'PageUp':
      return LARGE_STEP_MS;
    case 'Home':
      return fromMs - nowMs;
    case 'End':
      return nowMs - fromMs;
    default:
      return undefined;
  }
};

/** The next milestone in a direction; undefined when there is none. */
export const nextMilestone = (
  milestones: readonly DrainMilestone[],
  atMs: number,
  direction: 1 | -1,
): DrainMilestone | undefined =>
  direction > 0
    ? milestones.find((milestone) => milestone.atMs > atMs)
    : milestones.findLast((milestone) => milestone.atMs < atMs);

/** A milestone in words: `node-1 blocked at 12:03:04`. */
export const milestoneText = ({ atMs, kind, node }: DrainMilestone): string => {
  const happened = kind === 'blocked' ? 'was blocked' : kind;
  return `the drain of ${node} ${happened} at ${timeOfDay(atMs).slice(0, 8)}`;
};

const KINDS: readonly MilestoneKind[] = ['began', 'blocked', 'ended'];

/** All milestones in words: `2 drains began, 1 blocked`. */
export const milestonesText = (milestones: readonly DrainMilestone[]): string => {
  const parts = KINDS.flatMap((kind) => {
    const count = milestones.filter((milestone) => milestone.kind === kind).length;
    return count === 0 ? [] : [`${counted(count, 'drain')} ${kind}`];
  });
  return parts.join(', ') || 'no drain began, was blocked or ended';
};

/** Where the slider is, in words: `12:03:04.000, 2m3s ago`. */
export const momentText = ({ nowMs }: Span, atMs: number | undefined): string =>
  atMs === undefined ? 'live' : `${timeOfDay(atMs)}, ${duration(nowMs - atMs)} ago`;
