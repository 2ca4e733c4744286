/**
 * The pods that count as demand, and their CapacityRequests.
 *
 * Promises: no decision before this process leads and the lists of pods and requests (and of
 * namespaces, with a selector) are complete and current, so no request is deleted because its pod
 * was not listed yet, and none is made for a pod that is gone; requests of deleted pods are left to
 * the garbage collector, and deleted only when it is overdue; one warning per pod.
 */
import { BehaviorSubject, type Observable, Subscription } from 'rxjs';
import type { RecordEvent } from '../../api/event-note.ts';
import type { Telemetry } from '../../api/telemetry.ts';
import type { Fact, Identity } from '../../domain/facts.ts';
import { objectKey, type Uid, uid } from '../../domain/ids.ts';
import type { OwnedRequest } from '../../domain/pod-demand/owned-request.ts';
import type { PenaltyDefaults } from '../../domain/pod-demand/penalties.ts';
import type { PodDemand } from '../../domain/pod-demand/pod-demand.ts';
import { requestTexts } from '../../domain/pod-demand/pod-request.ts';
import type { SelectedNamespace } from '../../domain/pod-demand/selected-namespace.ts';
import type { PodRequests } from '../../effects/pod-requests.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { deferredSends } from '../actor-logic.ts';
import type { Informer } from '../informers/informer.ts';
import {
  type PodActor,
  type PodDemandActors,
  podDemandActors,
  type PodDemandEvents,
  podDemandEvents,
} from './pod-demand-actor.ts';
import { type PodEntry, PodIndex } from '../../domain/pod-demand/pod-index.ts';

/** What the pods are followed by. */
export interface PodDemandsOptions {
  readonly pods: Pick<Informer<PodDemand>, 'facts'>;
  readonly requests: Pick<Informer<OwnedRequest>, 'facts' | 'get'>;
  /** Undefined: pods of all namespaces count. */
  readonly namespaces: Pick<Informer<SelectedNamespace>, 'facts' | 'get'> | undefined;
  /** Emits the current value, then every change. */
  readonly defaults: Observable<PenaltyDefaults>;
  readonly record: RecordEvent;
}

/** All pods that count as demand. */
export interface PodDemandRegistry {
  /** The active actors. */
  readonly actors: () => Iterable<PodActor>;
  /** The actor of a pod, while it is active. */
  readonly get: (uid: Uid) => PodActor | undefined;
  /** Pods by state; those without an active actor are `passive`. */
  readonly counts: () => Readonly<Record<string, number>>;
  /** Sets whether this process leads. */
  readonly setLeading: (leading: boolean) => void;
  /** Sets whether the lists are current, which they are at first; nothing is written otherwise. */
  readonly setCurrent: (current: boolean) => void;
  /** Pods that lacked a request when writing began, and have none yet. */
  readonly missing: Observable<number>;
  /** Resolves when no write is in flight or queued. */
  readonly idle: () => Promise<void>;
  /** Starts no more writes and resolves when those in flight have their answers. */
  readonly stop: () => Promise<void>;
}

/** The lists that must be complete before any decision. */
type Known = 'pods' | 'requests' | 'namespaces' | 'defaults';

/** The current objects; deletions come one by one. */
const presentIn = <T extends Identity>(
  fact: Exclude<Fact<T>, { readonly _tag: 'Absent' }>,
): readonly T[] => (fact._tag === 'Listed' ? fact.objects : [fact.object]);

/** Pods that count as demand and have no known request. */
const withoutRequest = function* (index: PodIndex): Generator<Uid> {
  for (const pod of index.entries()) {
    const { status, requests } = index.facts(pod);
    if (status === 'Wanted' && requests.length === 0) yield pod.uid;
  }
};

class PodDemands implements PodDemandRegistry {
  readonly #environment: ActorEnvironment<PodRequests>;
  readonly #index: PodIndex;
  readonly #missing: MissingPods;
  readonly missing: Observable<number>;
  readonly #events: PodDemandEvents;
  readonly #actors: PodDemandActors;
  readonly #subscription = new Subscription();
  readonly #unknown = new Set<Known>(['pods', 'requests', 'defaults']);
  #leading = false;
  #current = true;
  #textOf = requestTexts(new Map());

