/**
 * The `evictionRequest` statechart with its writes to the API server, its Events and the eviction
 * of its pod.
 *
 * Promises: an Event says what the status shows, after it was written; a crashed actor asks for no
 * eviction.
 */
import { Effect } from 'effect';
import { fromPromise } from 'xstate';
import type { EventNote, RecordEvent } from '../../api/event-note.ts';
import { LIFECYCLE_GROUP_VERSION } from '../../domain/api-group.ts';
import type { EvictionProgress } from '../../domain/eviction-requests/imperative-report.ts';
import type { InterceptorTiming } from '../../domain/eviction-requests/interceptor-deadline.ts';
import type { ObservedRequest } from '../../domain/eviction-requests/observed-request.ts';
import { nativeSubjectOf } from '../../domain/native-evictions/joined-request.ts';
import type { TargetPod } from '../../domain/eviction-requests/target-pod.ts';
import { type ObjectKey, objectKey } from '../../domain/ids.ts';
import { EvictionRequests } from '../../effects/eviction-requests.ts';
import type {
  EvictionRequestAct,
  EvictionRequestAnswer,
  EvictionRequestContext,
} from '../../machines/eviction-request-context.ts';
import { evictionRequest } from '../../machines/eviction-request.ts';
import { warningAggregator } from '../../streams/warning-aggregator.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import {
  type EffectRuntime,
  UNABORTED,
  type WriteInFlight,
  WRITES_STOPPED,
} from '../actor-logic.ts';
import { type ActorRegistry, actorRegistry, innermostState } from '../actor-registry.ts';
import type { RequestMetrics } from './request-metrics.ts';

/** The actions of the statechart. */
export interface EvictionRequestActions {
  readonly requestSlot: (context: EvictionRequestContext) => void;
  readonly recordRefused: (context: EvictionRequestContext) => void;
  readonly recordFailing: (context: EvictionRequestContext) => void;
  readonly wantEviction: (context: EvictionRequestContext) => void;
  readonly releaseEviction: (context: EvictionRequestContext) => void;
  /** A write landed: records what it changed. */
  readonly onWritten: (act: EvictionRequestAct) => void;
  /** The time of day. */
  readonly now: () => number;
}

/** The statechart, provided once for all requests. */
export const provideEvictionRequest = (
  runtime: EffectRuntime<EvictionRequests>,
  actions: EvictionRequestActions,
  inFlight: WriteInFlight,
): typeof evictionRequest => {
  const write = fromPromise<EvictionRequestAnswer, EvictionRequestAct>(
    async ({ input }) => {
      const outcome = await runtime.runPromise(
        Effect.flatMap(
          EvictionRequests,
          (requests) => inFlight(requests.write(input.request, input.write)),
        ),
        // A request that is deleted before the answer has its Event, too.
        { signal: UNABORTED },
      );
      if (outcome._tag === 'Written') actions.onWritten({ ...input, request: outcome.current });
      return { ...outcome, nowMs: actions.now() };
    },
  );
  return evictionRequest.provide({
    actors: {
      setStatus: write,
      setLabels: write,
      reportProgress: write,
      removeRequest: write,
    },
    actions: {
      requestSlot: ({ context }) => actions.requestSlot(context),
      recordRefused: ({ context }) => actions.recordRefused(context),
      recordFailing: ({ context }) => actions.recordFailing(context),
      wantEviction: ({ context }) => actions.wantEviction(context),
      releaseEviction: ({ context }) => actions.releaseEviction(context),
    },
  });
};

const regarding = (request: ObservedRequest): EventNote['regarding'] => {
  const { namespace, name, uid } = request;
  return nativeSubjectOf(request) ?? {
    apiVersion: LIFECYCLE_GROUP_VERSION,
    kind: 'EvictionRequest',
    namespace,
    name,
    uid,
  };
};

