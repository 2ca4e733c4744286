/**
 * The budgets that cover pods of drains, one actor each: the free slots, and the pods that queue
 * for them.
 *
 * Promises: a budget has an actor while it covers a pod of a drain; a crash keeps the queue and the
 * evictions in flight; watch progress reaches a budget only while it waits for it, so that a
 * thousand budgets cost nothing. The dispatcher decides which pod gets a slot.
 */
import { type Observable, startWith, type Subscription, switchMap, timer } from 'rxjs';
import type { ActorRefFrom, SnapshotFrom } from 'xstate';
import type { Budget } from '../../domain/drain/budget.ts';
import {
  type ObjectKey,
  objectKey,
  type ResourceVersion,
  resourceVersion,
  type Uid,
} from '../../domain/ids.ts';
import {
  budget as budgetChart,
  eligiblePods,
  type SlotAnswer,
  type SlotTaker,
} from '../../machines/budget.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type ActorRegistry, actorRegistry } from '../actor-registry.ts';
import type { Defer } from '../actor-logic.ts';

/** Longer than two bookmarks of the watch (DR-35). */
const SILENCE_MS = 120_000;
/** A departure without a watch event: the reservation ends only by time. */
const NOWHERE = resourceVersion('');
const NO_BUDGET = objectKey('');

export type BudgetActor = ActorRefFrom<typeof budgetChart>;
type BudgetSnapshot = SnapshotFrom<typeof budgetChart>;

/** The inputs of budgets. */
export interface BudgetsOptions {
  /** The progress of the budget watch. */
  readonly progress: Observable<ResourceVersion>;
  readonly callsPerBudget: number;
  readonly defer: Defer;
  /** True while the budget covers a pod that must leave. */
  readonly isCovering: (key: ObjectKey) => boolean;
  /** A slot is free. */
  readonly onOffer: (key: ObjectKey) => void;
  /** The budget changed; `stateChanged` when it is in another state. */
  readonly onMoved: (key: ObjectKey, stateChanged: boolean) => void;
}

/** A budget with a free slot, and the pods that may take it. */
export interface SlotOffer {
  readonly budget: Budget;
  readonly pods: readonly Uid[];
}

/** The data of a budget besides its actor. */
interface BudgetEntry {
  readonly key: ObjectKey;
  budget: Budget;
  readonly queued: Set<Uid>;
  /** Pods that hold a slot without an answer yet. */
  readonly inFlight: Map<Uid, SlotTaker>;
  state: string;
}

/** The budgets of all drains. */
export class Budgets {
  readonly #environment: Pick<ActorEnvironment<never>, 'time'>;
  readonly #options: BudgetsOptions;
  readonly #registry: ActorRegistry<typeof budgetChart, BudgetEntry>;
  /** Where a pod queues. */
  readonly #queuedAt = new Map<Uid, ObjectKey>();
  /** Where a pod has or had a slot that may still be counted. */
  readonly #slotAt = new Map<Uid, ObjectKey>();
  /** Budgets that wait for their watch to pass a departure, or to deliver anything. */
  readonly #watching = new Set<ObjectKey>();
  readonly #subscriptions: readonly Subscription[];

  constructor(environment: ActorEnvironment<never>, options: BudgetsOptions) {
    const { progress, callsPerBudget, defer, onOffer } = options;
    this.#environment = environment;
    this.#options = options;
    this.#registry = actorRegistry(environment, {
      name: 'budget',
      logic: budgetChart.provide({
        actions: {
          offerSlot: ({ context: { budget: { key } } }) => defer(() => onOffer(key)),
        },
      }),
      keyOf: ({ key }: BudgetEntry) => key,
      input: ({ budget, inFlight }) => ({
        budget,
        inFlight: [...inFlight.values()],
        callsAtOnce: callsPerBudget,
        nowMs: environment.time.monotonic(),
      }),
      onStart: ({ queued }, actor) => {
        for (const pod of queued) actor.send({ type: 'pod.queued', pod, nowMs: this.#nowMs() });
      },
      onSnapshot: (entry, snapshot) => this.#moved(entry, snapshot),
      logFields: ({ key }) => ({ budget: key }),
    });
    this.#subscriptions = [
      progress.subscribe((reached) => this.#watchProgressed(reached)),
      progress.pipe(
        startWith(NOWHERE),
        switchMap(() => timer(SILENCE_MS, SILENCE_MS, environment.scheduler)),
      ).subscribe(() => this.#watchSilenced()),
    ];
  }

  /** The pod waits for a slot. */
  readonly queue = (budget: Budget, pod: Uid): void => {
    const entry = this.#registry.entry(budget.key) ?? {
      key: budget.key,
      budget,
      queued: new Set<Uid>(),
      inFlight: new Map<Uid, SlotTaker>(),
      state: 'counting',
    };
    this.#registry.consider(entry);
    entry.queued.add(pod);
    this.#queuedAt.set(pod, budget.key);
    this.#registry.get(budget.key)?.send({ type: 'pod.queued', pod, nowMs: this.#nowMs() });
  };

