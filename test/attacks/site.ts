/**
 * A running operator as a process of its own, with an embedded cluster and a hostile shard, both in
 * this process.
 *
 * Promises: the operator reaches the cluster and the shard only breach a proxy each, so that an
 * attack of the network affects nobody else; the CRDs have no bounds, as in a cluster with older
 * ones, so that what a tenant writes reaches the operator.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningCluster } from '../../packages/embedded-kubernetes/src/run.ts';
import { runCluster } from '../../packages/embedded-kubernetes/src/run.ts';
import { definitions } from '../../src/api/definitions.ts';
import {
  asRecord,
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  textAt,
} from '../../src/domain/json.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { freePort } from '../../tools/testbed/ports.ts';
import { eventually } from '../support/eventually.ts';
import { newAuthority } from '../support/processes/certificates.ts';
import { roleBy, type RoleProcess } from '../support/processes/role-child.ts';
import { spawnTidegate } from '../support/processes/tidegate-child.ts';
import { type ApiProxy, startApiProxy } from './api-proxy.ts';
import { HostileShard } from './hostile-shard.ts';
import { openFront, type TcpFront } from './tcp-front.ts';

const CLUSTER_ID = 'attacked';
/** What must appear nowhere. */
export const SECRET = 'sekret-0123456789abcdef';
/** The identity of the operator in its Lease. */
export const IDENTITY = 'attacked-operator';
/** Drains at once. */
const MAX_DRAINING = 4;
/** A Node that no shard may take. */
export const CONTROL_PLANE = 'control-plane';
/** Nodes with kubelets, which no machine of the shard has. */
export const WORKERS = ['worker-1', 'worker-2'] as const;

const CUSTOM = '/apis/bigfleet.lucy.sh/v1alpha1';

/** Paths of collections. */
export const PATHS = {
  requests: `${CUSTOM}/namespaces/default/capacityrequests`,
  allRequests: `${CUSTOM}/capacityrequests`,
  upcomingNodes: `${CUSTOM}/upcomingnodes`,
  capacities: `${CUSTOM}/availablecapacities`,
  nodes: '/api/v1/nodes',
  pods: '/api/v1/namespaces/default/pods',
  budgets: '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
  events: '/apis/events.k8s.io/v1/namespaces/default/events',
  allEvents: '/apis/events.k8s.io/v1/events',
  lease: '/apis/coordination.k8s.io/v1/namespaces/default/leases/tidegate-operator',
} as const;

/** The longest delay of the event loop since the last look, in milliseconds. */
export interface Stall {
  readonly delayMs: number;
  /** Processor time of the main thread within one turn: what the operator itself did. */
  readonly cpuMs: number;
}

/** Requests of an administrator, past every proxy. */
export interface DirectApi {
  readonly ask: (method: string, path: string, body?: unknown) => JsonRecord;
  readonly status: (method: string, path: string, body?: unknown) => number;
  readonly list: (path: string) => readonly JsonRecord[];
}

/** Everything that an attack may use. */
export interface AttackSite {
  readonly api: DirectApi;
  readonly proxy: ApiProxy;
  readonly shard: HostileShard;
  readonly shardFront: TcpFront;
  readonly operator: RoleProcess;
  readonly ports: { readonly page: number; readonly metrics: number; readonly health: number };
  /** The token of the live page. */
  readonly token: string;
  /** A number that is new for each call, for names. */
  readonly number: () => number;
  readonly stall: () => Promise<Stall>;
  readonly stop: () => Promise<void>;
}

const BOUND_KEYS: ReadonlySet<string> = new Set([
  'maxProperties',
  'maxItems',
  'maxLength',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'x-kubernetes-validations',
]);

/** A value without the bounds of schemas in it. */
const unbounded = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(unbounded);
  const record = asRecord(value);
  if (record === undefined) return value;
  return Object.fromEntries(
    Object.entries(record).flatMap(([key, field]) =>
      BOUND_KEYS.has(key) ? [] : [[key, unbounded(field)]]
    ),
  );
};

