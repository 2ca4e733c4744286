/**
 * An API server with many pods and their CapacityRequests, in its own process: it lists in pages,
 * accepts creations and merge patches of requests, and serves watches of them. It is minimal and
 * stores objects as the text that it sends.
 *
 * `pod-cluster.ts PODS [--later]`. Prints JSON events, one per line: `PodClusterEvent`. With
 * `--later` the pods are held back, and each number on stdin releases that many of them at once.
 * Ends with its stdin.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { asRecord, type JsonRecord, parseJson, recordAt, textAt } from '../../src/domain/json.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { drawsFrom } from './capacity-requests.ts';
import { ServedLease } from './served-lease.ts';

/** Writes so far, by what they did. */
export interface WritesSeen {
  readonly created: number;
  readonly stamped: number;
  readonly other: number;
}

/** The events that this process prints. */
export type PodClusterEvent =
  | { readonly event: 'listening'; readonly api: number }
  /** Every pod that is there has a request with a phase. */
  | { readonly event: 'complete' };

const REQUESTS = '/apis/bigfleet.lucy.sh/v1alpha1/capacityrequests';
const PODS = '/api/v1/pods';
const WORKLOADS = 2_000;
const NAMESPACES = 100;
const PAGE_SIZE_DEFAULT = 500;
const SEED = 11;
const BOOKMARK_MS = 20_000;
const count = Number(process.argv[2] ?? 0);
const draws = drawsFrom(SEED);

const emit = (event: PodClusterEvent): void => {
  process.stdout.write(`${JSON.stringify(event)}\n`);
};

