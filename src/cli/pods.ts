/** `tidegate pods`: from flags to the running role, and from its ending to an exit code. */
import { type PodRoleSettings, podRoleSettings } from '../effects/pod-settings.ts';
import type { ProcessEnvironment } from '../effects/settings.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type RunningOperator, runUntilItEnds } from './operator.ts';
import type { GivenFlags } from './program.ts';
import type { Terminal } from './terminal.ts';

/** What starts the role. */
export type StartPods = (settings: PodRoleSettings) => Promise<RunningOperator>;

/** Runs the role until it ends. */
export const runPods = async (
  flags: GivenFlags,
  processEnvironment: ProcessEnvironment,
  { terminal, start }: { readonly terminal: Terminal; readonly start: StartPods },
): Promise<ExitCode> => {
  const settled = podRoleSettings(flags, processEnvironment);
  if (settled._tag === 'SettingsProblem') {
    terminal.report(settled.message);
    return EXIT.usage;
  }
  return await runUntilItEnds(settled.settings, { terminal, start });
};
