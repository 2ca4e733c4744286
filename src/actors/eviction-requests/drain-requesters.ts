/**
 * The drains of this process as requesters of EvictionRequests (ER-74 to ER-78).
 *
 * Promises: nothing is written unless this process leads; the next leader goes on with the entries
 * of this one, and removes those of drains that have ended, by current Nodes and pods; a pod that
 * is not asked for by request is left to the plain eviction, with one Event on its Node for each
 * cause.
 */
import { audit, type Observable, Subject, Subscription } from 'rxjs';
import type { RecordEvent } from '../../api/event-note.ts';
import type { Blocker } from '../../domain/drain/blocker.ts';
import { annotationOf } from '../../domain/drain/cordon.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import {
  asksByRequest,
  type EvictionMode,
  ownerOfRequester,
  type PodLife,
  requesterBlocker,
  requesterName,
} from '../../domain/eviction-requests/drain-requester.ts';
import type { ObservedRequest } from '../../domain/eviction-requests/observed-request.ts';
import type { RequestedPod } from '../../domain/eviction-requests/requester.ts';
import type { InterceptedPod } from '../../domain/eviction-requests/target-pod.ts';
import type { Fact } from '../../domain/facts.ts';
import { objectKey, type Uid, uid as uidOf } from '../../domain/ids.ts';
import { multiIndex } from '../../domain/multi-index.ts';
import type { EvictionRequests } from '../../effects/eviction-requests.ts';
import type { EvictionRequesterContext } from '../../machines/eviction-requester.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type Defer, deferredSends } from '../actor-logic.ts';
import { type ConcurrencyLimit, startConcurrencyLimit } from '../concurrency-limit.ts';
import type { Informer } from '../informers/informer.ts';
import type { MaintainedNodes } from '../node-drains/maintained-nodes.ts';
import type { RequestedEvictions } from '../pod-evictions/pod-evictions-options.ts';
import {
  type DrainRequesterActors,
  drainRequesterActors,
  type RequesterEntry,
} from './drain-requester-actor.ts';

/** Requests that are written at once; the write budget paces them. */
const WRITES_AT_ONCE = 32;

/** What the requesters follow. */
export interface DrainRequestersOptions {
  /** `--via`. */
  readonly mode: EvictionMode;
  readonly requests: Pick<Informer<ObservedRequest>, 'facts' | 'get' | 'values' | 'synced'>;
  readonly pods: Pick<Informer<DrainPod>, 'facts' | 'get'>;
  /** The interceptors of the same pods. */
  readonly registrations: Pick<Informer<InterceptedPod>, 'get'>;
  readonly nodes: Pick<Informer<DrainedNode>, 'get'>;
  /** Resolves once Nodes and pods are those of the cluster, as far as is known. */
  readonly whenCurrent: () => Promise<void>;
  /** The interceptors of a pod besides those that it registers. */
  readonly defaultsFor: (pod: DrainPod) => readonly string[];
  /** The names of maintenances; without it, those of their owners. */
  readonly maintained?: Pick<MaintainedNodes, 'requesterOf' | 'ownerOf' | 'isGone'> | undefined;
  readonly record: RecordEvent;
}

/** By name, not by owner: two actors of one name would undo each other's writes. */
const keyOf = (pod: string, requester: string): string => `${pod} ${requester}`;

const lifeOf = ({ finished, terminating }: DrainPod): PodLife => {
  if (finished) return 'Gone';
  return terminating ? 'Leaves' : 'Runs';
};

/** All requesters of a process; not leading at first. */
export class DrainRequesters implements RequestedEvictions {
  readonly #environment: ActorEnvironment<EvictionRequests>;
  readonly #options: DrainRequestersOptions;
  readonly #registry: DrainRequesterActors;
  readonly #slots: ConcurrencyLimit<RequesterEntry>;
  readonly #byPod = multiIndex();
  /** How many entries each Node has. */
  readonly #entriesOn = new Map<string, number>();
  readonly #changes = new Subject<Uid>();
  /** Causes that are recorded on a Node while drains ask for pods of it. */
  readonly #recorded = new Map<string, Set<string>>();
  readonly #subscription = new Subscription();
  readonly #sweeps = new Subject<void>();
  /** Sweeps of the current term as leader, those that wait included. */
  #sweeping = Subscription.EMPTY;
  readonly #defer: Defer;
  #isLeading = false;

