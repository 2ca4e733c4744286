/**
 * `tidegate operator`: from flags to a running operator, and from its ending to an exit code.
 *
 * Promises: settings that cannot be used end with 2 before anything is started; a stop that was
 * asked for ends with 0; everything else ends with 1 and one line that says why.
 */
import { type OperatorSettings, operatorSettings, type Surroundings } from '../effects/settings.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
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

/** Runs the operator until it ends. */
export const runOperator = async (
  flags: GivenFlags,
  surroundings: Surroundings,
  { terminal, start }: { readonly terminal: Terminal; readonly start: StartOperator },
): Promise<ExitCode> => {
  const settled = operatorSettings(flags, surroundings);
  if (settled._tag === 'SettingsProblem') {
    terminal.say(settled.message);
    return EXIT.usage;
  }
  const signal = endingSignal();
  const operator = await start(settled.settings);
  const stopped = signal.then((name) => operator.stop(name));
  // A stop that fails ends the command; a stop that succeeds ends it through `done`.
  const ending = await Promise.race([operator.done, stopped.then(() => operator.done)]);
  if (ending._tag === 'Stopped') return EXIT.ok;
  terminal.say(ending.why);
  return EXIT.failure;
};
