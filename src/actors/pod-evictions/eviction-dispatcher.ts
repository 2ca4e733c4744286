/**
 * Decides which pod is evicted next, over all drains.
 *
 * An eviction is sent when
 * 1. the circuit to the API server is closed; half-open, a single one probes;
 * 2. fewer than `IN_FLIGHT_MAX` evictions wait for the write budget, so that the choice is made
 *    late;
 * 3. fewer than `UNANSWERED_MAX` evictions wait for their answers, so that those that hang leave
 *    connections to everything else;
 * 4. its pod is first by rank (DR-34) among those that need no slot and, for each budget with a
 *    free slot, the first that waits there. A slot is taken only in the step that sends its
 *    eviction, so that no pod holds one while another could go.
 *
 * A choice costs as much as there are nodes and budgets with waiters, not pods.
 */
import { audit, Subject } from 'rxjs';
import {
  compareCandidates,
  type EvictionCandidate,
  firstCandidate,
} from '../../domain/drain/eviction-rank.ts';
import type { ObjectKey, Uid } from '../../domain/ids.ts';
import type { SlotTaker } from '../../machines/budget.ts';
import type { SlotOffer } from './budget-actor.ts';

/** In flight between the choice and the first byte: enough to keep the write budget busy. */
const IN_FLIGHT_MAX = 8;
/** Half of the connections to the API server. */
const UNANSWERED_MAX = 128;
/** The first pod of a budget is recomputed after this time: ranks change slowly. */
const FIRST_FRESH_MS = 100;

/** A pod that waits until its eviction is sent. */
export interface Waiter {
  /** `undefined` when it no longer waits and has not cancelled yet. */
  readonly candidate: () => EvictionCandidate | undefined;
  /** Learns that its eviction is sent now; it has the slot that it needs. */
  readonly actor: { readonly send: (event: { readonly type: 'eviction.dispatched' }) => void };
}

/** The dispatcher's dependencies. */
export interface EvictionDispatcherOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly isCircuitClosed: () => boolean;
  readonly slots: {
    readonly offerOf: (budget: ObjectKey) => SlotOffer | undefined;
    readonly acquireSlot: (budget: ObjectKey, pod: SlotTaker) => void;
    readonly declineSlot: (budget: ObjectKey) => void;
  };
}

/** The next eviction. */
interface Choice {
  readonly candidate: EvictionCandidate;
  /** The budget whose slot it takes. */
  readonly budget: ObjectKey | undefined;
}

interface FirstAtBudget {
  readonly candidate: EvictionCandidate | undefined;
  readonly atMs: number;
}

const NO_BUDGET_CHARGED = { disruptedPods: {} };

/** The one dispatcher of a process. */
export class EvictionDispatcher {
  readonly #options: EvictionDispatcherOptions;
  readonly #waiters = new Map<Uid, Waiter>();
  /** Pods that need no slot, by queue: those of one have the same rank, and go as requested. */
  readonly #withoutSlot = new Map<string, Set<Uid>>();
  readonly #queueOf = new Map<Uid, string>();
  /** Budgets with a free slot. */
  readonly #offers = new Set<ObjectKey>();
  readonly #firstAt = new Map<ObjectKey, FirstAtBudget>();
  /** Dispatched, and not sent yet. */
  readonly #inFlight = new Set<Uid>();
  /** Sent, and not answered yet. */
  readonly #unanswered = new Set<Uid>();
  readonly #requests = new Subject<void>();

  constructor(options: EvictionDispatcherOptions) {
    this.#options = options;
    // After the transitions in which pods ask: an event that is sent earlier is looked at too late.
    this.#requests.pipe(audit(() => Promise.resolve())).subscribe(this.#dispatch);
  }

  /** The pod waits for a slot of the budget that it has queued at. */
  readonly awaitSlot = (pod: Uid, waiter: Waiter): void => {
    this.cancel(pod);
    this.#waiters.set(pod, waiter);
  };

  /** The pod needs no slot. */
  readonly awaitDispatch = (pod: Uid, queue: string, waiter: Waiter): void => {
    this.cancel(pod);
    this.#waiters.set(pod, waiter);
    this.#queueOf.set(pod, queue);
    this.#withoutSlot.set(queue, (this.#withoutSlot.get(queue) ?? new Set()).add(pod));
    this.schedule();
  };

