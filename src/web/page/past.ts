/** The present and the moment that the page shows instead of it. */
import { signal } from '@preact/signals';
import type { PastMoment } from '../history-feed.ts';

/** The process's own clock, so that ages are right on any machine. */
export const liveNowMs = signal(0);
/** The page as it was; undefined while it is live. */
export const past = signal<PastMoment | undefined>(undefined);
