/**
 * `tidegate operator`: from flags to a running operator, and from its ending to an exit code.
 *
 * Promises: settings and a kubeconfig that cannot be used end with 2; a stop that was asked for
 * ends with 0; everything else ends with 1 and one line that says why.
 */
import {
  type OperatorSettings,
  operatorSettings,
  type ProcessEnvironment,
} from '../effects/settings.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { isKubeconfigFailure, kubeconfigSentence } from './failures.ts';
import type { GivenFlags } from './program.ts';
import { endingSignal } from './signals.ts';
import type { Terminal } from './terminal.ts';

/** Why an operator is no longer running. */
export type OperatorEnding =
  | { readonly _tag: 'Stopped' }
  | { readonly _tag: 'Unfit'; readonly why: string };

/** An operator that runs. */
export interface RunningOperator {
  readonly stop: (reason: string) => Promise<void>;
  readonly done: Promise<OperatorEnding>;
}

/** What starts one. */
export type StartOperator = (settings: OperatorSettings) => Promise<RunningOperator>;

const untilItEnds = async <Settings>(
  settings: Settings,
  start: (settings: Settings) => Promise<RunningOperator>,
): Promise<OperatorEnding> => {
  const signal = endingSignal();
  const operator = await start(settings);
  const stopped = signal.then((name) => operator.stop(name));
  // A stop that fails ends the command; a stop that succeeds ends it through `done`.
  return await Promise.race([operator.done, stopped.then(() => operator.done)]);
};

/** Runs a role with a cluster until it ends, and says what its ending means. */
export const runUntilItEnds = async <
  Settings extends { readonly kubeconfig: string | undefined },
>(
  settings: Settings,
  { terminal, start }: {
    readonly terminal: Terminal;
    readonly start: (settings: Settings) => Promise<RunningOperator>;
  },
): Promise<ExitCode> => {
  try {
    const ending = await untilItEnds(settings, start);
    if (ending._tag === 'Stopped') return EXIT.ok;
    terminal.report(ending.why);
    return EXIT.failure;
  } catch (failure) {
    if (!isKubeconfigFailure(failure)) throw failure;
    terminal.report(kubeconfigSentence(settings.kubeconfig, failure));
    return EXIT.usage;
  }
};

/** Runs the operator until it ends. */
export const runOperator = async (
  flags: GivenFlags,
  processEnvironment: ProcessEnvironment,
  { terminal, start }: { readonly terminal: Terminal; readonly start: StartOperator },
): Promise<ExitCode> => {
  const settled = operatorSettings(flags, processEnvironment);
  if (settled._tag === 'SettingsProblem') {
    terminal.report(settled.message);
    return EXIT.usage;
  }
  return await runUntilItEnds(settled.settings, { terminal, start });
};
