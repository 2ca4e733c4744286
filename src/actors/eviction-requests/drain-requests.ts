/**
 * How the drains of a process come to ask by EvictionRequest: what they read, and whether they may.
 *
 * Promises: with `--via auto` a cluster without EvictionRequests, or without the right to read
 * them, drains by plain evictions and costs nothing more; with `--via eviction-requests` the
 * process does not start there.
 */
import { Effect } from 'effect';
import { LIFECYCLE_GROUP } from '../../domain/api-group.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import type { EvictionMode } from '../../domain/eviction-requests/drain-requester.ts';
import { interceptedPodProjection } from '../../domain/eviction-requests/target-pod.ts';
import type { EvictionsApiOption } from '../../domain/native-evictions/evictions-api.ts';
import { EvictionRequests } from '../../effects/eviction-requests.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { Informer } from '../informers/informer.ts';
import { whenAllCurrent } from '../informers/shared-informers.ts';
import type { MaintainedNodes } from '../node-drains/maintained-nodes.ts';
import { type RoleContext, type RoleStart, STARTED } from '../role.ts';
import { DrainRequesters } from './drain-requesters.ts';
import { followRequests } from './followed-requests.ts';

const KIND = `evictionrequests.${LIFECYCLE_GROUP}`;

const PROBLEMS = {
  NotServed: `the API server does not serve ${KIND}; install its CRD with "kubectl apply ` +
    '--server-side -f charts/tidegate/files/crds"',
  Denied: `this process may not list ${KIND}; grant it the rights of docs/reference/rbac.yaml`,
} as const;

/** An API server that has just started may refuse for a moment what it permits. */
const DENIED_TRIES = 3;
/** One that is busy may not answer; a list that nobody answers would be awaited for ever. */
const UNANSWERED_TRIES = 30;
const RETRY_MS = 2000;

/** The access, once the API server has said it. */
const settledAccess = Effect.gen(function* () {
  const requests = yield* EvictionRequests;
  let denials = 0;
  for (let tries = 1;; tries += 1) {
    const access = yield* requests.access;
    if (access === 'Granted' || access === 'NotServed') return access;
    denials = access === 'Denied' ? denials + 1 : 0;
    if (denials === DENIED_TRIES) return 'Denied';
    // Whoever may list it is only late.
    if (tries === UNANSWERED_TRIES) return 'Granted';
    yield* Effect.sleep(RETRY_MS);
  }
});

/** What the requesters share with the drains. */
export interface DrainRequestsOptions {
  /** `--via`. */
  readonly mode: EvictionMode;
  /** `--eviction-request-api`. */
  readonly api?: EvictionsApiOption | undefined;
  readonly pods: Informer<DrainPod>;
  readonly nodes: Informer<DrainedNode>;
  /** The interceptors of a pod besides those that it registers; without it, none. */
  readonly defaultsFor?: (pod: DrainPod) => readonly string[];
  /** The names by which maintenances ask. */
  readonly maintained?: MaintainedNodes;
}

/** The requesters of the drains, and the requests that they follow; undefined for `evictions`. */
export const drainRequests = (
  environment: ActorEnvironment<EvictionRequests>,
  { informers, record }: Pick<RoleContext, 'informers' | 'record'>,
  { mode, api = 'auto', pods, nodes, maintained, defaultsFor = () => [] }: DrainRequestsOptions,
) => {
  if (mode === 'evictions') return undefined;
  let isUsed = true;
  const registrations = informers.collection({
    id: 'pods',
    path: '/api/v1/pods',
    query: { fieldSelector: 'spec.nodeName!=' },
    project: interceptedPodProjection(),
  });
  const followed = followRequests(environment, informers, { isWanted: () => isUsed });
  const { requests } = followed;
  return {
    /** The lists to wait for; known after the discovery. */
    informers: () => isUsed ? followed.informers() : [],
    /** Whether the drains follow the requests; known after the discovery. */
    isUsed: () => isUsed,
    requesters: new DrainRequesters(environment, {
      mode,
      requests,
      pods,
      registrations,
      nodes,
      whenCurrent: () => whenAllCurrent([nodes, pods]),
      maintained,
      defaultsFor: (pod) => followed.isNative() ? [] : defaultsFor(pod),
      record,
    }),
    discover: async (): Promise<RoleStart> => {
      await followed.choose(api);
      const access = await environment.runtime.runPromise(settledAccess);
      if (access === 'Granted') return STARTED;
      isUsed = false;
      const problem = PROBLEMS[access];
      if (mode === 'eviction-requests') {
        return {
          _tag: 'Refused',
          problem: `Cannot drain with --via eviction-requests: ${problem}, or set --via auto`,
        };
      }
      if (access === 'Denied') {
        environment.telemetry.log('warn', 'Drains ask no interceptors', { problem });
      }
      return STARTED;
    },
  };
};
