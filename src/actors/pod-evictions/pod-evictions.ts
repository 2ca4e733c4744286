/**
 * The pods that must leave, from the first request of a drain's owner until they are gone.
 *
 * Promises: no eviction is sent before the budgets are listed; a pod must leave while one owner
 * requests it, and is forgotten when none does and its slot is free again; budgets observe a change
 * after the pods that they cover; a sent eviction always completes, and `settled` waits for it.
 */
import { type Observable, Subscription } from 'rxjs';
import type { Blocker, BlockerReason } from '../../domain/drain/blocker.ts';
import type { Budget } from '../../domain/drain/budget.ts';
import type { DrainOwner } from '../../domain/drain/cordon.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { EvictionOwner, EvictionRequest } from '../../domain/drain/eviction-request.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import type { Fact } from '../../domain/facts.ts';
import { objectKey, type Uid } from '../../domain/ids.ts';
import type { ServingGates } from '../../effects/serving-gates.ts';
import type { PodEvictionApi } from '../../effects/pod-eviction-api.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { deferredSends } from '../actor-logic.ts';
import { Budgets } from './budget-actor.ts';
import { EvictionCircuit } from './eviction-circuit-actor.ts';
import { EvictionDispatcher } from './eviction-dispatcher.ts';
import { RolloutIndex } from '../../domain/drain/rollouts.ts';
import { NodeChanges, NodeEvictions } from './node-changes.ts';
import { ServingGateRegistry } from './serving-gates.ts';
import { type EvictionEntry, EvictionIndex } from '../../domain/drain/eviction-index.ts';
import type { PodEvictionsOptions } from './pod-evictions-options.ts';
import {
  forgetPod,
  type PodEvictionActorOptions,
  type PodEvictionActors,
  podEvictionActors,
} from './pod-eviction-actor.ts';

export type { EvictionRequest } from '../../domain/drain/eviction-request.ts';

/** Why a pod of a drain remains, and the progress of its eviction. */
export interface PodEvictionStatus extends Blocker {
  /** The state of its statechart: `queued`, `calling`, `terminating`, … */
  readonly state: string;
  /** An eviction of it was accepted, from any client. */
  readonly accepted: boolean;
  /** An eviction of it was sent, or is about to be, and has no answer yet. */
  readonly inFlight: boolean;
  /** How long its budgets have given no slot to any drain, while it waits. */
  readonly noSlotMs: number;
  /** Calls of this process that did not let it leave. */
  readonly refusals: number;
}

/** The status that a drain reads for each pod at every change, so it must be cheap. */
export interface PodProgress {
  readonly accepted: boolean;
  /** Why its eviction is impossible (`EvictionForbidden`); empty when possible. */
  readonly refusal: string;
}

/** The interface of evictions for drains. */
export interface PodEvictions {
  /** An owner requests that this pod leaves; idempotent. */
  readonly want: (pod: DrainPod, request: EvictionRequest) => void;
  /** The owner's deadline on this node is earlier now; monotonic milliseconds (DR-34). */
  readonly bringForward: (
    node: string,
    owner: DrainOwner,
    deadlineMonotonicMs: EvictionRequest['deadlineMonotonicMs'],
  ) => void;
  /** The owner requests nothing more on this node; a sent eviction completes. */
  readonly release: (node: string, owner: DrainOwner) => void;
  /** This owner requests the pod no more; a sent eviction completes. */
  readonly withdraw: (uid: Uid, owner: EvictionOwner) => void;
  /** `undefined` when no owner requested it, or it is gone. */
  readonly statusOf: (uid: Uid) => PodEvictionStatus | undefined;
  /** `undefined` when no owner requested it, or it is gone. */
  readonly progress: (uid: Uid) => PodProgress | undefined;
  /** The node of a pod whose status changed. */
  readonly changes: Observable<string>;
  /** The node of a pod whose progress may have changed; a budget's steps change only the status. */
  readonly progressed: Observable<string>;
  /** Resolves when every sent eviction has its answer. */
  readonly settled: () => Promise<void>;
}

const FORBIDDEN: BlockerReason = 'EvictionForbidden';

