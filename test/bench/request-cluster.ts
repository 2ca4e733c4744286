/**
 * An API server with very many EvictionRequests and their pods, in its own process: it lists in
 * pages, serves silent watches and a Lease, and counts what it was asked. Objects are as a real API
 * server sends them, managed fields of every writer included, and are made when they are listed.
 *
 * `request-cluster.ts REQUESTS OPEN PODS`: the first OPEN requests have an active interceptor, the
 * others are final and their pods gone, but for PODS that nobody asked to leave. Prints its port;
 * ends with its stdin.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import process from 'node:process';
import { realTime } from '../../src/effects/real-time.ts';
import { rfc3339Seconds } from '../../src/domain/time.ts';
import { ServedLease } from './served-lease.ts';

/** What this process was asked. */
export interface RequestsSeen {
  /** Pages of requests, and those that were asked for without a limit. */
  readonly pages: number;
  readonly unlimited: number;
  readonly largestLimit: number;
  readonly bytes: number;
  /** Writes to requests, by what they were for. */
  readonly writes: number;
}

const GROUP = '/apis/lifecycle.tidegate.dev/v1alpha1';
const REQUESTS = `${GROUP}/evictionrequests`;
const PODS = '/api/v1/pods';
const INTERCEPTORS = 15;
const NAMESPACES = 100;
const BOOKMARK_MS = 20_000;
const KEEP_ALIVE_MS = 120_000;
const RESOURCE_VERSION = '900000000';
/** Replaced by the number of the object. */
const NUMBER = '#NUMBER#';
const IMPERATIVE = 'imperative-eviction.k8s.io';

const [requests = 0, open = 0, pods = 0] = process.argv.slice(2).map(Number);
const seen = { pages: 0, unlimited: 0, largestLimit: 0, bytes: 0, writes: 0 };
const startedMs = realTime.now();
const now = rfc3339Seconds(startedMs);
const lease = new ServedLease();

const interceptors = Array.from(
  { length: INTERCEPTORS },
  (_, at) => `step-${at}.interceptors.example.com`,
);
const targets = [...interceptors, IMPERATIVE];
const podUid = `00000000-0000-4000-8000-${NUMBER}`;
const labels = { app: 'shop-frontend', 'pod-template-hash': '5d4f8c7b9', team: 'checkout' };

const owned = (names: readonly string[], fields: readonly string[]) =>
  Object.fromEntries(names.map((name) => [
    `k:${JSON.stringify({ name })}`,
    Object.fromEntries([['.', {}], ...fields.map((field) => [`f:${field}`, {}])]),
  ]));

const managed = (manager: string, fieldsV1: object, subresource?: string) => ({
  manager,
  operation: 'Apply',
  apiVersion: 'lifecycle.tidegate.dev/v1alpha1',
  time: now,
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...(subresource === undefined ? {} : { subresource }),
});

/** The managed fields after the requester, the controller and these interceptors have written. */
const managedFields = (reporting: readonly string[], processed: readonly string[]) => [
  managed('drain.nodes.example.com', {
    'f:spec': {
      'f:requesters': owned(['drain.nodes.example.com'], ['name']),
      'f:target': { 'f:pod': { 'f:name': {}, 'f:uid': {} } },
    },
  }),
  managed('tidegate-eviction-request-labels', {
    'f:metadata': {
      'f:labels': Object.fromEntries(Object.keys(labels).map((key) => [`f:${key}`, {}])),
    },
  }),
  managed('tidegate-eviction-requests', {
    'f:status': {
      'f:activeInterceptors': {},
      'f:conditions': {},
      'f:interceptors': owned(targets, ['name', 'startTime']),
      'f:observedGeneration': {},
      'f:processedInterceptors': Object.fromEntries(processed.map((name) => [`v:"${name}"`, {}])),
      'f:targetInterceptors': owned(targets, ['name']),
    },
  }, 'status'),
  ...reporting.map((name) =>
    managed(name, {
      'f:status': { 'f:interceptors': owned([name], ['name', 'heartbeatTime', 'message']) },
    }, 'status')
  ),
];

const requestObject = (isOpen: boolean) => {
  const processed = isOpen ? [] : targets;
  const reporting = isOpen ? interceptors.slice(0, 1) : targets;
  const condition = {
    type: 'Evicted',
    status: 'True',
    reason: 'PodDeleted',
    message: `Pod "shop-frontend-5d4f8c7b9-${NUMBER}" is gone`,
    lastTransitionTime: now,
  };
  return {
    apiVersion: 'lifecycle.tidegate.dev/v1alpha1',
    kind: 'EvictionRequest',
    metadata: {
      name: podUid,
      namespace: '#NAMESPACE#',
      uid: `00000003-0000-4000-8000-${NUMBER}`,
      resourceVersion: `1${NUMBER}`,
      generation: 1,
      creationTimestamp: now,
      labels,
      managedFields: managedFields(reporting, processed),
    },
    spec: {
      target: { pod: { name: `shop-frontend-5d4f8c7b9-${NUMBER}`, uid: podUid } },
      requesters: [{ name: 'drain.nodes.example.com' }],
    },
    status: {
      observedGeneration: 1,
      conditions: isOpen ? [] : [condition],
      targetInterceptors: targets.map((name) => ({ name })),
      activeInterceptors: isOpen ? interceptors.slice(0, 1) : [],
      processedInterceptors: processed,
      interceptors: targets.map((name) => ({
        name,
        message: '',
        ...(reporting.includes(name) ? { startTime: now, heartbeatTime: now } : {}),
      })),
    },
  };
};

