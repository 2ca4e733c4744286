/** `tidegate operator` as a process of one test: see `operator-child.ts`. */
import { operatorBy, type OperatorOptions, type OperatorProcess } from './operator-child.ts';
import { startTidegate } from './tidegate-process.ts';

export type { OperatorOptions, OperatorProcess } from './operator-child.ts';

/** Starts it. Must be called inside a test, with which it ends. */
export const startOperator = (options: OperatorOptions): Promise<OperatorProcess> =>
  operatorBy(startTidegate, options);
