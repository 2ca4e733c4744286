/**
 * The `podDemand` statechart with its writes to the API server, its Events on pods and its log
 * lines.
 */
import { Effect } from 'effect';
import { type Actor, fromPromise } from 'xstate';
import type { EventNote, RecordEvent } from '../../api/event-note.ts';
import type { Telemetry } from '../../api/telemetry.ts';
import { problemsText } from '../../domain/demand/reading.ts';
import type { ObjectKey, Uid } from '../../domain/ids.ts';
import type { WriteOutcome } from '../../domain/object-write.ts';
import { pendingRequestWrite } from '../../domain/pod-demand/demand-facts.ts';
import type { OwnedRequest, RequestedPod } from '../../domain/pod-demand/owned-request.ts';
import type { PodWarning } from '../../domain/pod-demand/pod-ask.ts';
import { isOlder } from '../../domain/resource-versions.ts';
import type { Time } from '../../domain/time.ts';
import { PodRequests } from '../../effects/pod-requests.ts';
import type { PodDemandContext, PodRequestAct } from '../../machines/pod-demand-context.ts';
import { podDemand } from '../../machines/pod-demand.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { ActorKind } from '../actor-kind.ts';
import { type EffectRuntime, type WriteInFlight, WRITES_STOPPED } from '../actor-logic.ts';
import { type ActorRegistry, actorRegistry } from '../actor-registry.ts';
import { type ConcurrencyLimit, startConcurrencyLimit } from '../concurrency-limit.ts';
import { warningAggregator } from '../../streams/warning-aggregator.ts';
import type { ObservedFacts, PodEntry, PodIndex } from '../../domain/pod-demand/pod-index.ts';

/** The actions of the statechart. */
export interface PodDemandActions {
  readonly requestSlot: (context: PodDemandContext) => void;
  readonly recordRefused: (context: PodDemandContext) => void;
  readonly recordFailing: (context: PodDemandContext) => void;
}

/** The statechart, provided once for all pods. */
export const providePodDemand = (
  runtime: EffectRuntime<PodRequests>,
  actions: PodDemandActions,
  inFlight: WriteInFlight,
): typeof podDemand => {
  const write = (verb: keyof PodRequests['Service']) =>
    fromPromise<WriteOutcome<OwnedRequest>, PodRequestAct>(({ input, signal }) =>
      runtime.runPromise(
        Effect.flatMap(PodRequests, (requests) => inFlight(requests[verb](input))),
        { signal },
      )
    );
  return podDemand.provide({
    actors: {
      createRequest: write('create'),
      updateRequest: write('update'),
      stampRequest: write('stamp'),
      deleteRequest: write('remove'),
    },
    actions: {
      requestSlot: ({ context }) => actions.requestSlot(context),
      recordRefused: ({ context }) => actions.recordRefused(context),
      recordFailing: ({ context }) => actions.recordFailing(context),
    },
  });
};

/** The Events of pods whose request is not written or is incomplete. */
export interface PodDemandEvents extends Omit<PodDemandActions, 'requestSlot'> {
  /** Records on the pod what its request cannot express; one Event per reason. */
  readonly recordWarnings: (pod: RequestedPod, warnings: readonly PodWarning[]) => void;
}

const regarding = ({ namespace, name, uid }: RequestedPod): EventNote['regarding'] => ({
  apiVersion: 'v1',
  kind: 'Pod',
  namespace,
  name,
  uid,
});

/** Records the Events of pods; `onRefused` is called for pods whose request is refused. */
export const podDemandEvents = (
  { telemetry, time }: { readonly telemetry: Telemetry; readonly time: Time },
  record: RecordEvent,
  onRefused: (pod: Uid) => void,
): PodDemandEvents => {
  const warn = warningAggregator(telemetry, time, 'Cannot write CapacityRequests of pods');
  const recordProblem =
    (reason: EventNote['reason']) => ({ pod, problem }: PodDemandContext): void => {
      warn({ name: `${pod.namespace}/${pod.name}`, reason, problem });
      // A deleted pod gets no Event.
      if (pod.name === '') return;
      const note = `Cannot write its CapacityRequest: ${problem}`;
      record({ regarding: regarding(pod), reason, note });
    };
  const recordRefused = recordProblem('PodRequestRefused');
  return {
    recordRefused: (context) => {
      onRefused(context.pod.uid);
      recordRefused(context);
    },
    recordFailing: recordProblem('PodRequestFailing'),
    recordWarnings: (pod, warnings) => {
      for (const [reason, problems] of Map.groupBy(warnings, (warning) => warning.reason)) {
        record({ regarding: regarding(pod), reason, note: problemsText(problems) });
      }
    },
  };
};

