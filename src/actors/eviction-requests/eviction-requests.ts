/**
 * The open EvictionRequests of the cluster, one actor each.
 *
 * Promises: nothing is decided before this process leads and the lists of requests and pods are
 * complete, so that no request is canceled because its pod was not listed yet; a final request
 * without a time to live has no actor; the imperative eviction goes through the dispatcher and the
 * budgets of drains, as one more requester of the pod.
 */
import { Subscription } from 'rxjs';
import type { RecordEvent } from '../../api/event-note.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import { interceptorsFor } from '../../domain/eviction-requests/interceptor-list.ts';
import type { EvictionsApiOption } from '../../domain/native-evictions/evictions-api.ts';
import { nativeObjectsOf } from '../../domain/native-evictions/joined-request.ts';
import {
  type EvictionProgress,
  NOTHING_SENT,
} from '../../domain/eviction-requests/imperative-report.ts';
import type { InterceptorTiming } from '../../domain/eviction-requests/interceptor-deadline.ts';
import { isFinal, type ObservedRequest } from '../../domain/eviction-requests/observed-request.ts';
import {
  type InterceptedPod,
  type TargetPod,
  targetPodOf,
} from '../../domain/eviction-requests/target-pod.ts';
import type { Fact } from '../../domain/facts.ts';
import { type ObjectKey, type Uid, uid as uidOf } from '../../domain/ids.ts';
import { sameJson } from '../../domain/json-equality.ts';
import { multiIndex } from '../../domain/multi-index.ts';
import type { EvictionRequests } from '../../effects/eviction-requests.ts';
import type { EvictionRequestContext } from '../../machines/eviction-request-context.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { deferredSends } from '../actor-logic.ts';
import { type ConcurrencyLimit, startConcurrencyLimit } from '../concurrency-limit.ts';
import type { Informer } from '../informers/informer.ts';
import { workqueueMetrics } from '../workqueue-metrics.ts';
import { RequestMetrics } from './request-metrics.ts';
import type { PodEvictions } from '../pod-evictions/pod-evictions.ts';
import {
  type EvictionRequestActors,
  evictionRequestActors,
  evictionRequestEvents,
  podKeyOf,
  type RequestEntry,
} from './eviction-request-actor.ts';

/** Requests that are written at once; the write budget paces them. */
const WRITES_AT_ONCE = 32;

/** A request that waits longer for its turn to write decides anew when it comes. */
const WAIT_MS_MAX = 100;

/** Reasons of pods that nothing keeps from leaving. */
const UNBLOCKED: ReadonlySet<string> = new Set(['Terminating', 'WaitingForTurn']);

/** The settings of the role. */
export interface EvictionRequestPolicy {
  readonly timing: InterceptorTiming;
  /** `--eviction-request-ttl`; null: requests are never deleted. */
  readonly ttlMs: number | null;
  /** `--eviction-request-api`; default: auto. */
  readonly api?: EvictionsApiOption;
  /** `--default-interceptors`; without it, none. */
  readonly defaultInterceptors?: readonly string[];
}

/** What the requests are followed by. */
export interface EvictionRequestsOptions extends Pick<EvictionRequestPolicy, 'timing' | 'ttlMs'> {
  readonly requests: Pick<Informer<ObservedRequest>, 'facts' | 'values'>;
  readonly pods: Pick<Informer<DrainPod>, 'facts' | 'get'>;
  /** The interceptors of the same pods. */
  readonly registrations: Pick<Informer<InterceptedPod>, 'get' | 'values'>;
  readonly evictions: Pick<PodEvictions, 'want' | 'withdraw' | 'statusOf' | 'changes'>;
  /** The interceptors of a pod besides those that it registers; without it, none. */
  readonly defaultsFor?: (pod: DrainPod) => readonly string[];
  readonly record: RecordEvent;
}

/** All open requests of a process; not leading at first. */
export class EvictionRequestRegistry {
  readonly #environment: ActorEnvironment<EvictionRequests>;
  readonly #options: EvictionRequestsOptions;
  readonly #actors: EvictionRequestActors;
  readonly #slots: ConcurrencyLimit<RequestEntry>;
  readonly #metrics: RequestMetrics;
  /** The UIDs of open requests, by the key of their pod. */
  readonly #byPod = multiIndex();
  /** The UIDs of requests whose pods the dispatcher evicts for them, by node. */
  readonly #evicting = multiIndex();
  readonly #subscription = new Subscription();
  readonly #unknown = new Set<'requests' | 'pods'>(['requests', 'pods']);
  #isLeading = false;

