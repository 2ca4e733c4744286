/**
 * An embedded cluster with its controllers and kubelets, over HTTP.
 *
 * Promises: its kubeconfig works with kubectl and any client; nothing is left on disk.
 */
import { randomUUID } from 'node:crypto';
import type { TokenUser } from './authentication/authenticator.ts';
import { MASTERS } from './authentication/user.ts';
import { nextSeed, seededRandom } from './values/random.ts';
import type { JsonRecord } from './values/json.ts';
import type { Time } from './values/time.ts';
import { type ServerCertificate, serverCertificate } from './http/certificates.ts';
import { type BoundAddress, serveCluster, type ServerTls } from './http/server.ts';
import { withSimulation } from './http/simulation-routes.ts';
import { type AuthorizationMode, type Cluster, makeCluster } from './cluster.ts';
import { startNode } from './kinds/nodes.ts';
import { startControllers } from './controllers/controllers.ts';
import { DEFAULT_TIMING } from './controllers/controller-environment.ts';
import { storeEnvironment } from './controllers/store-environment.ts';
import { type ScaledClock, scaledClock } from './scaled-clock.ts';

/** Options of a run. */
export interface ClusterRunOptions {
  readonly time: Time;
  /** The listen address; port 0 picks a free one. */
  readonly listen: BoundAddress;
  /** Seeds UIDs, generated names and controller timing. */
  readonly seed: number;
  /** CustomResourceDefinitions to create at the start. */
  readonly definitions?: readonly JsonRecord[];
  /** How many Nodes to create at the start. */
  readonly nodes: number;
  /** Simulated seconds per real second. */
  readonly rate: number;
  /** Default: everything is allowed. With RBAC the cluster is served over HTTPS. */
  readonly authorization?: AuthorizationMode;
  /** Users with bearer tokens, beside the administrator of the kubeconfig. */
  readonly users?: readonly TokenUser[];
  /** Authorities in PEM whose client certificates name users (CN) and groups (O). */
  readonly clientAuthority?: string;
}

/** A running cluster. */
export interface RunningCluster {
  readonly address: BoundAddress;
  readonly cluster: Cluster;
  readonly time: ScaledClock;
  /** A kubeconfig as YAML (in JSON syntax). */
  readonly kubeconfig: string;
  /** Stops the kubelet of a node, or lets it go on. */
  readonly silence: (node: string, isSilent: boolean) => void;
  readonly stop: () => Promise<void>;
}

const NAME = 'tidegate-embedded';

/** What an administrator needs to connect to a cluster with users. */
interface Secured {
  readonly certificate: string;
  readonly token: string;
}

const kubeconfigOf = ({ host, port }: BoundAddress, secured: Secured | undefined): string => {
  const reachable = ['', '0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host;
  const scheme = secured === undefined ? 'http' : 'https';
  const server = `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
  // Plain HTTP has no certificate to verify, and client-node requires the flag.
  const authority = secured === undefined
    ? { 'insecure-skip-tls-verify': true }
    : { 'certificate-authority-data': btoa(secured.certificate) };
  const user = secured === undefined ? {} : { token: secured.token };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: NAME, cluster: { server, ...authority } }],
    users: [{ name: NAME, user }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME } }],
    'current-context': NAME,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
};

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const populate = (
  { answer }: Cluster,
  { definitions = [], nodes }: Pick<ClusterRunOptions, 'definitions' | 'nodes'>,
): void => {
  for (const body of definitions) answer({ method: 'POST', path: DEFINITIONS, body });
  for (let number = 1; number <= nodes; number += 1) {
    answer({ method: 'POST', path: '/api/v1/nodes', body: startNode(number) });
  }
};

/** The administrator, whose token nobody can guess. */
const makeAdministrator = (): TokenUser => ({
  token: randomUUID(),
  name: 'admin',
  groups: [MASTERS],
});

interface Securing {
  readonly administrator: TokenUser;
  readonly certificate: ServerCertificate;
}

const securing = (options: ClusterRunOptions): Securing | undefined =>
  options.authorization === 'RBAC'
    ? {
      administrator: makeAdministrator(),
      certificate: serverCertificate(options.listen.host, options.time.now()),
    }
    : undefined;

const tlsOf = (
  { certificate }: Securing,
  { clientAuthority }: Pick<ClusterRunOptions, 'clientAuthority'>,
): ServerTls => ({ ...certificate, ...(clientAuthority === undefined ? {} : { clientAuthority }) });

/** Runs a cluster; resolves when kubectl can connect. */
export const runCluster = async (options: ClusterRunOptions): Promise<RunningCluster> => {
  const time = scaledClock(options.time, options.rate);
  const { seed, authorization = 'AlwaysAllow', users = [] } = options;
  const secure = securing(options);
  const known = secure === undefined ? users : [secure.administrator, ...users];
  const cluster = makeCluster({ time, seed, authorization, users: known });
  const random = seededRandom(nextSeed(options.seed));
  const controllers = startControllers(
    storeEnvironment({ cluster, time, random, timing: DEFAULT_TIMING }),
  );
  populate(cluster, options);
  const http = await serveCluster(withSimulation({ cluster, time }), {
    ...options.listen,
    ...(secure === undefined ? {} : { tls: tlsOf(secure, options) }),
  });
  return {
    address: http.address,
    cluster,
    time,
    kubeconfig: kubeconfigOf(
      http.address,
      secure && {
        certificate: secure.certificate.certificate,
        token: secure.administrator.token,
      },
    ),
    silence: controllers.kubelets.setSilent,
    stop: async () => {
      controllers.stop();
      await http.stop();
    },
  };
};