/** Pods whose requests are written at once; the write budget paces them. */
const PODS_AT_ONCE = 32;
/** The maximum number of settled actors that stay active for inspection. */
export const ACTIVE_SETTLED_MAX = 1000;

type Machine = typeof podDemand;
export type PodActor = Actor<Machine>;

/** True when the pod is gone and its requests still exist. */
const isLeaving = ({ status, requests }: ObservedFacts): boolean =>
  status === 'Gone' && requests.length > 0;

/** What the actors read, and where they record. */
export interface PodDemandActorsOptions {
  readonly index: PodIndex;
  readonly request: (key: ObjectKey) => OwnedRequest | undefined;
  readonly events: Pick<PodDemandEvents, 'recordRefused' | 'recordFailing'>;
  /** True while this process leads and its lists are current; nothing is written otherwise. */
  readonly isActive: () => boolean;
}

/** The actors of all pods' requests. */
export interface PodDemandActors {
  readonly actors: () => Iterable<PodActor>;
  readonly get: (uid: Uid) => PodActor | undefined;
  /** Feeds an active actor; activates a passive one when a write is pending. */
  readonly consider: (pod: PodEntry) => void;
  /** A request of the pod is gone. */
  readonly onVanished: (pod: PodEntry, uid: Uid) => void;
  /** Passivates actors that await no answer and whose knowledge is in the caches. */
  readonly onWritingEnded: () => void;
  readonly counts: () => Readonly<Record<string, number>>;
  readonly idle: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

class PodActors implements PodDemandActors {
  readonly #environment: ActorEnvironment<PodRequests>;
  readonly #options: PodDemandActorsOptions;
  readonly #registry: ActorRegistry<Machine, PodEntry>;
  readonly #slots: ConcurrencyLimit<PodEntry>;