  constructor(environment: ActorEnvironment<EvictionRequests>, options: DrainRequestersOptions) {
    this.#environment = environment;
    this.#options = options;
    this.#defer = deferredSends(environment.telemetry);
    this.#slots = startConcurrencyLimit<RequesterEntry>({
      atOnce: WRITES_AT_ONCE,
      keyOf: ({ key }) => key,
      activate: ({ key }) => this.#registry.get(key),
    });
    this.#registry = drainRequesterActors(environment, {
      requestOf: this.#requestOf,
      actions: {
        requestSlot: (context) => this.#withEntry(context, this.#slots.request),
        recordRefused: (context) => this.#problem(context, 'Cannot write an EvictionRequest'),
        recordFailing: (context) => this.#problem(context, 'Writes of an EvictionRequest fail'),
      },
      onSnapshot: (entry, context) => this.#moved(entry, context),
    });
    const { requests, pods } = options;
    this.#subscription.add(requests.facts.subscribe((fact) => this.#onRequests(fact)));
    this.#subscription.add(pods.facts.subscribe((fact) => this.#onPods(fact)));
  }

  get changes(): Observable<Uid> {
    return this.#changes;
  }

  readonly actors = () => this.#registry.actors();

  readonly want: RequestedEvictions['want'] = (pod, owner) => {
    const { maintained } = this.#options;
    const requester = maintained?.requesterOf(owner) ?? requesterName(owner);
    if (!this.#isLeading || requester === undefined) return;
    const known = this.#registry.entry(keyOf(pod.uid, requester));
    if (known !== undefined) {
      const isNew = known.owners.size === 0;
      known.owners.add(owner);
      if (isNew) this.#registry.get(known.key)?.send({ type: 'eviction.wanted' });
    } else if (this.#asks(pod)) {
      const owners = new Set([owner]);
      this.#start({ pod, uid: pod.uid, owners, requester, node: pod.node, life: lifeOf(pod) });
    }
  };

  readonly withdraw: RequestedEvictions['withdraw'] = (pod, owner) => {
    for (const { key, owners } of this.#entriesOf(pod)) {
      if (!owners.delete(owner) || owners.size > 0) continue;
      this.#registry.get(key)?.send({ type: 'eviction.released' });
    }
  };

  readonly blockerOf = (pod: Uid): Blocker | undefined => {
    let blocker: Blocker | undefined;
    for (const context of this.#contextsOf(pod)) {
      if (context.wanted && context.fallback !== null) return undefined;
      blocker ??= requesterBlocker(context);
    }
    return blocker;
  };

  readonly fallbackOf = (pod: Uid): string =>
    this.#contextsOf(pod).find(({ wanted }) => wanted)?.fallback?.text ?? '';

  readonly onLeading = (): void => {
    this.#isLeading = true;
    this.#sweeping.unsubscribe();
    // By old Nodes, a process that was cut off would end drains that have begun since.
    this.#sweeping = this.#sweeps.pipe(audit(this.#options.whenCurrent))
      .subscribe(() => this.#sweepAll());
    this.sweep();
  };

  /** The next leader goes on with the entries: none is removed. */
  readonly onLeadershipLost = (): void => {
    this.#isLeading = false;
    this.#sweeping.unsubscribe();
    for (const entry of [...this.#registry.entries()]) this.#forget(entry);
    this.#recorded.clear();
  };

  /** Writes nothing new; resolves when writes in flight have their answers. */
  readonly stop = (): Promise<void> => {
    this.#isLeading = false;
    this.#sweeping.unsubscribe();
    this.#subscription.unsubscribe();
    this.#slots.stop();
    return this.#registry.stop();
  };

  readonly #requestOf = ({ namespace, uid }: RequestedPod): ObservedRequest | undefined =>
    this.#options.requests.get(objectKey(uid, namespace));

  #contextsOf(pod: Uid): readonly EvictionRequesterContext[] {
    return this.#byPod.all(pod)
      .flatMap((key) => this.#registry.get(key)?.getSnapshot().context ?? []);
  }

  #asks(pod: DrainPod): boolean {
    const { mode, requests, registrations, defaultsFor } = this.#options;
    if (!requests.synced) return false;
    const own = registrations.get(pod.key)?.interceptors.names ?? [];
    return asksByRequest(mode, {
      interceptors: own.length > 0 ? own : defaultsFor(pod),
      request: this.#requestOf(pod),
      isOfDaemonSet: pod.controller?.kind === 'DaemonSet',
    });
  }

  #start({ pod, ...rest }: Omit<RequesterEntry, 'key' | 'reported'>): void {
    const { namespace, name } = pod;
    const key = keyOf(rest.uid, rest.requester);
    this.#byPod.add(rest.uid, key);
    this.#countOn(rest.node, 1);
    const entry = { ...rest, key, pod: { namespace, name, uid: rest.uid }, reported: '' };
    this.#registry.consider(entry);
  }

  #forget(entry: RequesterEntry): void {
    if (this.#registry.entry(entry.key) !== entry) return;
    this.#registry.remove(entry.key);
    this.#byPod.remove(entry.uid, entry.key);
    this.#countOn(entry.node, -1);
  }

  /** What is recorded on a Node is forgotten with its last entry. */
  #countOn(node: string, by: 1 | -1): void {
    const count = (this.#entriesOn.get(node) ?? 0) + by;
    if (count > 0) return void this.#entriesOn.set(node, count);
    this.#entriesOn.delete(node);
    this.#recorded.delete(node);
  }

  #withEntry(
    { requester, pod }: EvictionRequesterContext,
    act: (entry: RequesterEntry) => void,
  ): void {
    const entry = this.#registry.entry(keyOf(pod.uid, requester));
    if (entry !== undefined) act(entry);
  }

  #problem({ pod, problem, requester }: EvictionRequesterContext, message: string): void {
    const fields = { pod: `${pod.namespace}/${pod.name}`, requester, problem };
    this.#environment.telemetry.log('warn', message, fields);
  }

  #moved(entry: RequesterEntry, context: EvictionRequesterContext): void {
    const { fallback, phase } = context;
    if (fallback !== null) this.#fellBack(entry, fallback);
    const now = JSON.stringify([requesterBlocker(context) ?? null, fallback?.cause ?? null]);
    if (now !== entry.reported) {
      entry.reported = now;
      if (fallback !== null) {
        this.#environment.telemetry.count('tidegate_drain_pods_unasked_total', 1, {
          cause: fallback.cause,
        });
      }
      this.#defer(() => this.#changes.next(entry.uid));
    }
    if (phase === 'Done') this.#defer(() => this.#forgetDone(entry));
  }

  /** Unless a drain wants the pod to leave again. */
  #forgetDone(entry: RequesterEntry): void {
    const context = this.#registry.get(entry.key)?.getSnapshot().context;
    const isDone = context?.phase === 'Done' && context.pendingWrite === null;
    if (isDone && (entry.owners.size === 0 || entry.life === 'Gone')) this.#forget(entry);
  }

  #fellBack({ node, pod }: RequesterEntry, { cause, text }: { cause: string; text: string }): void {
    const causes = this.#recorded.get(node) ?? new Set();
    if (causes.has(cause)) return;
    this.#recorded.set(node, causes.add(cause));
    const { nodes, record } = this.#options;
    const key = `${pod.namespace}/${pod.name}`;
    const note = `Evicts pods without asking their interceptors: ${text} (${key})`;
    this.#environment.telemetry.log('warn', 'Pods evicted without an EvictionRequest', {
      node,
      pod: key,
      problem: text,
    });
    const regarding = {
      apiVersion: 'v1',
      kind: 'Node',
      name: node,
      uid: nodes.get(objectKey(node))?.uid ?? '',
    };
    record({ regarding, reason: 'EvictionRequestUnavailable', note });
  }

  /** Removes the entries of drains that ended while no process led, once Nodes are current. */
  readonly sweep = (): void => this.#sweeps.next();

  #sweepAll(): void {
    const { requests } = this.#options;
    if (!requests.synced) return;
    for (const request of [...requests.values()]) this.#sweepRequest(request);
  }

  #sweepRequest({ requesters, namespace, pod }: ObservedRequest): void {
    const { pods, nodes, maintained } = this.#options;
    for (const requester of requesters) {
      const owner = maintained?.ownerOf(requester) ?? ownerOfRequester(requester);
      if (owner === '' && maintained?.isGone(requester) !== true) continue;
      if (this.#registry.has(keyOf(pod.uid, requester))) continue;
      const cached = pods.get(objectKey(pod.name, namespace));
      const current = cached?.uid === pod.uid ? cached : undefined;
      const node = current === undefined ? undefined : nodes.get(objectKey(current.node));
      const annotation = node && owner !== '' ? annotationOf(node, owner) : undefined;
      if (annotation?.ended === null) continue;
      this.#start({
        pod: { namespace, ...pod },
        uid: uidOf(pod.uid),
        owners: new Set(),
        requester,
        node: current?.node ?? '',
        life: current === undefined ? 'Gone' : lifeOf(current),
      });
    }
  }

  #entriesOf(pod: string): readonly RequesterEntry[] {
    return this.#byPod.all(pod).flatMap((key) => this.#registry.entry(key) ?? []);
  }

  #requestSeen(request: ObservedRequest): void {
    for (const { key } of this.#entriesOf(request.name)) {
      this.#registry.get(key)?.send({ type: 'request.observed', request });
    }
  }

  #onRequests(fact: Fact<ObservedRequest>): void {
    if (fact._tag === 'Present') return this.#requestSeen(fact.object);
    if (fact._tag === 'Absent') {
      const { name, uid } = fact.last;
      for (const { key } of this.#entriesOf(name)) {
        this.#registry.get(key)?.send({ type: 'request.vanished', uid });
      }
      return;
    }
    for (const request of fact.objects) this.#requestSeen(request);
    this.sweep();
  }

  #observeLife(entry: RequesterEntry, life: PodLife): void {
    if (entry.life === life) return;
    entry.life = life;
    this.#registry.get(entry.key)?.send({ type: 'pod.observed', life });
  }

  #onPods(fact: Fact<DrainPod>): void {
    if (fact._tag === 'Present') {
      for (const entry of this.#entriesOf(fact.object.uid)) {
        this.#observeLife(entry, lifeOf(fact.object));
      }
    } else if (fact._tag === 'Absent') {
      for (const entry of this.#entriesOf(fact.last.uid)) this.#observeLife(entry, 'Gone');
    } else {
      for (const entry of [...this.#registry.entries()]) {
        const current = this.#options.pods.get(objectKey(entry.pod.name, entry.pod.namespace));
        this.#observeLife(entry, current?.uid === entry.uid ? lifeOf(current) : 'Gone');
      }
    }
  }
}
