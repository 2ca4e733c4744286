/** The embedded cluster on simulated time, behind the contract suite's interface. */
import { asRecord, parseJson } from '../../../src/domain/json.ts';
import { nextSeed, unitInterval } from '../../../src/domain/random.ts';
import { simulatedTime } from '../time/simulated-time.ts';
import type {
  ClusterRequest,
  ClusterResponse,
} from '../../../packages/embedded-kubernetes/src/api.ts';
import { makeCluster } from '../../../packages/embedded-kubernetes/src/cluster.ts';
import { startControllers } from '../../../packages/embedded-kubernetes/src/controllers/controllers.ts';
import { startGarbageCollector } from '../../../packages/embedded-kubernetes/src/controllers/garbage-collector.ts';
import {
  type ControllerTiming,
  DEFAULT_TIMING,
} from '../../../packages/embedded-kubernetes/src/controllers/controller-environment.ts';
import { storeEnvironment } from '../../../packages/embedded-kubernetes/src/controllers/store-environment.ts';
import type { Answer, ContractCluster, OpenWatch, WatchLine } from '../../contract/cluster.ts';

const MOMENT_MS = 50;
const SEED = 7;
/** The administrator of a test bed, with the same name and groups. */
export const CONTRACT_ADMIN = {
  token: 'admin',
  name: 'admin',
  uid: 'uid-admin',
  groups: ['system:masters'],
};
const AUTHORIZATION = `Bearer ${CONTRACT_ADMIN.token}`;
const SOON: ControllerTiming = {
  controllerMs: [1, 5],
  schedulerMs: [1, 5],
  startMs: [1, 5],
  stopMs: [1, 5],
  joinMs: [1, 5],
};

/** Numbers in [0, 1), one after the other, from a seed. */
const chance = (start: number): () => number => {
  let seed = start;
  return () => {
    seed = nextSeed(seed);
    return unitInterval(seed);
  };
};

/** As a body comes off the wire: parsed where it can be. */
const parsed = (body: unknown): unknown =>
  body instanceof Uint8Array
    ? body
    : typeof body === 'string'
    ? parseJson(body) ?? body
    : parseJson(JSON.stringify(body));

const answerOf = (response: ClusterResponse): Answer => {
  if (response._tag === 'Watch') throw new Error('A watch was opened where an answer was wanted');
  const { status, headers, body } = response;
  // As a client reads it: what was undefined is not there.
  const read = parseJson(JSON.stringify(body));
  return { status, headers, body: asRecord(read) ?? { text: `${read}` } };
};

const watchOf = (response: ClusterResponse): OpenWatch => {
  if (response._tag !== 'Watch') {
    const { status, body } = answerOf(response);
    throw new Error(`Cannot watch: ${status} ${JSON.stringify(body)}`);
  }
  const lines: WatchLine[] = [];
  let over = false;
  const end = (): void => {
    over = true;
  };
  const close = response.open({ lines: (some) => lines.push(...some), ended: end, cut: end });
  return { status: 200, lines, isOver: () => over, close };
};

/** An embedded cluster with only a garbage collector, or with all controllers. */
export const contractEmbedded = (controllers: 'collector' | 'all'): ContractCluster => {
  const time = simulatedTime();
  const cluster = makeCluster({ time, seed: SEED, authorization: 'RBAC', users: [CONTRACT_ADMIN] });
  const base = { cluster, time, random: chance(SEED) };
  if (controllers === 'collector') {
    startGarbageCollector(storeEnvironment({ ...base, timing: SOON }));
  } else startControllers(storeEnvironment({ ...base, timing: DEFAULT_TIMING }));
  const handle = async (request: ClusterRequest): Promise<ClusterResponse> => {
    const waiting = cluster.handle(request);
    await time.settle();
    return await waiting;
  };
  return {
    request: async ({ method, path, headers = {}, body }) => {
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      const sent = { 'content-type': type, authorization: AUTHORIZATION, ...headers };
      const request = { method, path, headers: sent, peer: {} };
      const given = body === undefined ? {} : { body: parsed(body) };
      return answerOf(await handle({ ...request, ...given }));
    },
    watch: async (path) => watchOf(await handle({ method: 'GET', path })),
    moment: () => time.advance(MOMENT_MS),
    compactHistory: () => {
      cluster.store.compact();
      return Promise.resolve();
    },
  };
};