/** What all pods of a workload have in common. */
const workloads = Array.from({ length: WORKLOADS }, (_, workload) => ({
  app: `app-${workload}`,
  namespace: `team-${workload % NAMESPACES}`,
  spec: {
    containers: [{
      name: 'main',
      image: `registry.example.com/team/app-${workload}:1.2.3`,
      resources: {
        requests: {
          cpu: draws.one(['100m', '250m', '500m', '1', '1500m', '2', '4']),
          memory: draws.one(['128Mi', '256Mi', '512Mi', '1Gi', '2Gi', '4Gi']),
        },
      },
      env: Array.from({ length: 8 }, (_unused, at) => ({ name: `SETTING_${at}`, value: 'value' })),
      volumeMounts: [{ name: 'token', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }],
    }],
    ...(draws.below(2) === 0
      ? { nodeSelector: { 'topology.kubernetes.io/zone': `zone-${draws.below(6)}` } }
      : {}),
    priority: draws.one([0, 0, 0, 100, 1000]),
    schedulerName: 'default-scheduler',
    serviceAccountName: 'default',
    tolerations: ['not-ready', 'unreachable'].map((key) => ({
      key: `node.kubernetes.io/${key}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })),
    volumes: [{ name: 'token', projected: { defaultMode: 420, sources: [] } }],
  },
}));

const podText = (nth: number): string => {
  const { app, namespace, spec } = workloads[nth % WORKLOADS] ??
    { app: '', namespace: '', spec: {} };
  return JSON.stringify({
    metadata: {
      name: `${app}-5d4f8c7b9-${nth}`,
      namespace,
      uid: `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`,
      resourceVersion: String(1000 + nth),
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { app, 'pod-template-hash': '5d4f8c7b9' },
      ownerReferences: [{
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: `${app}-5d4f8c7b9`,
        uid: `00000001-0000-4000-8000-${String(nth % WORKLOADS).padStart(12, '0')}`,
        controller: true,
      }],
      managedFields: [{
        manager: 'kube-controller-manager',
        fieldsV1: { padding: 'x'.repeat(600) },
      }],
    },
    spec: { ...spec, nodeName: `node-${nth % 3000}` },
    status: {
      phase: 'Running',
      podIP: '10.0.0.1',
      conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
        type,
        status: 'True',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      })),
    },
  });
};

const pods: readonly string[] = Array.from({ length: count }, (_, nth) => podText(nth));
/** By path; in the order of their creation, which is the order of the pages. */
const requests = new Map<string, string>();
const watchers = new Set<ServerResponse>();
const podWatchers = new Set<ServerResponse>();
/** How many of the pods are there. */
let served = process.argv.includes('--later') ? 0 : count;
/** How many were there when they were listed last: the others are news to a watch. */
let listed = 0;
const seen = { created: 0, stamped: 0, other: 0 };
let resourceVersion = 1_000_000;
const lease = new ServedLease();

const answer = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(text);
};

const servePage = (
  response: ServerResponse,
  all: readonly string[],
  query: URLSearchParams,
): void => {
  const from = Number(query.get('continue') ?? 0);
  const until = Math.min(all.length, from + Number(query.get('limit') ?? PAGE_SIZE_DEFAULT));
  const more = until < all.length ? `,"continue":"${until}"` : '';
  const items = all.slice(from, until).join(',');
  const metadata = `{"resourceVersion":"${resourceVersion}"${more}}`;
  answer(
    response,
    200,
    `{"kind":"List","apiVersion":"v1","metadata":${metadata},"items":[${items}]}`,
  );
};

const keep = (path: string, object: JsonRecord, type: 'ADDED' | 'MODIFIED'): string => {
  resourceVersion += 1;
  const metadata = { ...recordAt(object, 'metadata'), resourceVersion: String(resourceVersion) };
  const text = JSON.stringify({ ...object, metadata });
  requests.set(path, text);
  for (const watcher of watchers) watcher.write(`{"type":"${type}","object":${text}}\n`);
  return text;
};

const create = (response: ServerResponse, path: string, body: JsonRecord): void => {
  seen.created += 1;
  const name = textAt(body, 'metadata', 'name') ?? '';
  const namespace = path.split('/').at(-2) ?? '';
  const uid = `00000002-0000-4000-8000-${String(requests.size).padStart(12, '0')}`;
  const object = { ...body, metadata: { ...recordAt(body, 'metadata'), uid, namespace } };
  answer(response, 201, keep(`${path}/${name}`, object, 'ADDED'));
};

const stamp = (response: ServerResponse, path: string, body: JsonRecord): void => {
  seen.stamped += 1;
  const target = path.slice(0, -'/status'.length);
  const object = asRecord(parseJson(requests.get(target) ?? '')) ?? {};
  answer(response, 200, keep(target, { ...object, status: recordAt(body, 'status') }, 'MODIFIED'));
  if (seen.stamped === served) emit({ event: 'complete' });
};

/** A silent watch is considered dead. */
const keepAlive = (response: ServerResponse): void => {
  realTime.schedule(BOOKMARK_MS, () => {
    if (response.closed) return;
    const metadata = `{"resourceVersion":"${resourceVersion}"}`;
    response.write(`{"type":"BOOKMARK","object":{"metadata":${metadata}}}\n`);
    keepAlive(response);
  });
};

const watchLinesOf = (coming: readonly string[]): string =>
  coming.map((text) => `{"type":"ADDED","object":${text}}\n`).join('');

const watch = (response: ServerResponse, path: string): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  keepAlive(response);
  if (path.endsWith('/leases')) lease.sendTo(response);
  const followers = path === REQUESTS ? watchers : path === PODS ? podWatchers : undefined;
  followers?.add(response);
  if (path === PODS) response.write(watchLinesOf(pods.slice(listed, served)));
  response.on('close', () => followers?.delete(response));
};

/** Lets more of the pods come, in one piece. */
const burst = (more: number): void => {
  const coming = pods.slice(served, served + more);
  served += coming.length;
  for (const watcher of podWatchers) watcher.write(watchLinesOf(coming));
};

const serve = (incoming: IncomingMessage, response: ServerResponse, text: string): void => {
  const { pathname: path, searchParams } = new URL(incoming.url ?? '/', 'http://cluster');
  const method = incoming.method ?? 'GET';
  if (path === '/version') {
    return answer(response, 200, '{"major":"1","minor":"36","gitVersion":"v1.36.3"}');
  }
  if (path === '/seen') return answer(response, 200, JSON.stringify(seen));
  if (searchParams.has('watch')) return watch(response, path);
  if (path.includes('/leases')) {
    return lease.serve(response, { method, path, body: text });
  }
  const body = asRecord(parseJson(text)) ?? {};
  if (method === 'GET' && path === PODS) {
    listed = served;
    return servePage(response, pods.slice(0, served), searchParams);
  }
  if (method === 'GET' && path === REQUESTS) {
    return servePage(response, [...requests.values()], searchParams);
  }
  if (method === 'GET') return servePage(response, [], searchParams);
  if (method === 'POST' && path.endsWith('/capacityrequests')) return create(response, path, body);
  if (method === 'PATCH' && path.endsWith('/status')) return stamp(response, path, body);
  seen.other += 1;
  answer(response, 200, text === '' ? '{}' : text);
};

const server = createServer((incoming, response) => {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => serve(incoming, response, Buffer.concat(chunks).toString()));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  emit({ event: 'listening', api: typeof address === 'object' ? address?.port ?? 0 : 0 });
});
// The bench that started it has ended.
createInterface({ input: process.stdin })
  .on('line', (line) => burst(Number(line)))
  .on('close', () => process.exit(0));
