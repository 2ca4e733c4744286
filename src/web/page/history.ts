/**
 * The page in the past: the moment that is wanted, and the way back to the present.
 *
 * Promises: the process keeps the history, and the page only the moment that it shows.
 */
import { batch, effect, signal } from '@preact/signals';
import type { DrainMilestone } from '../../view/board/drain-milestones.ts';
import type { SentHistory } from '../history-feed.ts';
import { MomentRequests } from './moment-requests.ts';
import { liveNowMs, past } from './past.ts';
import { route } from './route.ts';
import { momentIn, nextMilestone, type Span } from './scrub.ts';

/** How far the history reaches; undefined for a process without one. */
export const fromMs = signal<number | undefined>(undefined);
/** When drains began, were blocked, and ended. */
export const milestones = signal<readonly DrainMilestone[]>([]);
/** The wanted moment; undefined while the page is live. */
export const cursor = signal<number | undefined>(undefined);
/** True while the past goes on by itself. */
export const isPlaying = signal(false);
/** The speed of playing. */
export const speed = signal(1);

/** The whole slider. */
export const span = (): Span => ({
  fromMs: fromMs.value ?? liveNowMs.value,
  nowMs: liveNowMs.value,
});

/** Takes over what the process tells about its history. */
export const onHistory = (message: SentHistory): void => {
  batch(() => {
    fromMs.value = message.fromMs;
    if (message.milestones !== null) milestones.value = message.milestones;
  });
};

const requests = new MomentRequests({
  cursorMs: () => cursor.value,
  actorId: () => route.value.actor,
  show: (moment, isLastStep) =>
    batch(() => {
      past.value = moment;
      if (isLastStep) cursor.value = moment.atMs;
    }),
});

/** Returns to the present. */
export const goLive = (): void => {
  requests.clear();
  batch(() => {
    isPlaying.value = false;
    cursor.value = undefined;
    past.value = undefined;
  });
};

/** Shows a moment; the present and later is live. */
export const goTo = (atMs: number): void => {
  const moment = momentIn(span(), atMs);
  if (moment === undefined) return goLive();
  cursor.value = moment;
  requests.goTo(moment);
};

/** Shows the next or the last change: of the selected actor, else of any. */
export const step = (direction: 1 | -1): void => {
  if (fromMs.value === undefined || (cursor.value === undefined && direction > 0)) return;
  isPlaying.value = false;
  cursor.value ??= liveNowMs.value;
  requests.step(direction);
};

/** Shows the next milestone in a direction; after the last one the page is live. */
export const goToMilestone = (direction: 1 | -1): void => {
  const milestone = nextMilestone(milestones.value, cursor.value ?? liveNowMs.value, direction);
  if (milestone !== undefined) goTo(milestone.atMs);
  else if (direction > 0) goLive();
};

/** Plays on from the moment of the last frame. */
const playOn = (lastMs: number): void => {
  requestAnimationFrame((frameMs) => {
    if (!isPlaying.value || cursor.value === undefined) return;
    goTo(cursor.value + (frameMs - lastMs) * speed.value);
    playOn(frameMs);
  });
};

/** Stops the time that is shown, or lets it go on. */
export const togglePlaying = (): void => {
  if (cursor.value === undefined) return goTo(liveNowMs.value - 1);
  isPlaying.value = !isPlaying.value;
  if (isPlaying.value) requestAnimationFrame(playOn);
};

/** Keys of the page. */
export const HISTORY_KEYS: Readonly<Record<string, () => void>> = {
  '.': () => step(1),
  ',': () => step(-1),
  'l': goLive,
  'L': goLive,
};

/** Keeps the selected actor of the past current. */
export const followPast = (): void => {
  effect(() => {
    const { actor } = route.value;
    const atMs = cursor.peek();
    if (atMs !== undefined && past.peek()?.actorId !== actor) requests.goTo(atMs);
  });
};