/** All evictions of a process. */
export class PodEvictionRegistry implements PodEvictions {
  /** The readiness gates of pods. */
  readonly gates: ServingGateRegistry;
  readonly #options: PodEvictionsOptions;
  readonly #index: EvictionIndex;
  readonly #nodeChanges = new NodeChanges();
  readonly changes: Observable<string> = this.#nodeChanges.changes;
  readonly progressed: Observable<string> = this.#nodeChanges.progressed;
  readonly #dispatcher: EvictionDispatcher;
  readonly #circuit: EvictionCircuit;
  readonly #budgets: Budgets;
  readonly #actorOptions: PodEvictionActorOptions;
  readonly #registry: PodEvictionActors;
  readonly #rollouts = new RolloutIndex();
  readonly #subscription = new Subscription();
  /** Pods that nobody wants, and that may have taken a slot. */
  readonly #withSlot = new Set<Uid>();
  #budgetsKnown = false;
  #isStopped = false;

  constructor(
    environment: ActorEnvironment<PodEvictionApi | ServingGates>,
    options: PodEvictionsOptions,
  ) {
    const { pods, budgets, nodes, callsPerBudget = 1 } = options;
    const { time, telemetry } = environment;
    const defer = deferredSends(telemetry);
    const evicted = new NodeEvictions(telemetry, nodes);
    this.#subscription.add(evicted.subscription);
    this.#options = options;
    this.gates = new ServingGateRegistry(environment, { pods });
    this.#index = new EvictionIndex({
      isServing: this.gates.isServing,
      isGateHeld: this.gates.isHeld,
      isOutdated: this.#rollouts.isOutdated,
      isKubeletSilent: (node) => nodes.get(objectKey(node))?.kubeletSilent === true,
      now: time.now,
      monotonic: time.monotonic,
      cached: pods.get,
      interceptionOf: (uid) => options.requested?.blockerOf(uid),
    });
    this.#dispatcher = new EvictionDispatcher({
      now: time.monotonic,
      isCircuitClosed: () => this.#circuit.isClosed(),
      slots: {
        offerOf: (key) => this.#budgets.offerOf(key),
        acquireSlot: (key, pod) => this.#budgets.acquireSlot(key, pod),
        declineSlot: (key) => this.#budgets.declineSlot(key),
      },
    });
    this.#circuit = new EvictionCircuit(environment, {
      defer,
      dispatchOne: this.#dispatcher.dispatchOne,
      onChange: () => this.#circuitChanged(),
    });
    this.#budgets = new Budgets(environment, {
      progress: budgets.progress,
      callsPerBudget,
      defer,
      isCovering: this.#index.isCovering,
      onOffer: this.#dispatcher.offer,
      onMoved: (key, stateChanged) => {
        this.#dispatcher.budgetMoved(key);
        this.#withSlot.forEach(this.#forgetReleased);
        if (stateChanged) this.#nodeChanges.addBlockers(this.#index.coveredBy(key));
      },
    });
    this.#actorOptions = {
      index: this.#index,
      budgets: this.#budgets,
      dispatcher: this.#dispatcher,
      circuit: this.#circuit,
      gates: this.gates,
      defer,
      cached: pods.get,
      isStopped: () => this.#isStopped,
      onAccepted: evicted.add,
      onChange: this.#nodeChanges.add,
      onReleased: this.#forgetReleased,
    };
    this.#registry = podEvictionActors(environment, this.#actorOptions);
    this.#circuit.start();
    this.#follow(options);
  }

  readonly want = (pod: DrainPod, request: EvictionRequest): void => {
    const { owner } = request;
    if (owner !== 'eviction-request' && !this.#isStopped) this.#options.requested?.want(pod, owner);
    const known = this.#index.get(pod.uid);
    if (known === undefined) {
      if (this.#isStopped || this.#options.pods.get(pod.key)?.uid !== pod.uid) return;
      const entry = this.#index.add(pod, request);
      if (this.#budgetsKnown) this.#registry.consider(entry);
      return;
    }
    const wasReleased = known.requests.size === 0;
    this.#request(known, request);
    this.#observe(known);
    if (!wasReleased) return;
    this.#budgets.wanted(pod.uid);
    this.#registry.get(pod.uid)?.send({ type: 'eviction.wanted' });
  };

  readonly bringForward: PodEvictions['bringForward'] = (node, owner, deadlineMonotonicMs) => {
    for (const entry of this.#index.ofNode(node)) {
      const request = entry.requests.get(owner);
      if (request !== undefined) this.#request(entry, { ...request, deadlineMonotonicMs });
    }
  };

  readonly release = (node: string, owner: DrainOwner): void => {
    for (const { uid } of this.#index.ofNode(node)) this.withdraw(uid, owner);
  };

  readonly withdraw: PodEvictions['withdraw'] = (uid, owner) => {
    if (owner !== 'eviction-request') this.#options.requested?.withdraw(uid, owner);
    const entry = this.#index.get(uid);
    if (entry === undefined) return;
    if (this.#index.withdraw(entry, owner)) this.#released(entry);
    else this.#observe(entry);
  };

  readonly statusOf = (uid: Uid): PodEvictionStatus | undefined => {
    const entry = this.#index.get(uid);
    if (entry === undefined) return undefined;
    const snapshot = this.#registry.get(uid)?.getSnapshot();
    const isHeldUp = snapshot?.matches('heldUp') === true;
    const { attempt = 0, accepted = false } = snapshot?.context ?? {};
    const blocker = this.#index.blockerOf(entry, isHeldUp ? snapshot.context.outcome : null);
    const fallback = this.#options.requested?.fallbackOf(uid) ?? '';
    return {
      ...blocker,
      ...(fallback === '' ? {} : { text: `${blocker.text}; not asked: ${fallback}` }),
      ...(this.#isNext(entry) ? this.#circuit.problem() : undefined),
      state: entry.state,
      accepted: this.#isAccepted(entry),
      inFlight: entry.state === 'calling',
      noSlotMs: this.#index.noSlotMs(entry),
      refusals: accepted ? Math.max(0, attempt - 1) : attempt,
    };
  };

  readonly progress = (uid: Uid): PodProgress | undefined => {
    const entry = this.#index.get(uid);
    if (entry === undefined) return undefined;
    const snapshot = this.#registry.get(uid)?.getSnapshot();
    const accepted = this.#isAccepted(entry);
    if (snapshot?.matches('heldUp') !== true) return { accepted, refusal: '' };
    const { reason, text } = this.#index.blockerOf(entry, snapshot.context.outcome);
    return { accepted, refusal: reason === FORBIDDEN ? text : '' };
  };

  readonly settled = (): Promise<void> => this.#registry.idle();

  readonly actors = () =>
    [this.#registry, this.#budgets, this.gates].flatMap((of) => [...of.actors()]);

  /** Pods that must leave, by state. */
  readonly counts = (): Readonly<Record<string, number>> => this.#registry.counts();

  /** Sends nothing new, waits for what was sent, and ends. */
  readonly stop = async (): Promise<void> => {
    this.#isStopped = true;
    this.#subscription.unsubscribe();
    await this.#registry.stop();
    await Promise.all([this.#budgets.stop(), this.#circuit.stop(), this.gates.stop()]);
  };

  #follow({ pods, budgets, nodes, requested }: PodEvictionsOptions): void {
    const subscriptions = [
      budgets.facts.subscribe((fact) => this.#onBudgets(fact)),
      budgets.progress.subscribe(() => this.#circuit.serverResponded()),
      pods.facts.subscribe((fact) => this.#onPods(fact)),
      nodes.facts.subscribe((fact) => this.#onNodes(fact)),
      this.gates.changes.subscribe((uid) => this.#onRelated(uid)),
      requested?.changes.subscribe((uid) => this.#onRelated(uid)),
    ];
    for (const subscription of subscriptions) this.#subscription.add(subscription);
  }

  /** A pod that was refused is tried again at once when its deadline is earlier now. */
  #request(entry: EvictionEntry, request: EvictionRequest): void {
    const { deadlineMs } = entry.terms;
    this.#index.request(entry, request);
    if (entry.terms.deadlineMs >= deadlineMs) return;
    this.#registry.get(entry.uid)?.send({ type: 'deadline.moved' });
  }

  #released(entry: EvictionEntry): void {
    if (entry.state === 'gone') return;
    this.#registry.get(entry.uid)?.send({ type: 'eviction.released' });
    this.#budgets.released(entry.uid);
  }

  #isAccepted({ uid, pod }: EvictionEntry): boolean {
    return pod.terminating || this.#registry.get(uid)?.getSnapshot().context.accepted === true;
  }

  /** Only the circuit prevents its eviction. */
  #isNext(entry: EvictionEntry): boolean {
    const [budget] = entry.state === 'queued' ? this.#index.budgetsOf(entry) : [];
    return entry.state === 'asking' ||
      (budget !== undefined && this.#budgets.offerOf(budget.key) !== undefined);
  }

  #circuitChanged(): void {
    this.#dispatcher.schedule();
    this.#nodeChanges.addBlockers(this.#index.all());
  }

  /** The registry feeds its actors only after the budgets are listed. */
  #observe(entry: EvictionEntry): void {
    if (this.#registry.has(entry.uid)) this.#registry.consider(entry);
  }

  /** Its request or its gate changed. */
  #onRelated(uid: Uid): void {
    const entry = this.#index.get(uid);
    if (entry === undefined) return;
    this.#observe(entry);
    this.#nodeChanges.add(entry.node);
  }

  #podSeen(pod: DrainPod): void {
    const entry = this.#index.get(pod.uid);
    if (entry === undefined) return;
    this.#index.update(entry, pod);
    if (pod.terminating && !entry.departed) {
      entry.departed = true;
      this.#index.setSlotGiven(entry);
      this.#budgets.departed(pod.uid, pod.resourceVersion);
    }
    // A finished pod runs nothing: there is nothing to evict (DR-20).
    if (pod.finished && entry.requests.size > 0) {
      entry.requests.clear();
      this.#released(entry);
    }
    this.#observe(entry);
  }

  #podGone(last: DrainPod): void {
    const entry = this.#index.get(last.uid);
    if (entry === undefined) return;
    // A list without the pod has no resourceVersion of the deletion.
    const isWatched = last.resourceVersion !== entry.pod.resourceVersion;
    if (!entry.departed) {
      this.#index.setSlotGiven(entry);
      this.#budgets.departed(last.uid, isWatched ? last.resourceVersion : undefined);
    }
    entry.departed = true;
    const actor = this.#registry.get(last.uid);
    if (actor !== undefined && entry.state !== 'gone') return actor.send({ type: 'pod.vanished' });
    this.#actorOptions.defer(() => this.#forget(last.uid));
  }

  #forget(uid: Uid): void {
    forgetPod(this.#actorOptions, uid);
    this.#registry.remove(uid);
  }

  /** Its next drain begins anew; until then a slot that its last call may have taken is held. */
  readonly #forgetReleased = (uid: Uid): void =>
    this.#actorOptions.defer(() => {
      this.#withSlot.delete(uid);
      if (this.#registry.get(uid)?.getSnapshot().matches('released') !== true) return;
      if (this.#budgets.hasSlot(uid)) this.#withSlot.add(uid);
      else this.#forget(uid);
    });

  #budgetSeen(budget: Budget): void {
    for (const entry of this.#index.putBudget(budget)) this.#observe(entry);
    this.#budgets.observe(budget);
  }

  #onPods(fact: Fact<DrainPod>): void {
    this.#circuit.serverResponded();
    if (fact._tag === 'Listed') {
      this.#rollouts.reset(fact.objects);
      for (const pod of fact.objects) this.#podSeen(pod);
    } else if (fact._tag === 'Present') {
      this.#rollouts.put(fact.object);
      this.#podSeen(fact.object);
    } else {
      this.#rollouts.remove(fact.last);
      this.#podGone(fact.last);
    }
  }

  #onBudgets(fact: Fact<Budget>): void {
    if (fact._tag === 'Present') return this.#budgetSeen(fact.object);
    if (fact._tag === 'Absent') {
      for (const entry of this.#index.removeBudget(fact.key)) this.#observe(entry);
      return this.#budgets.vanished(fact.key);
    }
    for (const budget of fact.objects) this.#budgetSeen(budget);
    this.#budgetsKnown = true;
    for (const entry of this.#index.all()) this.#registry.consider(entry);
  }

  #onNodes(fact: Fact<DrainedNode>): void {
    const names = fact._tag === 'Listed'
      ? fact.objects.map(({ name }) => name)
      : [fact._tag === 'Present' ? fact.object.name : fact.key];
    for (const entry of names.flatMap(this.#index.ofNode)) this.#observe(entry);
  }
}

/** Starts without a pod to evict. */
export const startPodEvictions = (
  environment: ActorEnvironment<PodEvictionApi | ServingGates>,
  options: PodEvictionsOptions,
): PodEvictionRegistry => new PodEvictionRegistry(environment, options);