  constructor(
    environment: ActorEnvironment<EvictionRequests>,
    options: EvictionRequestsOptions,
  ) {
    this.#environment = environment;
    this.#options = options;
    const { requests, pods, evictions } = options;
    this.#metrics = new RequestMetrics(environment.telemetry);
    // An eviction that is wanted in a transition reports to the actor that is in it.
    const defer = deferredSends(environment.telemetry);
    this.#slots = startConcurrencyLimit<RequestEntry>({
      atOnce: WRITES_AT_ONCE,
      keyOf: ({ uid }) => uid,
      activate: (entry) => this.#current(entry),
      onChange: workqueueMetrics(environment, 'evictionrequests'),
    });
    this.#actors = evictionRequestActors(environment, {
      timing: options.timing,
      ttlMs: options.ttlMs,
      podOf: this.#podOf,
      progressOf: this.#progressOf,
      onLost: (entry) => this.#release(entry),
      // The watch may have shown the end of the request before the answer to a write came.
      onEnded: (entry) => defer(() => this.#forgetEnded(entry)),
      metrics: this.#metrics,
      actions: {
        ...evictionRequestEvents(environment, options.record),
        requestSlot: (context) => this.#withEntry(context, this.#slots.request),
        wantEviction: (context) =>
          defer(() => this.#withEntry(context, (entry) => this.#want(entry))),
        releaseEviction: (context) =>
          defer(() => this.#withEntry(context, (entry) => this.#release(entry))),
      },
    });
    this.#subscription.add(requests.facts.subscribe((fact) => this.#onRequests(fact)));
    this.#subscription.add(pods.facts.subscribe((fact) => this.#onPods(fact)));
    this.#subscription.add(evictions.changes.subscribe((node) => this.#onEvictions(node)));
  }

  readonly actors = () => this.#actors.actors();

  /** Open requests by state. */
  readonly counts = (): Readonly<Record<string, number>> => this.#actors.counts();

  readonly onLeading = (): void => {
    this.#isLeading = true;
    if (!this.#unknown.has('pods')) this.#metrics.observePods(this.#options.registrations.values());
    this.#considerAll();
  };

  readonly onLeadershipLost = (): void => {
    this.#isLeading = false;
    for (const entry of [...this.#actors.entries()]) this.#forget(entry);
    this.#metrics.clear();
  };

  /** Writes nothing new; resolves when writes in flight have their answers. */
  readonly stop = (): Promise<void> => {
    this.#isLeading = false;
    this.#subscription.unsubscribe();
    this.#slots.stop();
    return this.#actors.stop();
  };

  readonly #podOf = (request: ObservedRequest): TargetPod | null => {
    const key = podKeyOf(request);
    const [pod, registration] = [
      this.#options.pods.get(key),
      this.#options.registrations.get(key),
    ];
    if (pod === undefined || registration === undefined) return null;
    const api = nativeObjectsOf(request) === undefined ? 'tidegate' : 'native';
    const interceptors = interceptorsFor(registration.interceptors, api);
    // Those that ship follow our own requests.
    const defaults = api === 'tidegate' ? this.#options.defaultsFor?.(pod) : undefined;
    return targetPodOf(pod, { ...registration, interceptors }, defaults);
  };

  readonly #progressOf = ({ pod }: ObservedRequest): EvictionProgress => {
    const status = this.#options.evictions.statusOf(uidOf(pod.uid));
    if (status === undefined) return NOTHING_SENT;
    const isBlocked = !UNBLOCKED.has(status.reason);
    return { refusals: status.refusals, blocker: isBlocked ? status.text : '' };
  };

  #withEntry(
    { facts }: EvictionRequestContext,
    act: (entry: RequestEntry) => void,
  ): void {
    const entry = this.#actors.entry(facts.request.uid);
    if (entry !== undefined) act(entry);
  }

  /** The actor whose turn to write has come: an interceptor's time begins with the write. */
  #current({ uid, request }: RequestEntry) {
    const actor = this.#actors.get(uid);
    const nowMs = this.#environment.time.now();
    const waitedMs = nowMs - (actor?.getSnapshot().context.nowMs ?? nowMs);
    if (waitedMs >= WAIT_MS_MAX) actor?.send({ type: 'request.observed', request, nowMs });
    return actor;
  }

  /** Whether anything can follow from the request. */
  #isOpen(request: ObservedRequest): boolean {
    return !isFinal(request) || this.#options.ttlMs !== null;
  }

  #considerAll(): void {
    if (!this.#isLeading || this.#unknown.size > 0) return;
    for (const request of [...this.#options.requests.values()]) this.#consider(request);
  }

  #consider(request: ObservedRequest): void {
    if (!this.#isLeading || this.#unknown.size > 0) return;
    const known = this.#actors.entry(request.uid);
    if (known === undefined && !this.#isOpen(request)) return;
    const entry = known ?? {
      uid: request.uid,
      request,
      state: 'settled',
      evictingOn: null,
    };
    entry.request = request;
    this.#byPod.add(podKeyOf(request), entry.uid);
    this.#actors.consider(entry);
    this.#forgetEnded(entry);
  }

  /** Not before the watch has shown the end: an older version would bring its actor back. */
  #forgetEnded(entry: RequestEntry): void {
    const isKnown = this.#actors.entry(entry.uid) === entry;
    if (isKnown && entry.state === 'ended' && !this.#isOpen(entry.request)) this.#forget(entry);
  }

  #forget(entry: RequestEntry): void {
    this.#actors.remove(entry.uid);
    this.#metrics.forget(entry.uid);
    this.#byPod.remove(podKeyOf(entry.request), entry.uid);
    this.#release(entry);
  }

  #want(entry: RequestEntry): void {
    const pod = this.#options.pods.get(podKeyOf(entry.request));
    const actor = this.#actors.get(entry.uid);
    const isWanted = actor?.getSnapshot().matches({ eviction: 'wanted' }) === true;
    if (pod === undefined || pod.uid !== entry.request.pod.uid || !isWanted) return;
    this.#evicting.add(pod.node, entry.uid);
    entry.evictingOn = pod.node;
    this.#options.evictions.want(pod, {
      node: pod.node,
      owner: 'eviction-request',
      deadlineMonotonicMs: null,
      drainSinceMs: this.#environment.time.monotonic(),
      podsLeft: () => 1,
    });
  }

  /** This request needs no eviction any more; a sent one completes. */
  #release(entry: RequestEntry): void {
    if (entry.evictingOn === null) return;
    this.#evicting.remove(entry.evictingOn, entry.uid);
    entry.evictingOn = null;
    this.#options.evictions.withdraw(uidOf(entry.request.pod.uid), 'eviction-request');
  }

  #onEvictions(node: string): void {
    for (const entry of this.#entriesOf(this.#evicting.all(node))) {
      const actor = this.#actors.get(entry.uid);
      const progress = this.#progressOf(entry.request);
      if (actor === undefined || sameJson(actor.getSnapshot().context.progress, progress)) continue;
      actor.send({
        type: 'eviction.observed',
        progress,
        nowMs: this.#environment.time.now(),
      });
    }
  }

  #vanished(id: Uid): void {
    const entry = this.#actors.entry(id);
    if (entry === undefined) return;
    this.#actors.get(id)?.send({ type: 'request.vanished' });
    this.#forget(entry);
  }

  #onRequests(fact: Fact<ObservedRequest>): void {
    if (fact._tag === 'Present') return this.#consider(fact.object);
    if (fact._tag === 'Absent') return this.#vanished(fact.last.uid);
    const listed = new Set<string>(fact.objects.map(({ uid }) => uid));
    for (const { uid } of [...this.#actors.entries()]) {
      if (!listed.has(uid)) this.#vanished(uidOf(uid));
    }
    this.#unknown.delete('requests');
    this.#considerAll();
  }

  #entriesOf(uids: readonly string[]): readonly RequestEntry[] {
    return uids.flatMap((uid) => this.#actors.entry(uid) ?? []);
  }

  #podSeen(key: ObjectKey): void {
    if (this.#isLeading) this.#metrics.observePod(key, this.#options.registrations.get(key));
    this.#podChanged(this.#entriesOf(this.#byPod.all(key)));
  }

  #podChanged(entries: Iterable<RequestEntry>): void {
    for (const entry of entries) {
      const actor = this.#actors.get(entry.uid);
      const pod = this.#podOf(entry.request);
      if (actor === undefined || sameJson(actor.getSnapshot().context.facts.pod, pod)) continue;
      actor.send({ type: 'pod.observed', pod, nowMs: this.#environment.time.now() });
    }
  }

  #onPods(fact: Fact<DrainPod>): void {
    if (fact._tag === 'Present') return this.#podSeen(fact.object.key);
    if (fact._tag === 'Absent') return this.#podSeen(fact.key);
    if (this.#isLeading) this.#metrics.observePods(this.#options.registrations.values());
    this.#podChanged([...this.#actors.entries()]);
    if (!this.#unknown.delete('pods')) return;
    this.#considerAll();
  }
}