const podObject = {
  metadata: {
    name: `shop-frontend-5d4f8c7b9-${NUMBER}`,
    namespace: '#NAMESPACE#',
    uid: podUid,
    resourceVersion: `2${NUMBER}`,
    creationTimestamp: now,
    labels,
    annotations: { 'lifecycle.tidegate.dev/eviction-interceptors': interceptors.join(',') },
    ownerReferences: [{
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name: 'shop-frontend-5d4f8c7b9',
      uid: '00000001-0000-4000-8000-000000000001',
      controller: true,
    }],
    managedFields: [managed('kube-controller-manager', { padding: 'x'.repeat(900) })],
  },
  spec: {
    nodeName: 'node-1',
    priority: 0,
    containers: [{
      name: 'main',
      image: 'registry.example.com/team/shop:1.2.3',
      resources: { requests: { cpu: '250m', memory: '512Mi' } },
      env: Array.from({ length: 8 }, (_, at) => ({ name: `SETTING_${at}`, value: 'value' })),
    }],
  },
  status: { phase: 'Running', podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] },
};

const [openText, finalText, podText] = [requestObject(true), requestObject(false), podObject]
  .map((object) => JSON.stringify(object));

const numbered = (text: string, number: number): string =>
  text.replaceAll(NUMBER, String(number).padStart(12, '0'))
    .replaceAll('#NAMESPACE#', `team-${number % NAMESPACES}`);

const textOf = (path: string, number: number): string => {
  if (path === PODS) return numbered(podText ?? '', number < open ? number : number + requests);
  return numbered((number < open ? openText : finalText) ?? '', number);
};

const answer = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(text);
};

const list = (response: ServerResponse, path: string, query: URLSearchParams): void => {
  const count = path === PODS ? open + pods : path === REQUESTS ? requests : 0;
  const limit = Number(query.get('limit') ?? 0);
  const from = Number(query.get('continue') ?? 0);
  const until = limit === 0 ? count : Math.min(count, from + limit);
  const items = Array.from({ length: until - from }, (_, at) => textOf(path, from + at)).join(',');
  const more = until < count ? `,"continue":"${until}"` : '';
  const metadata = `{"resourceVersion":"${RESOURCE_VERSION}"${more}}`;
  if (path === REQUESTS) {
    seen.pages += 1;
    seen.bytes += items.length;
    seen.largestLimit = Math.max(seen.largestLimit, limit);
    if (limit === 0) seen.unlimited += 1;
  }
  const head = `{"kind":"List","apiVersion":"v1","metadata":${metadata}`;
  answer(response, 200, `${head},"items":[${items}]}`);
};

/** A silent watch is considered dead. */
const keepAlive = (response: ServerResponse): void => {
  realTime.schedule(BOOKMARK_MS, () => {
    if (response.closed) return;
    const metadata = `{"resourceVersion":"${RESOURCE_VERSION}"}`;
    response.write(`{"type":"BOOKMARK","object":{"metadata":${metadata}}}\n`);
    keepAlive(response);
  });
};

const watch = (response: ServerResponse, path: string): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  keepAlive(response);
  if (path.endsWith('/leases')) lease.sendTo(response);
};

const serve = (incoming: IncomingMessage, response: ServerResponse, body: string): void => {
  const { pathname: path, searchParams } = new URL(incoming.url ?? '/', 'http://cluster');
  const method = incoming.method ?? 'GET';
  if (path === '/version') {
    return answer(response, 200, '{"major":"1","minor":"36","gitVersion":"v1.36.3"}');
  }
  if (path === '/seen') return answer(response, 200, JSON.stringify(seen));
  if (path === GROUP) return answer(response, 200, '{"resources":[{"name":"evictionrequests"}]}');
  if (searchParams.has('watch')) return watch(response, path);
  if (path.includes('/leases')) return lease.serve(response, { method, path, body });
  if (method === 'GET') return list(response, path, searchParams);
  if (path.includes('/evictionrequests/')) seen.writes += 1;
  answer(response, 200, body === '' ? '{}' : body);
};

const server = createServer((incoming, response) => {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => serve(incoming, response, Buffer.concat(chunks).toString()));
});
// A connection that rests is not cut.
server.keepAliveTimeout = KEEP_ALIVE_MS;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});
// Whoever started it has ended.
process.stdin.on('end', () => process.exit(0)).resume();