  constructor(environment: ActorEnvironment<PodRequests>, options: PodDemandActorsOptions) {
    this.#environment = environment;
    this.#options = options;
    this.#registry = actorRegistry(environment, this.#kind());
    this.#slots = startConcurrencyLimit<PodEntry>({
      atOnce: PODS_AT_ONCE,
      keyOf: ({ uid }) => uid,
      activate: (pod) => this.#activate(pod),
      onInUse: (count) => environment.telemetry.gauge('tidegate_pod_demands_writing', count),
    });
  }

  readonly actors = () => this.#registry.actors();
  readonly get = (uid: Uid) => this.#registry.get(uid);
  readonly counts = () => this.#registry.counts();
  readonly idle = () => this.#slots.idle();

  readonly consider = (pod: PodEntry): void => {
    if (this.get(pod.uid) !== undefined || this.#options.isActive()) {
      this.#registry.consider(pod);
    } else if (this.#registry.has(pod.uid)) this.#registry.passivate(pod);
    else this.#options.index.forget(pod);
  };

  readonly onVanished = (pod: PodEntry, uid: Uid): void => {
    this.get(pod.uid)?.send({ type: 'request.vanished', uid });
    this.consider(pod);
  };

  readonly onWritingEnded = (): void => {
    for (const pod of [...this.#options.index.entries()]) {
      const actor = this.get(pod.uid);
      if (actor === undefined) this.#registry.passivate(pod);
      // A write in flight still awaits its answer, which the next term needs.
      else if (!actor.getSnapshot().hasTag('acting')) this.#registry.passivateIfSafe(pod);
    }
  };

  readonly stop = (): Promise<void> => {
    this.#slots.stop();
    return this.#registry.stop();
  };

  #kind(): ActorKind<Machine, PodEntry> {
    const { index, isActive } = this.#options;
    const { telemetry } = this.#environment;
    return {
      name: 'podDemand',
      logic: this.#provided(),
      keyOf: ({ uid }) => uid,
      input: (pod, seed) => {
        const facts = index.facts(pod);
        const isNeeded = this.#isWritePending(pod, facts) || isLeaving(facts);
        return isNeeded ? { pod: index.podOf(pod), facts, seed } : undefined;
      },
      observe: (pod, actor) => this.#observe(pod, actor),
      onCount: (state, count) => telemetry.gauge('tidegate_pod_demands', count, { state }),
      logFields: ({ uid, pod }) => ({ pod: pod?.key ?? uid }),
      passivation: {
        activeMax: ACTIVE_SETTLED_MAX,
        isPending: (pod) => {
          if (!isActive()) return false;
          const facts = index.facts(pod);
          return this.#isWritePending(pod, facts) || isLeaving(facts);
        },
        isSafe: (pod, { context }) => this.#isCached(pod, context),
        isOver: (snapshot) => snapshot.matches('absent'),
        onPending: (pod) => this.#onPending(pod),
        isForgotten: (pod) => index.forget(pod),
      },
    };
  }

  #provided(): Machine {
    const { index, events, isActive } = this.#options;
    return providePodDemand(
      this.#environment.runtime,
      {
        recordRefused: events.recordRefused,
        recordFailing: (context) => {
          // Between two terms of leadership nothing can be written; that is no problem of a pod.
          if (isActive()) events.recordFailing(context);
        },
        requestSlot: ({ pod: { uid } }) => {
          const pod = index.get(uid);
          if (pod !== undefined) this.#slots.request(pod);
        },
      },
      (write) => this.#registry.inFlight(write, WRITES_STOPPED),
    );
  }

  #isWritePending(pod: PodEntry, facts: ObservedFacts): boolean {
    return pendingRequestWrite(this.#options.index.podOf(pod), facts) !== undefined;
  }

  /** A deleted pod has nothing to write yet: it waits for the garbage collector. */
  #onPending(pod: PodEntry): void {
    if (isLeaving(this.#options.index.facts(pod))) this.#registry.activate(pod);
    else this.#slots.request(pod);
  }

  /** The pod may have been removed and added again since it requested its slot. */
  #activate({ uid }: PodEntry): PodActor | undefined {
    const pod = this.#options.index.get(uid);
    return pod && this.#options.isActive() ? this.#registry.activate(pod) : undefined;
  }

  /** True when the caches have all the actor's knowledge. */
  #isCached(pod: PodEntry, { facts, gone }: PodDemandContext): boolean {
    const { request, index } = this.#options;
    return facts.requests.every(({ key, uid, resourceVersion }) => {
      const cached = request(key);
      return cached?.uid === uid && !isOlder(cached.resourceVersion, resourceVersion);
    }) && index.facts(pod).requests.every(({ uid }) => !gone.includes(uid));
  }

  /** Known requests that lost our label and owner reference. */
  #lost({ uid: owner }: PodEntry, known: readonly OwnedRequest[]): readonly OwnedRequest[] {
    return known.flatMap(({ key, uid }) => {
      const current = this.#options.request(key);
      return current?.uid === uid && current.pod !== owner ? [current] : [];
    });
  }

  #observe(pod: PodEntry, actor: PodActor): void {
    const known = actor.getSnapshot().context.facts;
    const { status, text, requests } = this.#options.index.facts(pod);
    const isKnown = status === (known.status === 'Overdue' ? 'Gone' : known.status);
    if (!isKnown || text !== known.text) {
      actor.send({ type: 'pod.observed', status, text });
    }
    for (const request of [...requests, ...this.#lost(pod, known.requests)]) {
      const before = known.requests.find(({ uid }) => uid === request.uid);
      if (before?.resourceVersion !== request.resourceVersion) {
        actor.send({ type: 'request.observed', request });
      }
    }
    // A slot that became free between two terms of leadership was not granted.
    if (this.#registry.stateOf(pod.uid) === 'waiting') this.#slots.request(pod);
  }
}

/** The actors of an index of pods; none is active at first. */
export const podDemandActors = (
  environment: ActorEnvironment<PodRequests>,
  options: PodDemandActorsOptions,
): PodDemandActors => new PodActors(environment, options);
