/**
 * The environment of an operator in a large cluster, in its own process: an API server that lists
 * many objects and a shard that replays as many machines. Both are minimal and prepare their
 * responses before they listen, so that they use little CPU.
 *
 * `large-cluster.ts MACHINES REQUESTS`. Prints JSON events, one per line: `Surroundings`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import process from 'node:process';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { machineId } from '../../src/domain/ids.ts';
import { asRecord, type JsonRecord, parseJson, recordAt } from '../../src/domain/json.ts';
import { upcomingNodeName } from '../../src/domain/names.ts';
import {
  newUpcomingNode,
  projectUpcomingNode,
  reportOf,
  statusPatch,
} from '../../src/domain/upcoming-node.ts';
import { readShardFrame } from '../../src/effects/frames.ts';
import {
  OperatorMessageSchema,
  ShardMessageSchema,
} from '../../src/gen/bigfleet/v1alpha1/shard_pb.ts';
import { rawShard, type RawStream } from '../support/fleet/raw-shard.ts';
import type { ShardPayload } from '../support/fleet/shard-process.ts';
import { makeRequests } from './capacity-requests.ts';
import { machinePayload } from './machine-frames.ts';
import { ServedLease } from './served-lease.ts';

/** The events that this process prints. */
export type ClusterOutput =
  | { readonly event: 'listening'; readonly api: number; readonly shard: number }
  /** The shard's replay of every machine was taken by the network. */
  | { readonly event: 'replayed' }
  | { readonly event: 'rollup'; readonly needs: number; readonly bytes: number }
  /** The operator wrote something that is not its Lease. */
  | { readonly event: 'written'; readonly method: string; readonly path: string };

const PAGE_SIZE = 500;
const GROUP = '/apis/bigfleet.lucy.sh/v1alpha1';
const SEED = 7;
const [machines = 0, requests = 0] = process.argv.slice(2).map(Number);

const emit = (event: ClusterOutput): void => {
  process.stdout.write(`${JSON.stringify(event)}\n`);
};

const encoded = (payload: ShardPayload): Uint8Array =>
  toBinary(ShardMessageSchema, create(ShardMessageSchema, { payload }));

const frames = Array.from({ length: machines }, (_, index) => encoded(machinePayload(index)));

const uidOf = (kind: string, index: number): string =>
  `${kind}-0000-4000-8000-${String(index).padStart(12, '0')}`;

const nodeOf = (index: number): JsonRecord => ({
  metadata: {
    name: `node-${index}`,
    uid: uidOf('00000001', index),
    resourceVersion: '1',
    labels: recordAt(machinePayload(index).value, 'labels'),
  },
  spec: { providerID: `provider://zone-${index % 6}/host-${index}` },
  status: {
    capacity: { cpu: '32', memory: '131072Mi', pods: '110' },
    allocatable: { cpu: '31', memory: '129024Mi', pods: '110' },
    addresses: [{
      type: 'InternalIP',
      address: `10.${index >> 16}.${index >> 8 & 255}.${index & 255}`,
    }],
    conditions: ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({
      type,
      status: type === 'Ready' ? 'True' : 'False',
      reason: `Kubelet${type}`,
      message: 'kubelet has posted its status',
      lastHeartbeatTime: '2026-01-01T00:00:00Z',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })),
    nodeInfo: { kubeletVersion: 'v1.36.3', architecture: 'amd64', operatingSystem: 'linux' },
  },
});

/** The object of a machine as the operator itself would have left it. */
const upcomingNodeOf = (index: number): JsonRecord => {
  const frame = readShardFrame(frames[index] ?? new Uint8Array());
  if (frame._tag !== 'MachineObserved') throw new Error(`Machine ${index} cannot be read`);
  const reported = reportOf(undefined, frame.machine, 0);
  const name = upcomingNodeName(machineId(frame.machine.machineId));
  const made = asRecord(newUpcomingNode(frame.machine.machineId, name, reported.spec)) ?? {};
  const metadata = {
    ...recordAt(made, 'metadata'),
    uid: uidOf('00000002', index),
    resourceVersion: '1',
  };
  const object = { ...made, metadata };
  const current = projectUpcomingNode(object) ?? null;
  const node = {
    name: `node-${index}`,
    uid: uidOf('00000001', index),
    ready: true,
    held: false,
    ended: null,
    releasable: false,
  };
  return { ...object, ...statusPatch({ reported, current, node, drain: null }, 0) };
};

