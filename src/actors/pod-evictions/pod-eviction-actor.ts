/**
 * The actor of one pod that must leave: the `podEviction` statechart with its eviction request,
 * connected to the dispatcher, its budget and the circuit.
 *
 * Promises: preconditions are checked right before the first byte: the pod was not released, is not
 * terminating, holds the slot that it needs, and still has the name; a crashed actor releases what
 * it held.
 */
import { Effect } from 'effect';
import { fromPromise } from 'xstate';
import { refusalBackoffMs } from '../../domain/backoff.ts';
import type { EvictionOutcome } from '../../domain/drain/answer.ts';
import { untilLastTryMs } from '../../domain/drain/deadline.ts';
import { sameFacts } from '../../domain/drain/pod-facts.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import { type ObjectKey, type Uid, uid as uidOf } from '../../domain/ids.ts';
import { type EvictionCall, PodEvictionApi } from '../../effects/pod-eviction-api.ts';
import type { SlotAnswer } from '../../machines/budget.ts';
import { podEviction } from '../../machines/pod-eviction.ts';
import type { PodEvictionAct, PodEvictionContext } from '../../machines/pod-eviction-context.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { Defer, EffectRuntime } from '../actor-logic.ts';
import { type ActorRegistry, actorRegistry, innermostState } from '../actor-registry.ts';
import type { Budgets } from './budget-actor.ts';
import type { EvictionCircuit } from './eviction-circuit-actor.ts';
import type { EvictionDispatcher } from './eviction-dispatcher.ts';
import type { ServingGateRegistry } from './serving-gates.ts';
import type { EvictionEntry, EvictionIndex } from '../../domain/drain/eviction-index.ts';

export type PodEvictionActors = ActorRegistry<typeof podEviction, EvictionEntry>;

/** The side effects of a pod's statechart. */
export interface PodEvictionActions {
  readonly awaitDispatch: (context: PodEvictionContext) => void;
  readonly cancelDispatch: (context: PodEvictionContext) => void;
  /** Frees its place in the dispatcher, which may choose another pod meanwhile. */
  readonly leaveBackends: (context: PodEvictionContext) => void;
  readonly stayInBackends: (context: PodEvictionContext) => void;
  readonly reportAnswer: (context: PodEvictionContext) => void;
  /** Until the next of the last tries before the deadline; `Infinity` without one. */
  readonly untilLastTryMs: (context: PodEvictionContext) => number;
  /** The eviction request, and its precondition. */
  readonly callOf: (act: PodEvictionAct) => EvictionCall;
  /** Counts the eviction while it is in flight. */
  readonly inFlight: (
    eviction: Effect.Effect<EvictionOutcome>,
  ) => Effect.Effect<EvictionOutcome>;
}

/** The statechart with its implementations. */
export const providePodEviction = (
  runtime: EffectRuntime<PodEvictionApi>,
  actions: PodEvictionActions,
): typeof podEviction =>
  podEviction.provide({
    actors: {
      evictPod: fromPromise<EvictionOutcome, PodEvictionAct>(({ input, signal }) =>
        runtime.runPromise(
          Effect.flatMap(
            PodEvictionApi,
            (evictions) => actions.inFlight(evictions.evict(actions.callOf(input))),
          ),
          { signal },
        )
      ),
    },
    actions: {
      awaitDispatch: ({ context }) => actions.awaitDispatch(context),
      cancelDispatch: ({ context }) => actions.cancelDispatch(context),
      leaveBackends: ({ context }) => actions.leaveBackends(context),
      stayInBackends: ({ context }) => actions.stayInBackends(context),
      reportAnswer: ({ context }) => actions.reportAnswer(context),
    },
    delays: {
      refusalBackoff: ({ context }) =>
        Math.min(refusalBackoffMs(context.attempt), actions.untilLastTryMs(context)),
    },
  });

