/**
 * A real control plane for tests: etcd, kube-apiserver and, when asked for, controllers, scheduler
 * and kwok, on free ports of the loopback address.
 *
 * Promises: it starts in seconds, says what it does, logs what was asked of the API server, and
 * every process that it starts ends with this one, also when this one is killed.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { realTime } from '../../src/effects/real-time.ts';
import { ApiServer } from './api-server.ts';
import { type AuditEntry, auditPolicy, readAudit } from './audit.ts';
import { type Binaries, binaries, TestbedUnavailable } from './binaries.ts';
import { type CommandResult, runCommand } from './commands.ts';
import {
  apiServerProgram,
  controllersProgram,
  etcdProgram,
  kwokProgram,
  type Layout,
  layoutOf,
  schedulerProgram,
} from './control-plane.ts';
import {
  type ComponentUser,
  componentUsers,
  type CredentialFiles,
  kubeconfigText,
  type TestbedUser,
  testbedUsers,
  writeCredentials,
} from './credentials.ts';
import { newDirectory } from './directories.ts';
import { type Say, sayOnStderr } from './go-builds.ts';
import { freePort } from './ports.ts';
import { Programs } from './programs.ts';
import { type StageDelays, stagesFile } from './stages.ts';
import { eventually } from './waiting.ts';

/** What to start. Without anything it is etcd and the API server alone. */
export interface TestbedOptions extends Partial<StageDelays> {
  readonly controllers?: boolean;
  readonly scheduler?: boolean;
  /** Plays the kubelets of all Nodes. */
  readonly kwok?: boolean;
  readonly say?: Say;
  /** Further flags of the API server, such as `--etcd-compaction-interval=2s`. */
  readonly apiServerFlags?: readonly string[];
}

/** A running test bed. */
export interface Testbed {
  /** The path of a kubeconfig that may do everything. */
  readonly kubeconfig: string;
  readonly server: string;
  readonly auditLog: string;
  readonly directory: string;
  readonly binaries: Binaries;
  /** The path of a user's kubeconfig, so that the audit log tells users apart. */
  readonly kubeconfigFor: (user: TestbedUser) => string;
  readonly kubectl: (...args: readonly string[]) => Promise<CommandResult>;
  /** Applies manifests on the server's side; rejects with what kubectl said. */
  readonly apply: (manifests: string) => Promise<void>;
  /** Applies the chart's CRDs and waits until they are served. */
  readonly installCrds: () => Promise<void>;
  /** Ends the API server at once, as a crash does. */
  readonly stopApiServer: () => Promise<void>;
  /** Starts it again on the same port and the same etcd, and waits until it is ready. */
  readonly startApiServer: () => Promise<void>;
  /** Every answered request so far, except what the bed's own programs read. */
  readonly audit: () => Promise<readonly AuditEntry[]>;
  readonly stop: () => Promise<void>;
}

const QUICK: StageDelays = { nodeReadyMs: 0, podReadyMs: 0, podCompleteMs: 0, podDeleteMs: 1000 };
const crdFolder = fileURLToPath(new URL('../../charts/tidegate/files/crds', import.meta.url));

const newLayout = async (options: TestbedOptions): Promise<Layout> => {
  const directory = await newDirectory();
  const layout = layoutOf(directory, [await freePort(), await freePort(), await freePort()]);
  await mkdir(join(directory, 'kubeconfigs'));
  await writeFile(layout.auditPolicy, auditPolicy());
  await writeFile(layout.stages, stagesFile({ ...QUICK, ...options }));
  return layout;
};

const kubeconfigPath = (layout: Layout, user: string): string =>
  join(layout.directory, 'kubeconfigs', `${user.replaceAll(':', '-')}.json`);

const writeKubeconfigs = async (
  layout: Layout,
  authority: string,
  credentials: CredentialFiles,
): Promise<void> => {
  for (const user of [...testbedUsers, ...componentUsers]) {
    const text = kubeconfigText(layout.server, authority, user, credentials.tokenOf(user));
    await writeFile(kubeconfigPath(layout, user), text, { mode: 0o600 });
  }
};

const needed = (path: string | undefined, name: string): string => {
  if (path !== undefined) return path;
  throw new TestbedUnavailable(
    `KUBEBUILDER_ASSETS has no ${name} and there is no Go to build it: put it there or install Go`,
  );
};

