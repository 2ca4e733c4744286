/** `tidegate pods`: the operator with only the role pods, and a Lease of its own. */
import { podsOperatorSettings } from '../../effects/pod-settings.ts';
import type { ProcessEnvironment } from '../../effects/settings.ts';
import type { ExitCode } from '../exit-codes.ts';
import { runSettled, type StartOperator } from './operator.ts';
import type { GivenFlags } from '../program.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Runs the operator until it ends. */
export const runPods = async (
  flags: GivenFlags,
  processEnvironment: ProcessEnvironment,
  context: { readonly terminal: Terminal; readonly start: StartOperator },
): Promise<ExitCode> => await runSettled(podsOperatorSettings(flags, processEnvironment), context);