  constructor(
    environment: ActorEnvironment<PodRequests>,
    { pods, requests, namespaces, defaults, record }: PodDemandsOptions,
  ) {
    this.#environment = environment;
    if (namespaces !== undefined) this.#unknown.add('namespaces');
    this.#index = new PodIndex({
      request: requests.get,
      textOf: (ask) => this.#textOf(ask),
      counts: (name) => !namespaces || namespaces.get(objectKey(name))?.selected === true,
    });
    this.#missing = missingPods(environment.telemetry);
    this.missing = this.#missing.count;
    this.#events = podDemandEvents(environment, record, this.#missing.settle);
    this.#actors = podDemandActors(environment, {
      index: this.#index,
      request: requests.get,
      events: this.#events,
      isActive: this.#isActive,
    });
    this.#subscription.add(defaults.subscribe(this.#onDefaults));
    if (namespaces) this.#subscription.add(namespaces.facts.subscribe(this.#onNamespaces));
    this.#subscription.add(requests.facts.subscribe(this.#onRequests));
    this.#subscription.add(pods.facts.subscribe(this.#onPods));
  }

  readonly actors = () => this.#actors.actors();
  readonly get = (uid: Uid) => this.#actors.get(uid);
  readonly counts = () => this.#actors.counts();
  readonly idle = () => this.#actors.idle();

  readonly setLeading = (leads: boolean): void =>
    this.#change(() => {
      this.#leading = leads;
    });

  readonly setCurrent = (current: boolean): void =>
    this.#change(() => {
      this.#current = current;
    });

  readonly stop = async (): Promise<void> => {
    this.#subscription.unsubscribe();
    await this.#actors.stop();
  };

  readonly #isActive = (): boolean => this.#leading && this.#current && this.#unknown.size === 0;

  /** Begins to write, or ends it, where the change is one between the two. */
  #change(change: () => void): void {
    const before = this.#isActive();
    change();
    if (this.#isActive() === before) return;
    if (before) return this.#actors.onWritingEnded();
    this.#considerAll();
    this.#missing.reset(withoutRequest(this.#index));
  }

  #consider(pod: PodEntry): void {
    this.#actors.consider(pod);
    if (this.#isActive()) this.#warn(pod);
  }

  #considerAll(): void {
    if (!this.#isActive()) return;
    for (const pod of [...this.#index.entries()]) this.#consider(pod);
  }

  #learn(what: Known): void {
    this.#change(() => void this.#unknown.delete(what));
  }

  #warn(pod: PodEntry): void {
    const ask = pod.pod?.ask ?? undefined;
    if (ask === undefined || ask === pod.warnedOf || ask.warnings.length === 0) return;
    pod.warnedOf = ask;
    this.#events.recordWarnings(this.#index.podOf(pod), ask.warnings);
  }

  #count(outcome: 'cr_exists' | 'pod_gone' | 'pod_terminal'): void {
    if (!this.#isActive()) return;
    const { telemetry } = this.#environment;
    telemetry.count('bigfleet_unschedulable_pod_controller_reconciles_total', 1, { outcome });
  }

  #onPodGone({ last }: Extract<Fact<PodDemand>, { readonly _tag: 'Absent' }>): void {
    this.#missing.settle(last.uid);
    const pod = this.#index.removePod(last);
    if (pod === undefined) return;
    this.#count('pod_gone');
    this.#consider(pod);
  }

  readonly #onPods = (fact: Fact<PodDemand>): void => {
    if (fact._tag === 'Absent') return this.#onPodGone(fact);
    for (const observed of presentIn(fact)) {
      if (observed.status !== 'Wanted') this.#missing.settle(observed.uid);
      const pod = this.#index.putPod(observed);
      if (pod === undefined) continue;
      if (observed.status === 'Finished') this.#count('pod_terminal');
      else if (pod.keys.length > 0) this.#count('cr_exists');
      this.#consider(pod);
    }
    if (fact._tag === 'Listed') this.#learn('pods');
  };

  #onRequestGone({ last }: Extract<Fact<OwnedRequest>, { readonly _tag: 'Absent' }>): void {
    const pod = this.#index.removeRequest(last);
    if (pod === undefined) return;
    this.#actors.onVanished(pod, last.uid);
    this.#consider(pod);
  }

  readonly #onRequests = (fact: Fact<OwnedRequest>): void => {
    if (fact._tag === 'Absent') return this.#onRequestGone(fact);
    for (const observed of presentIn(fact)) {
      for (const pod of this.#index.putRequest(observed)) this.#consider(pod);
      const owner = uid(observed.pod);
      if (this.#index.hasRequest(owner)) this.#missing.settle(owner);
    }
    if (fact._tag === 'Listed') this.#learn('requests');
  };

  readonly #onNamespaces = (fact: Fact<SelectedNamespace>): void => {
    if (fact._tag === 'Listed') {
      this.#considerAll();
      return this.#learn('namespaces');
    }
    const { name } = fact._tag === 'Absent' ? fact.last : fact.object;
    for (const pod of [...this.#index.entries()]) {
      if (pod.pod?.namespace === name) this.#consider(pod);
    }
  };

  readonly #onDefaults = (inUse: PenaltyDefaults): void => {
    this.#textOf = requestTexts(inUse);
    this.#considerAll();
    this.#learn('defaults');
  };
}

/** Starts to follow pods and requests, not leading. */
export const startPodDemands = (
  environment: ActorEnvironment<PodRequests>,
  options: PodDemandsOptions,
): PodDemandRegistry => new PodDemands(environment, options);

/** Pods without a request. */
interface MissingPods {
  /** Emits the number since the last `reset`. */
  readonly count: Observable<number>;
  /** Counts these and no others. */
  readonly reset: (pods: Iterable<Uid>) => void;
  /** The pod has its request now, or needs none, or is refused one. */
  readonly settle: (pod: Uid) => void;
}

/** Counts none at first. */
const missingPods = (telemetry: Telemetry): MissingPods => {
  const defer = deferredSends(telemetry);
  const missing = new Set<Uid>();
  const count = new BehaviorSubject(0);
  return {
    count,
    reset: (pods) => {
      missing.clear();
      for (const pod of pods) missing.add(pod);
      count.next(missing.size);
    },
    settle: (pod) => {
      if (missing.delete(pod)) defer(() => count.next(missing.size));
    },
  };
};