  /** The pod no longer waits. */
  readonly cancel = (pod: Uid): void => {
    this.#waiters.delete(pod);
    const queue = this.#queueOf.get(pod);
    if (queue === undefined) return;
    this.#queueOf.delete(pod);
    const pods = this.#withoutSlot.get(queue);
    pods?.delete(pod);
    if (pods?.size === 0) this.#withoutSlot.delete(queue);
  };

  /** The budget has a free slot. */
  readonly offer = (budget: ObjectKey): void => {
    if (this.#firstOf(budget) === undefined) return this.#options.slots.declineSlot(budget);
    this.#offers.add(budget);
    this.schedule();
  };

  /** The slots of the budget changed. */
  readonly budgetMoved = (budget: ObjectKey): void => {
    this.#firstAt.delete(budget);
  };

  /** The first byte of the eviction was sent. */
  readonly sent = (pod: Uid): void => {
    this.#unanswered.add(pod);
    if (this.#inFlight.delete(pod)) this.schedule();
  };

  /** The eviction was answered, or is not sent for now. */
  readonly done = (pod: Uid): void => {
    const wasInFlight = this.#inFlight.delete(pod);
    if (this.#unanswered.delete(pod) || wasInFlight) this.schedule();
  };

  /** Dispatches after all requests of the current microtask. */
  readonly schedule = (): void => {
    if (this.#options.isCircuitClosed()) this.#requests.next();
  };

  /** Dispatches the first by rank; false when none waits. */
  readonly dispatchOne = (): boolean => {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (this.#start(next)) return true;
    }
    return false;
  };

  readonly #dispatch = (): void => {
    while (this.#options.isCircuitClosed() && this.#hasPlace()) {
      if (!this.dispatchOne()) return;
    }
  };

  #hasPlace(): boolean {
    const [inFlight, unanswered] = [this.#inFlight.size, this.#unanswered.size];
    return inFlight < IN_FLIGHT_MAX && inFlight + unanswered < UNANSWERED_MAX;
  }

  /** The first by rank of all eligible pods. */
  #next(): Choice | undefined {
    const view = { budget: NO_BUDGET_CHARGED, nowMs: this.#options.now() };
    let best: Choice | undefined;
    const consider = (candidate: EvictionCandidate | undefined, budget?: ObjectKey): void => {
      if (candidate === undefined) return;
      if (best === undefined || compareCandidates(candidate, best.candidate, view) < 0) {
        best = { candidate, budget };
      }
    };
    for (const pods of this.#withoutSlot.values()) consider(this.#firstWithoutSlot(pods));
    for (const budget of this.#offers) consider(this.#firstOf(budget), budget);
    return best;
  }

  /** Pods of one queue have the same rank: first come, first served. */
  #firstWithoutSlot(pods: Iterable<Uid>): EvictionCandidate | undefined {
    for (const pod of pods) {
      const candidate = this.#waiters.get(pod)?.candidate();
      if (candidate !== undefined) return candidate;
    }
    return undefined;
  }

  /** The first by rank of the pods that may take the free slot of the budget. */
  #firstOf(key: ObjectKey): EvictionCandidate | undefined {
    const offer = this.#options.slots.offerOf(key);
    if (offer === undefined) {
      // The slot was lost after it was offered; the budget offers again.
      this.#offers.delete(key);
      return undefined;
    }
    const nowMs = this.#options.now();
    const known = this.#firstAt.get(key);
    if (known !== undefined && nowMs - known.atMs < FIRST_FRESH_MS) return known.candidate;
    const candidates = offer.pods.flatMap((pod) => this.#waiters.get(pod)?.candidate() ?? []);
    const candidate = firstCandidate(candidates, { budget: offer.budget, nowMs });
    this.#firstAt.set(key, { candidate, atMs: nowMs });
    return candidate;
  }

  /** False when the pod turns out not to be eligible. */
  #start({ candidate, budget }: Choice): boolean {
    if (budget === undefined) return this.#send(candidate.pod);
    this.#offers.delete(budget);
    this.#firstAt.delete(budget);
    const first = this.#firstOf(budget);
    if (first === undefined) {
      this.#options.slots.declineSlot(budget);
      return false;
    }
    this.#options.slots.acquireSlot(budget, { uid: first.pod, name: first.podName });
    return this.#send(first.pod);
  }

  #send(pod: Uid): boolean {
    const waiter = this.#waiters.get(pod);
    this.cancel(pod);
    if (waiter === undefined) return false;
    this.#inFlight.add(pod);
    waiter.actor.send({ type: 'eviction.dispatched' });
    return true;
  }
}
