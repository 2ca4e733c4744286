/**
 * Health checks and their answers.
 *
 * Promises: live means that the event loop responds, timers, streams and effects make progress, no
 * root actor has crashed, no stream had a defect, and a leader renews its lease; ready means that
 * this process can do its work as leader or standby; a failure names the check and the cause; a
 * notice is shown and fails nothing.
 */

/** One condition. */
export interface Check {
  readonly name: string;
  /** Undefined when it holds, else the cause. */
  readonly failing: () => string | undefined;
  /** Shown when it fails, and no failure of the probe. */
  readonly isNotice?: true;
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

interface Result {
  readonly name: string;
  readonly why: string | undefined;
  readonly isNotice: boolean;
}

const resultLine = ({ name, why, isNotice }: Result): string => {
  if (why === undefined) return `[+] ${name}`;
  return `[${isNotice ? '!' : '-'}] ${name}: ${why}`;
};

/**
 * Runs the checks; with `verbose`, lists passed ones as well, one line per check: `[+]` holds,
 * `[-]` fails, `[!]` is a notice.
 */
export const runChecks = (name: string, checks: readonly Check[], verbose: boolean): Verdict => {
  const results = checks.map((check): Result => ({
    name: check.name,
    why: whyNot(check),
    isNotice: check.isNotice === true,
  }));
  const holds = results.every(({ why, isNotice }) => why === undefined || isNotice);
  if (holds && !verbose) return { holds, text: 'ok\n' };
  const lines = [...results.map(resultLine), `${name} ${holds ? 'passed' : 'failed'}`];
  return { holds, text: `${lines.join('\n')}\n` };
};
