/** A process that ends by an unhandled error: `timer` or `promise`, its one argument. */
import process from 'node:process';
import { makeLogs } from '../../../src/observability/logs.ts';
import { exitOnUnhandledErrors } from '../../../src/cli/unhandled-errors.ts';

const STANDARD_OUTPUT = 1;
const HANGS_AFTER_MS = 5000;
const EXIT_WHEN_NOTHING_ENDS_IT = 7;

exitOnUnhandledErrors(
  makeLogs({
    level: 'info',
    time: { now: () => 0 },
    target: STANDARD_OUTPUT,
    base: { cluster: 'c1' },
  }),
);
setTimeout(() => process.exit(EXIT_WHEN_NOTHING_ENDS_IT), HANGS_AFTER_MS);
if (process.argv[2] === 'timer') {
  setTimeout(() => {
    throw new Error('planted');
  }, 1);
} else {
  void Promise.reject(new Error('planted'));
}