/** The effect of an outcome on the slot of the eviction. */
const slotAnswer = ({ _tag }: EvictionOutcome): SlotAnswer => {
  switch (_tag) {
    // The API server checks the UID after it has charged the budget.
    case 'OtherPod':
    case 'Accepted':
      return 'Accepted';
    case 'BudgetExhausted':
    case 'BudgetUnsettled':
      return 'BudgetRefused';
    case 'Unknown':
      return 'Unknown';
    default:
      return 'Declined';
  }
};

/** The dependencies of pod actors. */
export interface PodEvictionActorOptions {
  readonly index: EvictionIndex;
  readonly budgets: Budgets;
  readonly dispatcher: EvictionDispatcher;
  readonly circuit: EvictionCircuit;
  readonly gates: Pick<ServingGateRegistry, 'close' | 'open'>;
  readonly defer: Defer;
  /** The current pod of this name. */
  readonly cached: (key: ObjectKey) => DrainPod | undefined;
  readonly isStopped: () => boolean;
  /** The eviction of a pod of this node was accepted. */
  readonly onAccepted: (node: string) => void;
  /** The state of a pod of this node changed. */
  readonly onChange: (node: string) => void;
  /** Nobody wants the pod to leave any more, and no call about it is in flight. */
  readonly onReleased: (pod: Uid) => void;
}

type Options = PodEvictionActorOptions & { readonly registry: () => PodEvictionActors };

/** The precondition, checked before the first byte. */
const mayLeave = (options: Options, entry: EvictionEntry): boolean => {
  const { index, budgets, cached, isStopped, dispatcher } = options;
  const current = cached(entry.pod.key);
  const { need, intercepted } = index.factsOf(entry);
  // A pod that became ready while its eviction waited needs a slot that it did not need before.
  const hasSlot = need._tag === 'None' || (need._tag === 'One' && budgets.isInFlight(entry.uid));
  const may = !isStopped() && entry.requests.size > 0 && current?.uid === entry.uid &&
    !current.terminating && !intercepted && hasSlot;
  entry.withheld = !may;
  if (may) dispatcher.sent(entry.uid);
  return may;
};

const awaitDispatch = (options: Options, { uid, facts }: PodEvictionContext): void => {
  const { index, budgets, dispatcher, isStopped, registry } = options;
  const entry = index.get(uidOf(uid));
  const actor = registry().get(uid);
  if (isStopped() || entry === undefined || actor === undefined) return;
  const state = facts.need._tag === 'One' ? 'queued' : 'asking';
  const waiter = {
    candidate: () => actor.getSnapshot().matches(state) ? index.candidateOf(entry) : undefined,
    actor,
  };
  if (state === 'asking') return dispatcher.awaitDispatch(entry.uid, index.queueOf(entry), waiter);
  const [budget] = index.budgetsOf(entry);
  if (budget === undefined) return;
  dispatcher.awaitSlot(entry.uid, waiter);
  budgets.queue(budget, entry.uid);
};

/** Outcomes after which the pod does not come back to its Services. */
const LEFT: ReadonlySet<EvictionOutcome['_tag']> = new Set(['Accepted', 'Gone', 'OtherPod']);

