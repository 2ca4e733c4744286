/** Steps about time: waiting, and compaction. */
import { ALL_SERVED } from './definitions.ts';
import { all, type Step } from './steps.ts';

/**
 * Compacts every revision before now: lists, pages and watches from there have expired. A cluster
 * that restarts for this is back when it serves custom resources again.
 */
export const forget: Step = all((run) => run.cluster.compactHistory(), ...ALL_SERVED);

/** A short wait in which nothing may happen. */
export const moment: Step = (run) => run.cluster.moment();
