/** The words for time: a moment passes, old revisions are forgotten. */
import { ALL_SERVED } from './definitions.ts';
import { all, type Step } from './steps.ts';

/**
 * Every revision before now is gone: lists, pages and watches from there have expired. A cluster
 * that starts anew to forget has come back when custom resources are served, too.
 */
export const forget: Step = all((run) => run.cluster.compactHistory(), ...ALL_SERVED);

/** A moment passes, in which nothing is to happen. */
export const moment: Step = (run) => run.cluster.moment();
