/**
 * A complete API server in one value: store, verbs and faults, driven by an injected clock and
 * seed.
 *
 * Promises: `answer` is synchronous and bypasses faults; `handle` applies the configured faults,
 * like a connection. The same requests at the same times produce the same responses, UIDs and
 * resource versions.
 */
import type { Time } from './values/time.ts';
import { discover } from './http/discovery.ts';
import { openApi } from './http/openapi.ts';
import { formIn, represented } from './http/representations.ts';
import { answerOf, answerRouted } from './http/requests.ts';
import { withJsonBody } from './http/request-bodies.ts';
import { routeOf } from './http/route.ts';
import type { ClusterAnswer, ClusterRequest, ClusterResponse } from './api.ts';
import type { ApiServerState, Kinds } from './api-server-state.ts';
import { type Faults, makeFaults } from './faults.ts';
import { makeKinds } from './kinds.ts';
import { ApiProblem, noSuchPath } from './validation/problem.ts';
import { makeIdentifiers } from './storage/identifiers.ts';
import { makeStore, type Store } from './storage/store.ts';
import { serveDefinitions } from './controllers/custom-resource-definitions.ts';
import { expireEvents } from './controllers/event-ttl.ts';
import { finalizeNamespaces } from './controllers/namespace.ts';
import { makeWatchRegister, type OpenWatches } from './verbs/watching.ts';

/** Options of a cluster. */
export interface ClusterOptions {
  readonly time: Time;
  /** Seeds UIDs and generated names. */
  readonly seed: number;
  /** How many changes per resource the watch cache keeps. */
  readonly historyMax?: number;
}

/** A cluster. */
export interface Cluster {
  readonly time: Time;
  readonly store: Store;
  readonly kinds: Kinds;
  readonly faults: Faults;
  readonly watches: OpenWatches;
  /** Responds synchronously. */
  readonly answer: (request: ClusterRequest) => ClusterResponse;
  /** Responds as a connection would; faults may delay, reject or drop the request. */
  readonly handle: (request: ClusterRequest) => Promise<ClusterResponse>;
}

const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** Priorities of the system priority classes. */
const PRIORITY_CLASSES = [
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
] as const;

/** Converts a problem to the response that the client receives. */
const refusalOf = ({ code, status, retryAfterSeconds }: ApiProblem): ClusterAnswer => {
  const answer = answerOf(code, status);
  if (retryAfterSeconds === undefined) return answer;
  return { ...answer, headers: { ...answer.headers, 'retry-after': `${retryAfterSeconds}` } };
};

const warned = (response: ClusterResponse, warnings: readonly string[]): ClusterResponse => {
  if (warnings.length === 0 || response._tag === 'Watch') return response;
  const warning = warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(', ');
  return { ...response, headers: { ...response.headers, warning } };
};

const ORIGIN = 'http://cluster';

const makeAnswer =
  (server: ApiServerState, register: ReturnType<typeof makeWatchRegister>) =>
  (request: ClusterRequest): ClusterResponse => {
    try {
      const { pathname, searchParams: query } = new URL(request.path, ORIGIN);
      const accept = request.headers?.['accept'] ?? '';
      const document = discover(server.kinds, pathname, accept) ?? openApi(server.kinds, pathname);
      if (document !== undefined) return document;
      const route = routeOf(pathname, server.kinds);
      if (route === undefined) throw noSuchPath();
      const form = formIn(accept);
      const warnings: string[] = [];
      const response = warned(
        answerRouted({
          server,
          register,
          request: withJsonBody(request, route),
          route,
          query,
          warnings,
        }),
        warnings,
      );
      const include = query.get('includeObject') ?? 'Metadata';
      return represented(response, { form, kind: route.kind, nowMs: server.time.now, include });
    } catch (cause) {
      if (cause instanceof ApiProblem) return refusalOf(cause);
      throw cause;
    }
  };

/** An empty cluster with the namespaces that every cluster has. */
export const makeCluster = ({ time, seed, historyMax }: ClusterOptions): Cluster => {
  const store = makeStore(historyMax === undefined ? {} : { historyMax });
  const server: ApiServerState = {
    store,
    time,
    kinds: makeKinds(),
    identifiers: makeIdentifiers(seed),
  };
  const register = makeWatchRegister();
  const answer = makeAnswer(server, register);
  const faults = makeFaults(time);
  serveDefinitions(server);
  finalizeNamespaces(server);
  expireEvents(server);
  for (const name of NAMESPACES) {
    answer({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } });
  }
  for (const [name, value] of PRIORITY_CLASSES) {
    const body = { metadata: { name }, value, preemptionPolicy: 'PreemptLowerPriority' };
    answer({ method: 'POST', path: '/apis/scheduling.k8s.io/v1/priorityclasses', body });
  }
  return {
    time,
    store,
    kinds: server.kinds,
    faults,
    watches: register,
    answer,
    handle: (request) => faults.intercept(request, answer),
  };
};