  readonly unqueue = (pod: Uid): void => {
    const key = this.#queuedAt.get(pod) ?? NO_BUDGET;
    this.#queuedAt.delete(pod);
    if (this.#registry.entry(key)?.queued.delete(pod) !== true) return;
    this.#registry.get(key)?.send({ type: 'pod.unqueued', pod, nowMs: this.#nowMs() });
  };

  /** The free slot of a budget; `undefined` without one. */
  readonly offerOf = (key: ObjectKey): SlotOffer | undefined => {
    const snapshot = this.look(key);
    if (snapshot?.hasTag('offering') !== true) return undefined;
    const { context } = snapshot;
    return { budget: context.budget, pods: eligiblePods(context, snapshot.matches('probing')) };
  };

  /** The dispatcher assigns the free slot to this pod. */
  readonly acquireSlot = (key: ObjectKey, pod: SlotTaker): void => {
    const entry = this.#registry.entry(key);
    this.#slotAt.set(pod.uid, key);
    this.#queuedAt.delete(pod.uid);
    entry?.queued.delete(pod.uid);
    entry?.inFlight.set(pod.uid, pod);
    this.#registry.get(key)?.send({ type: 'slot.taken', pod, nowMs: this.#nowMs() });
  };

  /** No queued pod waits for the free slot any more. */
  readonly declineSlot = (key: ObjectKey): void => {
    if (this.look(key)?.hasTag('offering') !== true) return;
    this.#registry.get(key)?.send({ type: 'offer.declined', nowMs: this.#nowMs() });
  };

  /** The eviction that holds a slot was answered or given up. */
  readonly answered = (pod: Uid, answer: SlotAnswer): void => {
    const key = this.#slotAt.get(pod) ?? NO_BUDGET;
    // An eviction that needed no slot may follow one that did.
    if (this.#registry.entry(key)?.inFlight.delete(pod) !== true) return;
    if (answer === 'BudgetRefused' || answer === 'Declined') this.#slotAt.delete(pod);
    this.#registry.get(key)?.send({ type: 'call.answered', pod, answer, nowMs: this.#nowMs() });
  };

  /** The pod holds a slot without an answer yet. */
  readonly isInFlight = (pod: Uid): boolean =>
    this.#registry.entry(this.#slotAt.get(pod) ?? NO_BUDGET)?.inFlight.has(pod) === true;

  /** A slot counts as taken by the pod, whether or not its eviction was answered. */
  readonly hasSlot = (pod: Uid): boolean =>
    this.look(this.#slotAt.get(pod) ?? NO_BUDGET)?.context.reservations
      .some((reservation) => reservation.pod === pod) === true;

  /**
   * The pod was observed terminating or gone; without a resourceVersion when no watch showed it.
   */
  readonly departed = (pod: Uid, at: ResourceVersion = NOWHERE): void => {
    const key = this.#slotAt.get(pod) ?? NO_BUDGET;
    this.#registry.get(key)?.send({
      type: 'pod.departed',
      pod,
      resourceVersion: at,
      nowMs: this.#nowMs(),
    });
  };

  /** The pod may stay: the slot of a lost answer is not held for a retry. */
  readonly released = (pod: Uid): void => {
    const key = this.#slotAt.get(pod) ?? NO_BUDGET;
    this.#registry.get(key)?.send({ type: 'pod.released', pod, nowMs: this.#nowMs() });
  };

  /** A released pod must leave after all. */
  readonly wanted = (pod: Uid): void => {
    const key = this.#slotAt.get(pod) ?? NO_BUDGET;
    this.#registry.get(key)?.send({ type: 'pod.wanted', pod, nowMs: this.#nowMs() });
  };

  /** Nothing more happens to the pod. */
  readonly forget = (pod: Uid): void => {
    this.#slotAt.delete(pod);
  };

  readonly observe = (budget: Budget): void => {
    const entry = this.#registry.entry(budget.key);
    if (entry === undefined) return;
    entry.budget = budget;
    this.#registry.get(budget.key)?.send({
      type: 'budget.observed',
      budget,
      nowMs: this.#nowMs(),
    });
  };

  readonly vanished = (key: ObjectKey): void => {
    this.#registry.get(key)?.send({ type: 'budget.vanished', nowMs: this.#nowMs() });
  };

  /** Coverage may have shrunk: a budget without pods is removed. */
  readonly review = (key: ObjectKey): void => {
    const snapshot = this.look(key);
    if (snapshot === undefined) return;
    const { queue, calls, reservations, vanished } = snapshot.context;
    if (queue.length + calls.length + reservations.length > 0) return;
    if (!vanished && this.#options.isCovering(key)) return;
    this.#watching.delete(key);
    this.#registry.remove(key);
  };

  /** `undefined` when no pod ever queued at it. */
  readonly look = (key: ObjectKey): BudgetSnapshot | undefined =>
    this.#registry.get(key)?.getSnapshot();

  readonly actors = (): Iterable<BudgetActor> => this.#registry.actors();

  readonly stop = async (): Promise<void> => {
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
    await this.#registry.stop();
  };

  #nowMs(): number {
    return this.#environment.time.monotonic();
  }

  #moved(entry: BudgetEntry, snapshot: BudgetSnapshot): void {
    const { key } = entry;
    const { reservations, silent } = snapshot.context;
    if (silent || reservations.some(({ departedAt }) => departedAt !== null)) {
      this.#watching.add(key);
    } else this.#watching.delete(key);
    if (snapshot.matches('idle')) this.#options.defer(() => this.review(key));
    const state = String(snapshot.value);
    const stateChanged = state !== entry.state;
    entry.state = state;
    this.#options.onMoved(key, stateChanged);
  }

  #watchProgressed(reached: ResourceVersion): void {
    const nowMs = this.#nowMs();
    for (const key of [...this.#watching]) {
      this.#registry.get(key)?.send({ type: 'watch.progressed', resourceVersion: reached, nowMs });
    }
  }

  #watchSilenced(): void {
    const nowMs = this.#nowMs();
    for (const actor of [...this.#registry.actors()]) actor.send({ type: 'watch.silenced', nowMs });
  }
}
