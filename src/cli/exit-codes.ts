/** What the exit code of this program says. */

/** Exit codes by what they mean. */
export const EXIT = {
  ok: 0,
  /** It was tried and failed. */
  failure: 1,
  /** The command line or the configuration cannot be used. */
  usage: 2,
  /** What was asked about is not there, or is not as asked. */
  notMet: 3,
  /** The cluster could not be reached. */
  unreachable: 4,
} as const;

/** One of them. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
