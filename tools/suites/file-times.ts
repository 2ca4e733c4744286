/** Which files of a run took longest, as vitest reports it. */
import { listOrEmptyAt, numberAt, textAt } from '../../src/domain/json.ts';

/** One file of one run. */
export interface FileTime {
  readonly file: string;
  readonly ms: number;
}

/** The files in a report of vitest's JSON reporter; `root` is left out of their names. */
export const fileTimes = (report: unknown, root: string): readonly FileTime[] =>
  listOrEmptyAt(report, 'testResults').map((result) => ({
    file: (textAt(result, 'name') ?? '').replace(root, ''),
    ms: (numberAt(result, 'endTime') ?? 0) - (numberAt(result, 'startTime') ?? 0),
  }));

/** The `count` slowest, slowest first. */
export const slowest = (times: readonly FileTime[], count: number): readonly FileTime[] =>
  times.toSorted((one, other) => other.ms - one.ms).slice(0, count);