/** The Events of requests. */
export const evictionRequestEvents = (
  { telemetry, time }: Pick<ActorEnvironment<never>, 'telemetry' | 'time'>,
  record: RecordEvent,
): Pick<EvictionRequestActions, 'recordRefused' | 'recordFailing' | 'onWritten'> => {
  const warn = warningAggregator(telemetry, time, 'Cannot write EvictionRequests');
  const recordProblem =
    (reason: EventNote['reason']) => ({ facts, problem }: EvictionRequestContext): void => {
      const { request } = facts;
      warn({ name: request.key, reason, problem });
      record({ regarding: regarding(request), reason, note: `Cannot write it: ${problem}` });
    };
  return {
    recordRefused: recordProblem('EvictionRequestRefused'),
    recordFailing: recordProblem('EvictionRequestFailing'),
    onWritten: ({ request, write }) => {
      if (write.write !== 'setStatus') return;
      for (const { reason, text } of write.notes) {
        record({ regarding: regarding(request), reason, note: text });
      }
    },
  };
};

type Machine = typeof evictionRequest;

/** States of a request whose last write failed. */
const RETRYING: ReadonlySet<string> = new Set(['backingOff', 'setAside', 'refused']);

/** An open request. */
export interface RequestEntry {
  /** The UID of the request: a later request of the same name is another one. */
  readonly uid: string;
  request: ObservedRequest;
  /** The state of its actor. */
  state: string;
  /** The node from which the dispatcher evicts its pod for it; null while it does not. */
  evictingOn: string | null;
}

/** What the actors read, and what they do. */
export interface EvictionRequestActorsOptions {
  readonly timing: InterceptorTiming;
  readonly ttlMs: number | null;
  readonly podOf: (request: ObservedRequest) => TargetPod | null;
  readonly progressOf: (request: ObservedRequest) => EvictionProgress;
  readonly actions: Omit<EvictionRequestActions, 'now'>;
  /** The actor is gone without having released its eviction. */
  readonly onLost: (entry: RequestEntry) => void;
  /** Nothing of the request is left to write, unless it is deleted after a time. */
  readonly onEnded: (entry: RequestEntry) => void;
  readonly metrics: Pick<RequestMetrics, 'observe'>;
}

export type EvictionRequestActors = ActorRegistry<Machine, RequestEntry>;

/** The actors of all open requests. */
export const evictionRequestActors = (
  environment: ActorEnvironment<EvictionRequests>,
  options: EvictionRequestActorsOptions,
): EvictionRequestActors => {
  const { telemetry, time, runtime } = environment;
  const { podOf, progressOf } = options;
  const registry: EvictionRequestActors = actorRegistry(environment, {
    name: 'evictionRequest',
    logic: provideEvictionRequest(
      runtime,
      { ...options.actions, now: time.now },
      (write) => registry.inFlight(write, WRITES_STOPPED),
    ),
    keyOf: ({ uid }: RequestEntry) => uid,
    labelOf: ({ request }) => request.key,
    input: ({ request }, seed) => {
      return {
        request,
        pod: podOf(request),
        progress: progressOf(request),
        timing: options.timing,
        ttlMs: options.ttlMs,
        nowMs: time.now(),
        seed,
      };
    },
    observe: ({ request }, actor) =>
      actor.send({ type: 'request.observed', request, nowMs: time.now() }),
    stateOf: ({ value }) => innermostState(value.status),
    onSnapshot: (entry, { value, context }) => {
      const state = innermostState(value.status);
      if (state !== entry.state && RETRYING.has(state)) {
        telemetry.count('workqueue_retries_total', 1, { name: 'evictionrequests' });
      }
      entry.state = state;
      const { facts, refusedBefore, progress } = context;
      options.metrics.observe(facts.request, refusedBefore + progress.refusals);
      if (state === 'ended') options.onEnded(entry);
    },
    onCrash: options.onLost,
    onCount: (state, count) => telemetry.gauge('tidegate_eviction_requests', count, { state }),
    logFields: ({ request }) => ({ evictionRequest: request.key, pod: request.pod.name }),
  });
  return registry;
};

/** The key of the pod of a request. */
export const podKeyOf = ({ namespace, pod }: ObservedRequest): ObjectKey =>
  objectKey(pod.name, namespace);
