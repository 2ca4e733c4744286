/** kubectl commands that tests run on a test bed. */
import { join } from 'node:path';
import { type CommandResult, runCommand } from './commands.ts';
import { kubeconfigPath, type Layout } from './control-plane.ts';

/** The part of a test bed that kubectl does. */
export interface Kubectl {
  readonly kubectl: (...args: readonly string[]) => Promise<CommandResult>;
  /** Applies manifests server-side; rejects with kubectl's error. */
  readonly apply: (manifests: string) => Promise<void>;
}

/** kubectl on one bed, as its administrator. */
export const commandsOf = (layout: Layout, program: string): Kubectl => {
  const always = [
    `--kubeconfig=${kubeconfigPath(layout, 'admin')}`,
    `--cache-dir=${join(layout.directory, 'kubectl-cache')}`,
  ];
  const run = async (args: readonly string[], input?: string): Promise<CommandResult> =>
    await runCommand(program, [...always, ...args], input === undefined ? {} : { input });
  const must = async (args: readonly string[], input?: string): Promise<void> => {
    const { code, stderr } = await run(args, input);
    if (code !== 0) throw new Error(`Cannot ${args.slice(0, 2).join(' ')}: ${stderr.trim()}`);
  };
  const applyFlags = ['--server-side', '--force-conflicts', '--field-manager=testbed'];
  const apply = (manifests: string): Promise<void> =>
    must(['apply', ...applyFlags, '-f', '-'], manifests);
  return { kubectl: (...args: readonly string[]) => run(args), apply };
};
