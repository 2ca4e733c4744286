/**
 * The `evictionRequester` statechart with its writes to the API server, and its registry.
 *
 * Promises: one actor for each pod and name that asks; a restart goes on from the request.
 */
import { fromPromise } from 'xstate';
import type { DrainOwner } from '../../domain/drain/cordon.ts';
import type { PodLife } from '../../domain/eviction-requests/drain-requester.ts';
import type { ObservedRequest } from '../../domain/eviction-requests/observed-request.ts';
import type { RequestedPod } from '../../domain/eviction-requests/requester.ts';
import type { Uid } from '../../domain/ids.ts';
import type { WriteOutcome } from '../../domain/object-write.ts';
import { EvictionRequests } from '../../effects/eviction-requests.ts';
import {
  evictionRequester,
  type EvictionRequesterAct,
  type EvictionRequesterContext,
} from '../../machines/eviction-requester.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type EffectRuntime, type WriteInFlight, WRITES_STOPPED } from '../actor-logic.ts';
import { type ActorRegistry, actorRegistry } from '../actor-registry.ts';

/** The actions of the statechart. */
export interface DrainRequesterActions {
  readonly requestSlot: (context: EvictionRequesterContext) => void;
  readonly recordRefused: (context: EvictionRequesterContext) => void;
  readonly recordFailing: (context: EvictionRequesterContext) => void;
}

/** The statechart, provided once for all requesters. */
export const provideEvictionRequester = (
  runtime: EffectRuntime<EvictionRequests>,
  actions: DrainRequesterActions,
  inFlight: WriteInFlight,
): typeof evictionRequester => {
  const write = fromPromise<WriteOutcome<ObservedRequest>, EvictionRequesterAct>(
    ({ input, signal }) =>
      runtime.runPromise(
        EvictionRequests.use((requests) => inFlight(requests.ask(input.facts, input.write))),
        { signal },
      ),
  );
  return evictionRequester.provide({
    actors: { joinRequest: write, leaveRequest: write, removeRequest: write },
    actions: {
      requestSlot: ({ context }) => actions.requestSlot(context),
      recordRefused: ({ context }) => actions.recordRefused(context),
      recordFailing: ({ context }) => actions.recordFailing(context),
    },
  });
};

/** A pod whose eviction is requested by a name. */
export interface RequesterEntry {
  readonly key: string;
  readonly requester: string;
  readonly uid: Uid;
  readonly pod: RequestedPod;
  readonly node: string;
  /**
   * The owners whose drains want the pod to leave; the entry leaves the request with the last one.
   * A maintenance has the name of the one before, which was deleted.
   */
  readonly owners: Set<DrainOwner>;
  life: PodLife;
  /** What was last reported of it. */
  reported: string;
}

/** What the actors read and do. */
export interface DrainRequesterActorsOptions {
  readonly requestOf: (pod: RequestedPod) => ObservedRequest | undefined;
  readonly actions: DrainRequesterActions;
  readonly onSnapshot: (entry: RequesterEntry, context: EvictionRequesterContext) => void;
}

export type DrainRequesterActors = ActorRegistry<typeof evictionRequester, RequesterEntry>;

/** The actors of all requesters of a process. */
export const drainRequesterActors = (
  environment: ActorEnvironment<EvictionRequests>,
  { requestOf, actions, onSnapshot }: DrainRequesterActorsOptions,
): DrainRequesterActors => {
  const registry: DrainRequesterActors = actorRegistry(environment, {
    name: 'evictionRequester',
    logic: provideEvictionRequester(
      environment.runtime,
      actions,
      (write) => registry.inFlight(write, WRITES_STOPPED),
    ),
    keyOf: ({ key }: RequesterEntry) => key,
    labelOf: ({ pod: { namespace, name }, requester }) => `${namespace}/${name} ${requester}`,
    input: ({ requester, pod, owners, life }, seed) => ({
      requester,
      pod,
      request: requestOf(pod) ?? null,
      wanted: owners.size > 0,
      life,
      seed,
    }),
    onSnapshot: (entry, { context }) => onSnapshot(entry, context),
    logFields: ({ pod, requester }) => ({ pod: `${pod.namespace}/${pod.name}`, requester }),
  });
  return registry;
};
