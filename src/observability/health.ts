/**
 * Health checks and their answers.
 *
 * Promises: live means that the event loop responds, timers, streams and effects make progress, no
 * root actor has crashed, no stream had a defect, and a leader renews its lease; ready means that
 * this process can do its work as leader or standby; a failure names the check and the cause.
 */

/** One condition. */
export interface Check {
  readonly name: string;
  /** Undefined when it holds, else the cause. */
  readonly failing: () => string | undefined;
}

/** The checks of `/healthz` and `/readyz`. */
export interface HealthChecks {
  readonly live: readonly Check[];
  readonly ready: readonly Check[];
}

/** An answer in plain text. */
export interface Verdict {
  readonly holds: boolean;
  readonly text: string;
}

const whyNot = (check: Check): string | undefined => {
  try {
    return check.failing();
  } catch (error) {
    return `Check failed: ${error instanceof Error ? error.message : String(error)}`;
  }
};

/** Runs the checks; with `verbose`, lists passed ones as well, one line per check. */
export const runChecks = (name: string, checks: readonly Check[], verbose: boolean): Verdict => {
  const results = checks.map((check) => ({ name: check.name, why: whyNot(check) }));
  const holds = results.every((check) => check.why === undefined);
  if (holds && !verbose) return { holds, text: 'ok\n' };
  const lines = results.map((check) =>
    check.why === undefined ? `[+] ${check.name}` : `[-] ${check.name}: ${check.why}`
  );
  return { holds, text: `${[...lines, `${name} ${holds ? 'passed' : 'failed'}`].join('\n')}\n` };
};
