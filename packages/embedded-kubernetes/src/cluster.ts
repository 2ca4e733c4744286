/**
 * A complete API server in one value: store, verbs and faults, driven by an injected clock and
 * seed.
 *
 * Promises: `answer` is synchronous and bypasses faults; `handle` applies the configured faults,
 * like a connection. The same requests at the same times produce the same responses, UIDs and
 * resource versions.
 */
import type { Time } from './values/time.ts';
import { type Admission, makeAdmission } from './admission/admission.ts';
import { makeAuthenticate, type TokenUser, usersByToken } from './authentication/authenticator.ts';
import { serviceAccountTokens } from './authentication/service-account-tokens.ts';
import { type Access, makeAccess } from './authorization/access.ts';
import { ALWAYS_ALLOW } from './authorization/authorizer.ts';
import { BOOTSTRAP_BINDINGS, BOOTSTRAP_ROLES } from './authorization/bootstrap-roles.ts';
import { roleBased } from './authorization/role-based.ts';
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
import { aggregateRoles } from './controllers/role-aggregation.ts';
import { finalizeNamespaces } from './controllers/namespace.ts';
import { makeWatchRegister, type OpenWatches } from './verbs/watching.ts';

/** Who may do what: everyone everything, or each what roles grant. */
export type AuthorizationMode = 'AlwaysAllow' | 'RBAC';

/** Options of a cluster. */
export interface ClusterOptions {
  readonly time: Time;
  /** Seeds UIDs and generated names. */
  readonly seed: number;
  /** How many changes per resource the watch cache keeps. */
  readonly historyMax?: number;
  /** Default: everything is allowed, and a caller without credentials is the administrator. */
  readonly authorization?: AuthorizationMode;
  /** Users with bearer tokens. */
  readonly users?: readonly TokenUser[];
}

/** A cluster. */
export interface Cluster {
  readonly time: Time;
  readonly store: Store;
  readonly kinds: Kinds;
  readonly faults: Faults;
  readonly watches: OpenWatches;
  /** The refusal of a request by authentication or authorization; undefined when it may pass. */
  readonly refusal: (request: ClusterRequest) => ClusterAnswer | undefined;
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

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

const createRoles = (answer: Cluster['answer']): void => {
  for (const body of BOOTSTRAP_ROLES) {
    answer({ method: 'POST', path: `${RBAC}/clusterroles`, body });
  }
  for (const body of BOOTSTRAP_BINDINGS) {
    answer({ method: 'POST', path: `${RBAC}/clusterrolebindings`, body });
  }
};

/** What every request goes through. */
interface Handling {
  readonly server: ApiServerState;
  readonly register: ReturnType<typeof makeWatchRegister>;
  readonly access: Access;
  readonly admission: Admission;
}

const ORIGIN = 'http://cluster';

const refusedBy = (access: Access): Cluster['refusal'] => (request) => {
  try {
    access(request, new URL(request.path, ORIGIN));
    return undefined;
  } catch (cause) {
    if (cause instanceof ApiProblem) return refusalOf(cause);
    throw cause;
  }
};

const makeAnswer =
  ({ server, register, access, admission }: Handling) =>
  (request: ClusterRequest): ClusterResponse => {
    try {
      const url = new URL(request.path, ORIGIN);
      const caller = access(request, url);
      const { pathname, searchParams: query } = url;
      const accept = request.headers?.['accept'] ?? '';
      const document = discover(server.kinds, pathname, accept) ?? openApi(server.kinds, pathname);
      if (document !== undefined) return document;
      const route = routeOf(pathname, server.kinds);
      if (route === undefined) throw noSuchPath();
      const form = formIn(accept);
      const warnings: string[] = [];
      const admit = admission({ caller, route, warn: (text) => warnings.push(text) });
      const response = warned(
        answerRouted({
          server: admit === undefined ? server : { ...server, admit },
          caller,
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
export const makeCluster = (options: ClusterOptions): Cluster => {
  const { time, seed, historyMax, authorization = 'AlwaysAllow', users = [] } = options;
  const store = makeStore(historyMax === undefined ? {} : { historyMax });
  const [kinds, identifiers] = [makeKinds(), makeIdentifiers(seed)];
  const isOpen = authorization === 'AlwaysAllow';
  const authorizer = isOpen ? ALWAYS_ALLOW : roleBased(store);
  const tokens = serviceAccountTokens({ store, time, identifiers });
  const userOfToken = usersByToken(users, tokens);
  const server: ApiServerState = {
    store,
    time,
    kinds,
    identifiers,
    authorizer,
    tokens,
    userOfToken,
  };
  const register = makeWatchRegister();
  const access = makeAccess(makeAuthenticate(userOfToken, isOpen), authorizer);
  const answer = makeAnswer({
    server,
    register,
    access,
    admission: makeAdmission(server),
  });
  const faults = makeFaults(time);
  serveDefinitions(server);
  finalizeNamespaces(server);
  expireEvents(server);
  aggregateRoles(server);
  for (const name of NAMESPACES) {
    answer({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } });
  }
  for (const [name, value] of PRIORITY_CLASSES) {
    const body = { metadata: { name }, value, preemptionPolicy: 'PreemptLowerPriority' };
    answer({ method: 'POST', path: '/apis/scheduling.k8s.io/v1/priorityclasses', body });
  }
  if (!isOpen) createRoles(answer);
  return {
    time,
    store,
    kinds: server.kinds,
    faults,
    watches: register,
    refusal: refusedBy(access),
    answer,
    handle: (request) => faults.intercept(request, answer),
  };
};