const startComponents = (
  programs: Programs,
  layout: Layout,
  credentials: CredentialFiles,
  found: Binaries,
  options: TestbedOptions,
): void => {
  const as = (user: ComponentUser): string => kubeconfigPath(layout, user);
  if (options.controllers) {
    const file = needed(found.kubeControllerManager, 'kube-controller-manager');
    const kubeconfig = as('system:kube-controller-manager');
    programs.start(controllersProgram(layout, file, credentials, kubeconfig));
  }
  if (options.scheduler) {
    const file = needed(found.kubeScheduler, 'kube-scheduler');
    programs.start(schedulerProgram(layout, file, as('system:kube-scheduler')));
  }
  if (options.kwok) {
    programs.start(kwokProgram(layout, needed(found.kwok, 'kwok'), as('kwok')));
  }
};

const crdManifests = async (): Promise<string> => {
  const names = (await readdir(crdFolder)).filter((name) => name.endsWith('.yaml')).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(crdFolder, name), 'utf8')));
  if (texts.length === 0) throw new Error(`Cannot install CRDs: none in ${crdFolder}`);
  return texts.join('\n---\n');
};

/** What kubectl is asked to do on this bed. */
const commandsOf = (layout: Layout, found: Binaries) => {
  const always = [
    `--kubeconfig=${kubeconfigPath(layout, 'admin')}`,
    `--cache-dir=${join(layout.directory, 'kubectl-cache')}`,
  ];
  const run = async (args: readonly string[], input?: string): Promise<CommandResult> =>
    await runCommand(found.kubectl, [...always, ...args], input === undefined ? {} : { input });
  const must = async (args: readonly string[], input?: string): Promise<void> => {
    const { code, stderr } = await run(args, input);
    if (code !== 0) throw new Error(`Cannot ${args.slice(0, 2).join(' ')}: ${stderr.trim()}`);
  };
  const applyFlags = ['--server-side', '--force-conflicts', '--field-manager=testbed'];
  const apply = (manifests: string): Promise<void> =>
    must(['apply', ...applyFlags, '-f', '-'], manifests);
  return {
    kubectl: (...args: readonly string[]) => run(args),
    apply,
    installCrds: async (): Promise<void> => {
      const manifests = await crdManifests();
      await apply(manifests);
      await must(['wait', '--for=condition=Established', '--timeout=60s', '-f', '-'], manifests);
    },
  };
};

/** No pod is admitted before a controller has made this one. */
const serviceAccount = async (kubectl: Testbed['kubectl']): Promise<void> => {
  await eventually(async () => (await kubectl('get', 'serviceaccount', 'default')).code === 0, {
    what: 'the default service account',
  });
};

const seconds = (sinceMs: number): string => ((realTime.monotonic() - sinceMs) / 1000).toFixed(1);

/** Starts a test bed. Rejects with `TestbedUnavailable` when the machine lacks what it needs. */
export const startTestbed = async (options: TestbedOptions = {}): Promise<Testbed> => {
  const say = options.say ?? sayOnStderr;
  const found = await binaries(say);
  const startedMs = realTime.monotonic();
  const layout = await newLayout(options);
  const programs = new Programs(say);
  const stop = async (): Promise<void> => {
    await programs.end();
    await rm(layout.directory, { recursive: true, force: true });
  };
  try {
    const credentials = await writeCredentials(layout.directory);
    const program = apiServerProgram(layout, found, credentials, {
      serviceAccounts: options.controllers ?? false,
      flags: options.apiServerFlags ?? [],
    });
    const apiServer = new ApiServer(programs, program, layout);
    const kubeconfig = kubeconfigPath(layout, 'admin');
    say(`starting etcd and kube-apiserver on ${layout.server}, logs in ${layout.directory}`);
    programs.start(etcdProgram(layout, found));
    await apiServer.start();
    await writeKubeconfigs(layout, await apiServer.authority(), credentials);
    await apiServer.ready(found.kubectl, kubeconfig);
    startComponents(programs, layout, credentials, found, options);
    const commands = commandsOf(layout, found);
    if (options.controllers) await serviceAccount(commands.kubectl);
    say(`ready after ${seconds(startedMs)} s`);
    return {
      kubeconfig,
      server: layout.server,
      auditLog: layout.auditLog,
      directory: layout.directory,
      binaries: found,
      kubeconfigFor: (user) => kubeconfigPath(layout, user),
      ...commands,
      stopApiServer: () => apiServer.stop(),
      startApiServer: async () => {
        await apiServer.start();
        await apiServer.ready(found.kubectl, kubeconfig);
      },
      audit: () => readAudit(layout.auditLog),
      stop,
    };
  } catch (problem) {
    await stop();
    throw problem;
  }
};
