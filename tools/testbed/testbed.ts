/**
 * A real control plane for tests: etcd, kube-apiserver and, on request, controllers, scheduler and
 * kwok, on free ports of the loopback address.
 *
 * Promises: it starts in seconds, reports its progress, logs all requests to the API server, and
 * every process that it starts ends with this one, also when this one is killed.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { realTime } from '../../src/effects/real-time.ts';
import { ApiServer } from './api-server.ts';
import { type AuditEntry, type AuditMark, auditMark, auditPolicy, readAudit } from './audit.ts';
import { type Binaries, binaries, TestbedUnavailable } from './binaries.ts';
import {
  apiServerProgram,
  controllersProgram,
  kubeconfigPath,
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
import { empty, type Origin, originOf } from './emptying.ts';
import { compactEtcd, startEtcd } from './etcd.ts';
import { type Print, printOnStderr } from './go-builds.ts';
import { installCrds } from './custom-resources.ts';
import { commandsOf, type Kubectl } from './kubectl.ts';
import { freePort } from './ports.ts';
import type { Supervised } from './processes.ts';
import { Programs } from './programs.ts';
import { asAdministrator, type AskApiServer } from './requests.ts';
import { type StageDelays, stagesFile } from './stages.ts';
import { eventually } from './waiting.ts';

/** What to start. Without anything it is etcd and the API server alone. */
export interface TestbedOptions extends Partial<StageDelays> {
  /** All of kube-controller-manager, or some of its controllers; pods need no account then. */
  readonly controllers?: boolean | readonly string[];
  /** How long a Node may be silent before it is `Unknown`, such as `50s`; `10m` without it. */
  readonly nodeGrace?: string;
  readonly scheduler?: boolean;
  /** Simulates the kubelets of all Nodes. */
  readonly kwok?: boolean;
  readonly print?: Print;
  /** Further flags of the API server, such as `--etcd-compaction-interval=2s`. */
  readonly apiServerFlags?: readonly string[];
}

/** A running test bed. */
export interface Testbed extends Kubectl {
  /** The path of a kubeconfig that may do everything. */
  readonly kubeconfig: string;
  readonly server: string;
  readonly auditLog: string;
  readonly directory: string;
  /** Applies the chart's CRDs and waits until their collections can be listed. */
  readonly installCrds: () => Promise<void>;
  readonly binaries: Binaries;
  /** The path of a user's kubeconfig; the audit log distinguishes users. */
  readonly kubeconfigFor: (user: TestbedUser) => string;
  /** Ends the API server at once, as a crash does. */
  readonly stopApiServer: () => Promise<void>;
  /** Starts it again on the same port and the same etcd, and waits until it is ready. */
  readonly startApiServer: () => Promise<void>;
  /** Whether it was started again: until it has read all rights, it refuses what they allow. */
  readonly isRestarted: () => boolean;
  /**
   * Compacts every older revision, so that earlier watches and pages get 410 Gone. The API server
   * is away for some seconds, because it also serves old revisions from its own cache.
   */
  readonly compactHistory: () => Promise<void>;
  /**
   * Installs the CRDs and declares what is there to belong to the bed, which can be renewed then.
   */
  readonly settle: () => Promise<void>;
  /**
   * Takes away everything that tests have made, and begins a new audit; kubelets take as long as
   * `delays` says from now on. Rejects when the bed cannot be as new.
   */
  readonly renew: (delays: Partial<StageDelays>) => Promise<void>;
  /** Its programs use no processor until `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Every answered request so far, except what the bed's own programs read. */
  readonly audit: () => Promise<readonly AuditEntry[]>;
  readonly stop: () => Promise<void>;
}

const OK = 200;
const QUICK: StageDelays = { nodeReadyMs: 0, podReadyMs: 0, podCompleteMs: 0, podDeleteMs: 1000 };

const newLayout = async (options: TestbedOptions): Promise<Layout> => {
  const directory = await newDirectory();
  const layout = layoutOf(directory, [await freePort(), await freePort(), await freePort()]);
  await mkdir(join(directory, 'kubeconfigs'));
  await writeFile(layout.auditPolicy, auditPolicy());
  await writeFile(layout.stages, stagesFile({ ...QUICK, ...options }));
  return layout;
};

const writeKubeconfigs = async (
  layout: Layout,
  authority: string,
  credentials: CredentialFiles,
): Promise<void> => {
  for (const user of [...testbedUsers, ...componentUsers]) {
    const text = kubeconfigText(
      { server: layout.server, authority },
      user,
      credentials.tokenOf(user),
    );
    await writeFile(kubeconfigPath(layout, user), text, { mode: 0o600 });
  }
};

const needed = (path: string | undefined, name: string): string => {
  if (path !== undefined) return path;
  throw new TestbedUnavailable(
    `KUBEBUILDER_ASSETS has no ${name} and there is no Go to build it: put it there or install Go`,
  );
};

const startKwok = ({ programs, layout, found }: Site): Supervised =>
  programs.start(
    kwokProgram(layout, needed(found.kwok, 'kwok'), kubeconfigPath(layout, 'kwok')),
  );

const startComponents = (
  { programs, layout, found, options }: Site,
  credentials: CredentialFiles,
): void => {
  const as = (user: ComponentUser): string => kubeconfigPath(layout, user);
  if (options.controllers) {
    const file = needed(found.kubeControllerManager, 'kube-controller-manager');
    const kubeconfig = as('system:kube-controller-manager');
    const { controllers, nodeGrace } = options;
    const only = controllers === true ? {} : { only: controllers };
    const grace = nodeGrace === undefined ? {} : { nodeGrace };
    programs.start(
      controllersProgram(layout, credentials, { file, kubeconfig, ...only, ...grace }),
    );
  }
  if (options.scheduler) {
    const file = needed(found.kubeScheduler, 'kube-scheduler');
    programs.start(schedulerProgram(layout, file, as('system:kube-scheduler')));
  }
};

