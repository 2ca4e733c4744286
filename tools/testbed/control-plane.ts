/** The command lines of the test bed's programs. */
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import type { CredentialFiles } from './credentials.ts';
import type { Program } from './processes.ts';

/** Where everything of one test bed is. */
export interface Layout {
  readonly directory: string;
  readonly etcdPort: number;
  readonly etcdPeerPort: number;
  readonly serverPort: number;
  readonly server: string;
  readonly auditPolicy: string;
  readonly auditLog: string;
  readonly certificates: string;
  readonly stages: string;
}

/** Names the files and addresses of a test bed in `directory`. */
export const layoutOf = (
  directory: string,
  ports: readonly [etcd: number, etcdPeer: number, server: number],
): Layout => ({
  directory,
  etcdPort: ports[0],
  etcdPeerPort: ports[1],
  serverPort: ports[2],
  server: `https://127.0.0.1:${ports[2]}`,
  auditPolicy: join(directory, 'audit-policy.yaml'),
  auditLog: join(directory, 'audit.log'),
  certificates: join(directory, 'certificates'),
  stages: join(directory, 'stages.yaml'),
});

/** The kubeconfig of one user. */
export const kubeconfigPath = (layout: Layout, user: string): string =>
  join(layout.directory, 'kubeconfigs', `${user.replaceAll(':', '-')}.json`);

const flagsOf = (flags: Readonly<Record<string, string | number | boolean>>): readonly string[] =>
  Object.entries(flags).map(([name, value]) => `--${name}=${value}`);

const logOf = (layout: Layout, name: string): string => join(layout.directory, `${name}.log`);

export const etcdProgram = (layout: Layout, binaries: Binaries): Program => {
  const client = `http://127.0.0.1:${layout.etcdPort}`;
  const peer = `http://127.0.0.1:${layout.etcdPeerPort}`;
  return {
    name: 'etcd',
    file: binaries.etcd,
    log: logOf(layout, 'etcd'),
    args: flagsOf({
      name: 'testbed',
      'data-dir': join(layout.directory, 'etcd'),
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `testbed=${peer}`,
      'log-level': 'warn',
      // The data need not survive a power cut.
      'unsafe-no-fsync': true,
    }),
  };
};

const AUDIT_LOG_MEGABYTES = 10_000;

export const apiServerProgram = (
  layout: Layout,
  credentials: CredentialFiles,
  choices: {
    readonly file: string;
    readonly serviceAccounts: boolean;
    readonly flags: readonly string[];
  },
): Program => ({
  name: 'kube-apiserver',
  file: choices.file,
  log: logOf(layout, 'kube-apiserver'),
  // It lives for minutes: a larger heap costs less than its collection.
  env: { GOGC: '300' },
  args: [
    ...flagsOf({
      'etcd-servers': `http://127.0.0.1:${layout.etcdPort}`,
      'bind-address': '127.0.0.1',
      'advertise-address': '127.0.0.1',
      // The loopback address may not be an endpoint of the "kubernetes" Service.
      'endpoint-reconciler-type': 'none',
      'secure-port': layout.serverPort,
      'cert-dir': layout.certificates,
      'service-cluster-ip-range': '10.96.0.0/16',
      'service-account-issuer': 'https://kubernetes.default.svc',
      'service-account-key-file': credentials.serviceAccountPublicKey,
      'service-account-signing-key-file': credentials.serviceAccountKey,
      'authorization-mode': 'RBAC',
      'token-auth-file': credentials.tokens,
      'allow-privileged': true,
      'audit-policy-file': layout.auditPolicy,
      'audit-log-path': layout.auditLog,
      // Never rotated: tests count its lines.
      'audit-log-maxsize': AUDIT_LOG_MEGABYTES,
      'profiling': false,
      // Without the controllers the service account that this would wait for is never created.
      ...(choices.serviceAccounts ? {} : { 'disable-admission-plugins': 'ServiceAccount' }),
    }),
    ...choices.flags,
  ],
});

const CLIENT_QPS = 1000;
const CLIENT_BURST = 2000;

const clientFlags = (kubeconfig: string) => ({
  kubeconfig,
  'kube-api-qps': CLIENT_QPS,
  'kube-api-burst': CLIENT_BURST,
  'leader-elect': false,
  'secure-port': 0,
});

export const controllersProgram = (
  layout: Layout,
  credentials: CredentialFiles,
  { file, kubeconfig, only, nodeGrace = '10m' }: {
    readonly file: string;
    readonly kubeconfig: string;
    /** The controllers to run; all of them without it. */
    readonly only?: readonly string[];
    readonly nodeGrace?: string;
  },
): Program => ({
  name: 'kube-controller-manager',
  file,
  log: logOf(layout, 'kube-controller-manager'),
  args: flagsOf({
    ...clientFlags(kubeconfig),
    // An API server that is away for a minute does not make every Node unreachable.
    'node-monitor-grace-period': nodeGrace,
    'service-account-private-key-file': credentials.serviceAccountKey,
    'root-ca-file': join(layout.certificates, 'apiserver.crt'),
    ...(only === undefined ? {} : { controllers: only.join(',') }),
  }),
});

export const schedulerProgram = (layout: Layout, file: string, kubeconfig: string): Program => ({
  name: 'kube-scheduler',
  file,
  log: logOf(layout, 'kube-scheduler'),
  args: flagsOf(clientFlags(kubeconfig)),
});

const NODE_LEASE_SECONDS = 40;

export const kwokProgram = (layout: Layout, file: string, kubeconfig: string): Program => ({
  name: 'kwok',
  file,
  log: logOf(layout, 'kwok'),
  args: flagsOf({
    kubeconfig,
    config: layout.stages,
    'manage-all-nodes': true,
    'node-lease-duration-seconds': NODE_LEASE_SECONDS,
  }),
});
