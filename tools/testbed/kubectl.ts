/** kubectl commands that tests run on a test bed. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CommandResult, runCommand } from './commands.ts';
import { kubeconfigPath, type Layout } from './control-plane.ts';
import { eventually } from './waiting.ts';

/** The part of a test bed that kubectl does. */
export interface Kubectl {
  readonly kubectl: (...args: readonly string[]) => Promise<CommandResult>;
  /** Applies manifests server-side; rejects with kubectl's error. */
  readonly apply: (manifests: string) => Promise<void>;
  /** Applies the chart's CRDs and waits until their collections can be listed. */
  readonly installCrds: () => Promise<void>;
}

const crdFolder = fileURLToPath(new URL('../../charts/tidegate/files/crds', import.meta.url));

const crdManifests = async (): Promise<string> => {
  const names = (await readdir(crdFolder)).filter((name) => name.endsWith('.yaml')).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(crdFolder, name), 'utf8')));
  if (texts.length === 0) throw new Error(`Cannot install CRDs: none in ${crdFolder}`);
  return texts.join('\n---\n');
};

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
  /** A collection that is served answers 429 until its storage is ready. */
  const areListed = async (manifests: string): Promise<boolean> => {
    const { stdout } = await run(['get', '-f', '-', '-o', 'name'], manifests);
    const collections = stdout.trim().split('\n').map((name) => name.replace(/^.*\//, ''));
    return (await run(['get', collections.join(','), '--all-namespaces'])).code === 0;
  };
  return {
    kubectl: (...args: readonly string[]) => run(args),
    apply,
    installCrds: async (): Promise<void> => {
      const manifests = await crdManifests();
      await apply(manifests);
      await must(['wait', '--for=condition=Established', '--timeout=60s', '-f', '-'], manifests);
      await eventually(() => areListed(manifests), { what: 'the collections of the CRDs' });
    },
  };
};

/** No pod is admitted before a controller has made this one. */
export const serviceAccount = async (kubectl: Kubectl['kubectl']): Promise<void> => {
  await eventually(async () => (await kubectl('get', 'serviceaccount', 'default')).code === 0, {
    what: 'the default service account',
  });
};