const seconds = (sinceMs: number): string => ((realTime.monotonic() - sinceMs) / 1000).toFixed(1);

/** The state of one bed. */
interface Site {
  readonly layout: Layout;
  readonly found: Binaries;
  readonly programs: Programs;
  readonly options: TestbedOptions;
}

const administratorOf = (layout: Layout): AskApiServer =>
  asAdministrator(kubeconfigPath(layout, 'admin'));

/** No pod is admitted before a controller has made this one. */
const serviceAccount = async (ask: AskApiServer): Promise<void> => {
  const path = '/api/v1/namespaces/default/serviceaccounts/default';
  await eventually(async () => (await ask({ path })).status === OK, {
    what: 'the default service account',
  });
};

/** The parts of a running bed that are started again. */
interface Parts {
  readonly apiServer: ApiServer;
  readonly kwok: Supervised | undefined;
}

/** Starts everything in the order in which the parts need one another. */
const startAll = async (site: Site): Promise<Parts> => {
  const { layout, found, programs, options } = site;
  const credentials = await writeCredentials(layout.directory);
  const program = apiServerProgram(layout, credentials, {
    file: found.kubeApiserver,
    serviceAccounts: options.controllers === true,
    flags: options.apiServerFlags ?? [],
  });
  const apiServer = new ApiServer(programs, program, {
    layout,
    ask: administratorOf(layout),
  });
  await startEtcd(programs, layout, found);
  await apiServer.start();
  await writeKubeconfigs(layout, await apiServer.authority(), credentials);
  await apiServer.ready();
  startComponents(site, credentials);
  return { apiServer, kwok: options.kwok === true ? startKwok(site) : undefined };
};

/** Renews a bed: see `Testbed.renew`. */
const renewalOf = (site: Site, { apiServer, kwok }: Parts) => {
  const { layout, programs, options } = site;
  const hasControllers = options.controllers === true;
  const ask = administratorOf(layout);
  let origin: Origin | undefined;
  let kubelets = kwok;
  let delays = stagesFile({ ...QUICK, ...options });
  const setDelays = async (wanted: Partial<StageDelays>): Promise<void> => {
    const text = stagesFile({ ...QUICK, ...wanted });
    if (kubelets === undefined || text === delays) return;
    await programs.kill(kubelets);
    await writeFile(layout.stages, text);
    delays = text;
    kubelets = startKwok(site);
  };
  return {
    /** From now on, what is there belongs to the bed. */
    settle: async (): Promise<void> => {
      await installCrds(ask);
      origin = await originOf(layout);
    },
    renew: async (wanted: Partial<StageDelays>): Promise<AuditMark> => {
      if (origin === undefined) throw new Error('The bed belongs to one test alone');
      if (!apiServer.isRunning()) throw new Error('The API server is away');
      await empty(layout, origin, hasControllers);
      await setDelays(wanted);
      await rm(join(layout.directory, 'kubectl-cache'), { recursive: true, force: true });
      return await auditMark(layout.auditLog, realTime.now());
    },
  };
};

const testbedOf = (
  { layout, found, programs }: Site,
  { apiServer, renewal }: Parts & { readonly renewal: ReturnType<typeof renewalOf> },
  stop: () => Promise<void>,
): Testbed => {
  let auditedSince: AuditMark | undefined;
  let isRestarted = false;
  const startApiServer = async (): Promise<void> => {
    isRestarted = true;
    await apiServer.start();
    await apiServer.ready();
  };
  return {
    kubeconfig: kubeconfigPath(layout, 'admin'),
    server: layout.server,
    auditLog: layout.auditLog,
    directory: layout.directory,
    binaries: found,
    kubeconfigFor: (user) => kubeconfigPath(layout, user),
    ...commandsOf(layout, found.kubectl),
    installCrds: () => installCrds(administratorOf(layout)),
    stopApiServer: () => apiServer.stop(),
    startApiServer,
    isRestarted: () => isRestarted,
    compactHistory: async () => {
      await apiServer.stop();
      await compactEtcd(layout);
      await startApiServer();
    },
    settle: renewal.settle,
    renew: async (delays) => {
      auditedSince = await renewal.renew(delays);
      isRestarted = false;
    },
    pause: () => programs.pause(),
    resume: () => programs.resume(),
    audit: () => readAudit(layout.auditLog, auditedSince),
    stop,
  };
};

/** Starts a test bed. Rejects with `TestbedUnavailable` when the machine lacks what it needs. */
export const startTestbed = async (options: TestbedOptions = {}): Promise<Testbed> => {
  const print = options.print ?? printOnStderr;
  const found = await binaries(print);
  const startedMs = realTime.monotonic();
  const layout = await newLayout(options);
  const programs = new Programs(print);
  const stop = async (): Promise<void> => {
    await programs.end();
    await rm(layout.directory, { recursive: true, force: true });
  };
  try {
    print(`starting etcd and kube-apiserver on ${layout.server}, logs in ${layout.directory}`);
    const site = { layout, found, programs, options };
    const parts = await startAll(site);
    const bed = testbedOf(site, { ...parts, renewal: renewalOf(site, parts) }, stop);
    if (options.controllers === true) await serviceAccount(administratorOf(layout));
    print(`ready after ${seconds(startedMs)} s`);
    return bed;
  } catch (problem) {
    await stop();
    throw problem;
  }
};