const directApi = ({ cluster }: RunningCluster): DirectApi => {
  const asked = (method: string, path: string, body?: unknown) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const headers = { 'content-type': type };
    const answer = cluster.answer({
      method,
      path,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    return answer._tag === 'Answer' ? answer : { status: 0, body: {} };
  };
  return {
    ask: (method, path, body) => {
      const answer = asked(method, path, body);
      if (answer.status >= 400) {
        throw new Error(`Cannot ${method} ${path}: ${textAt(answer.body, 'message') ?? ''}`);
      }
      return asRecord(answer.body) ?? {};
    },
    status: (method, path, body) => asked(method, path, body).status,
    list: (path) =>
      listOrEmptyAt(asked('GET', path).body, 'items').map(asRecord)
        .filter((item) => item !== undefined),
  };
};

const resources = { cpu: '64', memory: '256Gi', pods: '110' };

/** A CapacityRequest for one CPU, unless `spec` says otherwise. */
export const requestNamed = (name: string, spec: JsonRecord = {}): JsonRecord => ({
  apiVersion: 'bigfleet.lucy.sh/v1alpha1',
  kind: 'CapacityRequest',
  metadata: { name },
  spec: { resources: { cpu: '1' }, priority: 0, ...spec },
});

/** A pod that no Node can take, so that it is demand. */
export const pendingPod = (
  name: string,
  metadata: JsonRecord = {},
  spec: JsonRecord = {},
): JsonRecord => ({
  metadata: { name, ...metadata },
  spec: {
    containers: [{ name: 'main', image: 'image', resources: { requests: { cpu: '1' } } }],
    nodeSelector: { 'example.com/nowhere': 'true' },
    ...spec,
  },
});

/** A Node with room for pods. */
export const nodeNamed = (name: string, more: JsonRecord = {}): JsonRecord => ({
  metadata: { name, labels: { 'kubernetes.io/hostname': name } },
  spec: { providerID: `attacked://zone/host-${name}` },
  status: { capacity: resources, allocatable: resources },
  ...more,
});

const controlPlane = nodeNamed(CONTROL_PLANE, {
  metadata: {
    name: CONTROL_PLANE,
    labels: { 'node-role.kubernetes.io/control-plane': '' },
  },
});

/** The template of user data has a secret in it, and fails for one key. */
const TEMPLATE = `#cloud-config
# ${SECRET}
cluster: {{ .ClusterID }}
{{ range .Requirements }}{{ .Key }} {{ .Operator }}{{ range .Values }} {{ . }}{{ end }}
{{ if eq .Key "attack/fail" }}{{ index .Values 99 }}{{ end }}{{ end }}
`;

/** Files of the operator, by flag. */
const writeFiles = async (folder: string, apiPort: number) => {
  const authority = newAuthority();
  const pair = authority.issue({
    commonName: 'operator',
    alternativeNames: [`URI:bigfleet://cluster/${CLUSTER_ID}`],
  });
  const server = `http://127.0.0.1:${apiPort}`;
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'a', cluster: { server } }],
    users: [{ name: 'a', user: { token: SECRET } }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  };
  const texts = {
    'kubeconfig': JSON.stringify(kubeconfig),
    'bootstrap-template-file': TEMPLATE,
    'inspect-token-file': `${SECRET}\n`,
    'tls-cert': pair.certificate,
    'tls-key': pair.key,
    'tls-ca': authority.certificate,
  };
  for (const [name, text] of Object.entries(texts)) {
    await writeFile(join(folder, name), text, { mode: 0o600 });
  }
  const flags = Object.fromEntries(Object.keys(texts).map((name) => [name, join(folder, name)]));
  return { authority, flags };
};

const PROBE = new URL('./stall-probe.ts', import.meta.url).href;

/** Quick enough that a renewal and a roll-up are seen after each attack. */
const TIMING = {
  'lease-duration': '15s',
  'lease-renew-deadline': '10s',
  'lease-retry-period': '200ms',
  'rollup-interval': '400ms',
};

const startOperator = (
  flags: Readonly<Record<string, string>>,
  page: number,
): Promise<RoleProcess> =>
  roleBy(spawnTidegate, {
    name: 'operator',
    role: 'operator',
    runtime: 'node',
    env: { NODE_OPTIONS: `--import=${PROBE}`, POD_NAMESPACE: 'default' },
    flags: {
      ...TIMING,
      ...flags,
      'cluster-id': CLUSTER_ID,
      'identity': IDENTITY,
      'with-pods': 'true',
      'max-draining': String(MAX_DRAINING),
      'inspect-addr': `127.0.0.1:${page}`,
    },
  });

const stallOf = (operator: RoleProcess) => async (): Promise<Stall> => {
  const since = operator.logs().length;
  operator.signal('USR2');
  const line = await operator.untilLog(({ message }) => message === 'Event loop delay', {
    what: 'the delay of its event loop',
    since,
  });
  return { delayMs: numberAt(line, 'delayMs') ?? 0, cpuMs: numberAt(line, 'cpuMs') ?? 0 };
};

/** Starts everything; resolves when the operator leads and the shard has its demand. */
export const startSite = async (): Promise<AttackSite> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-attacks-'));
  const cluster = await runCluster({
    time: realTime,
    listen: { host: '127.0.0.1', port: 0 },
    seed: 1,
    nodes: 0,
    rate: 1,
    definitions: definitions().map((one) => asRecord(unbounded(one)) ?? {}),
  });
  const api = directApi(cluster);
  for (const node of [controlPlane, ...WORKERS.map((name) => nodeNamed(name))]) {
    api.ask('POST', PATHS.nodes, node);
  }
  const proxy = await startApiProxy(cluster.address.port);
  const { authority, flags } = await writeFiles(folder, proxy.port);
  const shard = await HostileShard.start({
    ...authority.issue({ commonName: 'shard', alternativeNames: ['DNS:localhost'] }),
    authority: authority.certificate,
  });
  const shardFront = await openFront(shard.port);
  const page = await freePort();
  const address = { 'shard-addr': `localhost:${shardFront.port}` };
  const operator = await startOperator({ ...flags, ...address }, page);
  let last = 0;
  const stop = async (): Promise<void> => {
    await operator.stop();
    shard.stop();
    await shardFront.stop();
    await proxy.stop();
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await operator.untilReady();
    await shard.untilSession();
  } catch (cause) {
    await stop();
    throw cause;
  }
  return {
    api,
    proxy,
    shard,
    shardFront,
    operator,
    ports: { ...operator.ports, page },
    token: SECRET,
    number: () => {
      last += 1;
      return last;
    },
    stall: stallOf(operator),
    stop,
  };
};

/** Attacks follow each other: a collection may wait for as long as its longest backoff, 30 s. */
const PATIENCE_MS = 60_000;

/** Waits until `probe` holds. */
export const soon = <T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> => eventually(probe, { what, everyMs: 10, timeoutMs: PATIENCE_MS });

/** Items between two turns of the event loop, which serves the cluster and the shard as well. */
const AT_ONCE = 10;

/** Calls `run` with each item; connections of this process are served meanwhile. */
export const each = async <T>(items: readonly T[], run: (item: T) => void): Promise<void> => {
  for (const [index, item] of items.entries()) {
    run(item);
    if (index % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
  }
};