/** The pages of a list, ready to be sent. */
const pagesOf = (count: number, objectOf: (index: number) => unknown): readonly Buffer[] => {
  const pages = Math.max(1, Math.ceil(count / PAGE_SIZE));
  return Array.from({ length: pages }, (_, page) => {
    const length = Math.min(PAGE_SIZE, count - page * PAGE_SIZE);
    const items = Array.from({ length }, (_unused, at) => objectOf(page * PAGE_SIZE + at));
    const next = page + 1 < pages ? { continue: String(page + 1) } : {};
    return Buffer.from(
      JSON.stringify({ kind: 'List', metadata: { resourceVersion: '1', ...next }, items }),
    );
  });
};

const NOTHING = pagesOf(0, () => undefined);
const made = makeRequests(requests, SEED);
const LISTS: ReadonlyMap<string, readonly Buffer[]> = new Map([
  [`${GROUP}/capacityrequests`, pagesOf(requests, (index) => made[index])],
  [`${GROUP}/upcomingnodes`, pagesOf(machines, upcomingNodeOf)],
  [`${GROUP}/availablecapacities`, NOTHING],
  ['/api/v1/nodes', pagesOf(machines, nodeOf)],
  // Pods are not measured here: their lists have their own bench.
  ['/api/v1/pods', NOTHING],
  ['/apis/policy/v1/poddisruptionbudgets', NOTHING],
  ['/apis/storage.k8s.io/v1/volumeattachments', NOTHING],
]);

const answer = (response: ServerResponse, status: number, body: Buffer | object): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body instanceof Buffer ? body : JSON.stringify(body));
};

const lease = new ServedLease();

/** Only the Lease changes here; streams stay open. */
const serveWatch = (response: ServerResponse, path: string): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  if (path.endsWith('/leases')) lease.sendTo(response);
};

const serve = (incoming: IncomingMessage, response: ServerResponse, text: string): void => {
  const { pathname: path, searchParams } = new URL(incoming.url ?? '/', 'http://cluster');
  const method = incoming.method ?? 'GET';
  const list = LISTS.get(path);
  if (path === '/version') {
    return answer(response, 200, { major: '1', minor: '36', gitVersion: 'v1.36.3' });
  }
  if (searchParams.has('watch')) return serveWatch(response, path);
  if (path.includes('/leases')) {
    return lease.serve(response, { method, path, body: text });
  }
  if (method === 'GET' && list !== undefined) {
    const page = Number(searchParams.get('continue') ?? 0);
    return answer(response, 200, list[page] ?? Buffer.alloc(0));
  }
  if (method !== 'GET') emit({ event: 'written', method, path });
  answer(response, method === 'GET' ? 404 : 200, asRecord(parseJson(text)) ?? {});
};

const api = createServer((incoming, response) => {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => serve(incoming, response, Buffer.concat(chunks).toString()));
});

/** Sends every machine, as fast as the reader reads. */
const replay = async (stream: RawStream): Promise<void> => {
  for (const frame of frames) {
    if (!stream.write(Buffer.from(frame))) {
      await new Promise((resolve) => stream.once('drain', resolve));
    }
  }
  emit({ event: 'replayed' });
};

const session = (stream: RawStream): void => {
  let replayed = Promise.resolve();
  const ack = (echo: string): void => {
    stream.write(Buffer.from(encoded({ case: 'ack', value: { echo } })));
  };
  stream.on('error', () => {});
  stream.on('data', (bytes: Buffer) => {
    const { payload } = fromBinary(OperatorMessageSchema, new Uint8Array(bytes));
    if (payload.case === 'hello') {
      ack('hello');
      replayed = replay(stream);
    } else if (payload.case === 'rollup') {
      emit({ event: 'rollup', needs: payload.value.needs.length, bytes: bytes.length });
      // Its ack confirms that every machine was replayed (WIRE-10).
      void replayed.then(() => ack('rollup'));
    }
  });
};

const { port: shardPort } = await rawShard({ session });
api.listen(0, '127.0.0.1', () => {
  const address = api.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  emit({ event: 'listening', api: port, shard: shardPort });
});
// The bench that started it has ended.
process.stdin.on('end', () => process.exit(0)).resume();
