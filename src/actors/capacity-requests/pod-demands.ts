/**
 * The registry of pods that are demand: one root actor for each whose request is not as it should
 * be.
 *
 * Promises: nothing is decided before this process leads and the lists of pods and requests (and of
 * namespaces, when some are left out) are complete, so no request goes because its pod was not
 * listed yet; requests of pods that are gone are left to the garbage collector, and deleted only
 * when that has not come for long; each pod is warned of once.
 */
import { type Observable, Subscription } from 'rxjs';
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
import { departures } from './departures.ts';
import { firstRequests } from './first-requests.ts';
import { podDemandEvents } from './pod-demand-actor.ts';
import { type PodActor, podDemandActors } from './pod-demand-registry.ts';
import { type PodEntry, type PodIndex, podIndex } from './pod-index.ts';
import type { Informer } from '../informers/informer.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** What the registry listens to. */
export interface PodDemandsOptions {
  readonly pods: Pick<Informer<PodDemand>, 'facts'>;
  readonly requests: Pick<Informer<OwnedRequest>, 'facts' | 'get'>;
  /** Undefined: pods of all namespaces count. */
  readonly namespaces: Pick<Informer<SelectedNamespace>, 'facts' | 'get'> | undefined;
  /** Says at once what is in use, then every change. */
  readonly defaults: Observable<PenaltyDefaults>;
  readonly record: RecordEvent;
}

/** All pods that are demand. */
export interface PodDemandRegistry {
  /** The active actors. */
  readonly actors: () => Iterable<PodActor>;
  /** The actor of a pod, while it is active. */
  readonly get: (uid: Uid) => PodActor | undefined;
  /** Pods by state; those without an active actor are `passive`. */
  readonly counts: () => Readonly<Record<string, number>>;
  /** Whether this process leads. */
  readonly lead: (leading: boolean) => void;
  /** Resolves when the pods that it found without a request have theirs: `first-requests.ts`. */
  readonly made: Promise<void>;
  /** Resolves when nothing is written or waits to be. */
  readonly idle: () => Promise<void>;
  /** Begins no more writes and resolves when those under way have their answers. */
  readonly stop: () => Promise<void>;
}

/** What must be known before anything is decided. */
type Known = 'pods' | 'requests' | 'namespaces' | 'defaults';

/** What is there now; those that are gone are told one by one. */
const presentIn = <T extends Identity>(
  fact: Exclude<Fact<T>, { readonly _tag: 'Absent' }>,
): readonly T[] => (fact._tag === 'Listed' ? fact.objects : [fact.object]);

/** Pods that are demand and have no request that is known of. */
const unasked = function* (index: PodIndex): Generator<Uid> {
  for (const pod of index.entries()) {
    const { standing, requests } = index.facts(pod);
    if (standing === 'Wanted' && requests.length === 0) yield pod.uid;
  }
};

const tellLate = ({ log }: Telemetry) => (missing: number): void =>
  log('warn', 'Pods are still without a CapacityRequest; the others count', { missing });

/** Starts the registry, not leading. */
export const startPodDemands = (
  environment: ActorEnvironment<PodRequests>,
  { pods, requests, namespaces, defaults, record }: PodDemandsOptions,
): PodDemandRegistry => {
  const { telemetry } = environment;
  const unknown = new Set<Known>(['pods', 'requests', 'defaults']);
  if (namespaces) unknown.add('namespaces');
  let leading = false;
  let textOf = requestTexts(new Map());
  const active = (): boolean => leading && unknown.size === 0;

  const index = podIndex({
    request: requests.get,
    textOf: (ask) => textOf(ask),
    counts: (name) => !namespaces || namespaces.get(objectKey(name))?.selected === true,
  });
  const first = firstRequests(environment.time, tellLate(telemetry));
  const events = podDemandEvents(environment, record, first.settle);
  const actors = podDemandActors(environment, {
    index,
    request: requests.get,
    events,
    isActive: active,
  });
  const gone = departures(environment.time, (uid) => {
    const pod = index.get(uid);
    if (pod === undefined || pod.pod !== undefined) return;
    pod.overdue = true;
    actors.consider(pod);
  });
  const warn = (pod: PodEntry): void => {
    const ask = pod.pod?.ask ?? undefined;
    if (ask === undefined || ask === pod.warnedOf || ask.warnings.length === 0) return;
    pod.warnedOf = ask;
    events.recordWarnings(index.podOf(pod), ask.warnings);
  };
  const consider = (pod: PodEntry): void => {
    if (pod.pod === undefined) gone.note(pod.uid);
    else gone.forget(pod.uid);
    actors.consider(pod);
    if (active()) warn(pod);
    if (index.get(pod.uid) === undefined) gone.forget(pod.uid);
  };
  const orient = (): void => {
    if (!active()) return;
    for (const pod of [...index.entries()]) consider(pod);
    first.expect(unasked(index));
  };
  const learn = (what: Known): void => {
    if (unknown.delete(what)) orient();
  };
  const count = (outcome: 'cr_exists' | 'pod_gone' | 'pod_terminal'): void => {
    if (!active()) return;
    telemetry.count('bigfleet_unschedulable_pod_controller_reconciles_total', 1, { outcome });
  };

  const onPods = (fact: Fact<PodDemand>): void => {
    if (fact._tag === 'Absent') {
      first.settle(fact.last.uid);
      const pod = index.removePod(fact.last);
      if (pod === undefined) return;
      count('pod_gone');
      return consider(pod);
    }
    for (const seen of presentIn(fact)) {
      if (seen.standing !== 'Wanted') first.settle(seen.uid);
      const pod = index.putPod(seen);
      if (pod === undefined) continue;
      if (seen.standing === 'Finished') count('pod_terminal');
      else if (pod.keys.length > 0) count('cr_exists');
      consider(pod);
    }
    if (fact._tag === 'Listed') learn('pods');
  };
  const onRequests = (fact: Fact<OwnedRequest>): void => {
    if (fact._tag === 'Absent') {
      const pod = index.removeRequest(fact.last);
      if (pod === undefined) return;
      actors.onVanished(pod, fact.last.uid);
      return consider(pod);
    }
    for (const seen of presentIn(fact)) {
      for (const pod of index.putRequest(seen)) consider(pod);
      if (seen.pod !== '') first.settle(uid(seen.pod));
    }
    if (fact._tag === 'Listed') learn('requests');
  };
  const onNamespaces = (fact: Fact<SelectedNamespace>): void => {
    if (fact._tag === 'Listed') {
      orient();
      return learn('namespaces');
    }
    const { name } = fact._tag === 'Absent' ? fact.last : fact.object;
    for (const pod of [...index.entries()]) {
      if (pod.pod?.namespace === name) consider(pod);
    }
  };

  const subscription = new Subscription();
  subscription.add(defaults.subscribe((inUse) => {
    textOf = requestTexts(inUse);
    orient();
    learn('defaults');
  }));
  if (namespaces !== undefined) subscription.add(namespaces.facts.subscribe(onNamespaces));
  subscription.add(requests.facts.subscribe(onRequests));
  subscription.add(pods.facts.subscribe(onPods));

  return {
    actors: actors.actors,
    get: actors.get,
    counts: actors.counts,
    lead: (leads) => {
      if (leads === leading) return;
      leading = leads;
      if (leads) orient();
      else actors.onLeadershipLost();
    },
    made: first.made,
    idle: actors.idle,
    stop: () => {
      subscription.unsubscribe();
      gone.stop();
      first.stop();
      return actors.stop();
    },
  };
};
