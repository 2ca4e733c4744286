/**
 * `tidegate operator`: runs an operator and maps its end to an exit code.
 *
 * Promises: invalid settings and an invalid kubeconfig exit with 2; a requested stop exits with 0;
 * everything else exits with 1 and one line with the cause.
 */
import {
  type OperatorSettings,
  operatorSettings,
  type ProcessEnvironment,
} from '../../effects/settings.ts';
import type { Settled } from '../../effects/options.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { isKubeconfigFailure, kubeconfigSentence } from '../failures.ts';
import type { GivenFlags } from '../program.ts';
import { endingSignal } from '../signals.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Why an operator is no longer running. */
export type OperatorEnding =
  | { readonly _tag: 'Stopped' }
  | { readonly _tag: 'Unsupported'; readonly why: string };

/** A running operator. */
export interface RunningOperator {
  readonly stop: (reason: string) => Promise<void>;
  readonly done: Promise<OperatorEnding>;
}

/** Starts an operator. */
export type StartOperator = (settings: OperatorSettings) => Promise<RunningOperator>;

/** How to start an operator, and where to report its end. */
export interface OperatorContext {
  readonly terminal: Terminal;
  readonly start: StartOperator;
}

const untilItEnds = async (
  settings: OperatorSettings,
  start: StartOperator,
): Promise<OperatorEnding> => {
  const signal = endingSignal();
  const operator = await start(settings);
  const stopped = signal.then((name) => operator.stop(name));
  // A failed stop ends the command; a successful stop ends it through `done`.
  return await Promise.race([operator.done, stopped.then(() => operator.done)]);
};

/** Runs an operator with its settings until it ends; returns the exit code. */
export const runSettled = async (
  settled: Settled<OperatorSettings>,
  { terminal, start }: OperatorContext,
): Promise<ExitCode> => {
  if (settled._tag === 'SettingsProblem') {
    terminal.report(settled.message);
    return EXIT.usage;
  }
  const { settings } = settled;
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
  context: OperatorContext,
): Promise<ExitCode> => await runSettled(operatorSettings(flags, processEnvironment), context);
