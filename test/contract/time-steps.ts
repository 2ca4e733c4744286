/** The words for time: a moment passes, old revisions are forgotten. */
import type { Step } from './steps.ts';

/** Every revision before now is gone: lists, pages and watches from there have expired. */
export const forget: Step = (run) => run.cluster.forgetRevisions();

/** A moment passes, in which nothing is to happen. */
export const moment: Step = (run) => run.cluster.moment();
