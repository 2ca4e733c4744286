/** The exit codes of this program. */

/** Exit codes by meaning. */
export const EXIT = {
  ok: 0,
  /** The operation failed. */
  failure: 1,
  /** The command line or the configuration is invalid. */
  usage: 2,
  /** The object does not exist, or is not in the requested state. */
  notMet: 3,
  /** The cluster could not be reached. */
  unreachable: 4,
  /** A preview predicts something that stands in the way. */
  blocked: 5,
} as const;

/** An exit code. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