const actionsOf = (options: Options): PodEvictionActions => {
  const { index, budgets, dispatcher, circuit, gates, registry } = options;
  return {
    awaitDispatch: (context) => awaitDispatch(options, context),
    cancelDispatch: ({ uid }) => {
      dispatcher.cancel(uidOf(uid));
      budgets.unqueue(uidOf(uid));
    },
    leaveBackends: ({ uid }) => {
      const entry = index.get(uidOf(uid));
      if (entry !== undefined) gates.close(entry.pod);
      dispatcher.done(uidOf(uid));
      circuit.postponed();
    },
    stayInBackends: ({ uid }) => {
      gates.open(uidOf(uid));
      budgets.answered(uidOf(uid), 'Declined');
    },
    reportAnswer: ({ uid, outcome }) => {
      const entry = index.get(uidOf(uid));
      if (entry === undefined || outcome === null) return;
      budgets.answered(entry.uid, slotAnswer(outcome));
      dispatcher.done(entry.uid);
      circuit.answered(outcome, entry.withheld);
      if (!LEFT.has(outcome._tag)) gates.open(entry.uid);
      if (outcome._tag === 'Accepted') options.onAccepted(entry.node);
    },
    untilLastTryMs: ({ uid }) => {
      const entry = index.get(uidOf(uid));
      return entry === undefined ? Number.POSITIVE_INFINITY : untilLastTryMs(index.leftMs(entry));
    },
    callOf: (act) => {
      const entry = index.get(uidOf(act.uid));
      if (entry !== undefined) entry.withheld = false;
      return {
        namespace: entry?.pod.namespace ?? '',
        name: entry?.pod.name ?? '',
        uid: act.uid,
        graceSeconds: entry?.terms.graceSeconds ?? null,
        mayLeave: () => entry !== undefined && mayLeave(options, entry),
      };
    },
    inFlight: (eviction) =>
      registry().inFlight(eviction, { _tag: 'NotSent', why: 'this process is stopping' }),
  };
};

/** Removes the pod: nothing more happens to it. */
export const forgetPod = (options: PodEvictionActorOptions, uid: Uid): void => {
  const { index, budgets, dispatcher } = options;
  const entry = index.get(uid);
  if (entry === undefined) return;
  if (!entry.departed) budgets.departed(uid);
  for (const { key } of index.remove(entry)) budgets.review(key);
  budgets.forget(uid);
  dispatcher.cancel(uid);
  dispatcher.done(uid);
  options.onChange(entry.node);
};

/** The actors of all pods that must leave. */
export const podEvictionActors = (
  environment: ActorEnvironment<PodEvictionApi>,
  options: PodEvictionActorOptions,
): PodEvictionActors => {
  const { index, budgets, dispatcher, defer, cached, onChange } = options;
  const forget = (entry: EvictionEntry): void => {
    if (cached(entry.pod.key)?.uid === entry.uid) return;
    forgetPod(options, entry.uid);
    registry.remove(entry.uid);
  };
  const registry: PodEvictionActors = actorRegistry(environment, {
    name: 'podEviction',
    logic: providePodEviction(
      environment.runtime,
      actionsOf({ ...options, registry: () => registry }),
    ),
    keyOf: ({ uid }: EvictionEntry) => uid,
    labelOf: ({ pod }) => pod.key,
    input: (entry, seed) => {
      entry.facts = index.factsOf(entry);
      const { uid, node, facts, pod: { key } } = entry;
      return { uid, key, node, facts, seed };
    },
    onStart: ({ requests }, actor) => {
      if (requests.size === 0) actor.send({ type: 'eviction.released' });
    },
    observe: (entry, actor) => {
      if (entry.state === 'gone') return;
      const facts = index.factsOf(entry);
      // Any event of the pod ends the wait of `unsettled`.
      if (sameFacts(facts, entry.facts) && entry.state !== 'unsettled') return;
      entry.facts = facts;
      actor.send({ type: 'pod.observed', facts });
    },
    onSnapshot: (entry, { value }) => {
      const state = innermostState(value);
      if (state === entry.state) return;
      entry.state = state;
      onChange(entry.node);
      // After its last report.
      if (state === 'gone') defer(() => forget(entry));
      if (state === 'released') options.onReleased(entry.uid);
    },
    onCrash: ({ uid }) => {
      dispatcher.cancel(uid);
      budgets.unqueue(uid);
      budgets.answered(uid, 'Unknown');
      dispatcher.done(uid);
      options.circuit.postponed();
      options.gates.open(uid);
    },
    onCount: (state, count) =>
      environment.telemetry.gauge('tidegate_pod_evictions', count, { state }),
    logFields: ({ pod }) => ({ pod: pod.key }),
  });
  return registry;
};
