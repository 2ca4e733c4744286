/**
 * Where requests and frames cross between the operator and the simulated cluster and fleet.
 *
 * Promises: a crossing that is not loaded by a recording is an error, so that a file that moved is
 * noticed.
 */
import type { SourceFunction } from './instrumented-source.ts';

/** The peer behind each file; '' for one that only forwards. */
export const CROSSINGS: Readonly<Record<string, string>> = {
  'test/simulation/api-line.ts': 'API server',
  'test/simulation/shard-line.ts': 'shard',
  'test/simulation/process-line.ts': '',
  'test/support/api/watch-channel.ts': '',
};

/** Whether functions of a file are crossings. */
export const isCrossing = (file: string | undefined): boolean =>
  file !== undefined && Object.hasOwn(CROSSINGS, file);

/** Throws unless every crossing has been loaded. */
export const assertCrossings = (functions: readonly SourceFunction[]): void => {
  const loaded = new Set(functions.map(({ file }) => file));
  const missing = Object.keys(CROSSINGS).filter((file) => !loaded.has(file));
  if (missing.length === 0) return;
  throw new Error(
    `Cannot trace ${
      missing.join(', ')
    }: not loaded; name the files in tools/architecture/crossings.ts`,
  );
};
