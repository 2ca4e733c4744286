/**
 * The availability of all Nodes, one actor each, and the storms that they form together.
 *
 * Promises: renewals of Leases are followed before this process leads, so that a new leader knows
 * how long each has been silent (RS-05); nothing is decided before it leads and the lists are
 * complete; a storm is looked for whenever a Node goes offline (RS-06); a change costs as much as
 * the Nodes that are offline, and no more for Nodes and pods that are well.
 */
import { auditTime, filter, merge, Subject, Subscription } from 'rxjs';
import type { RecordEvent } from '../../api/event-note.ts';
import { nodePods } from '../../domain/drain/node-pods.ts';
import type { Fact, Identity } from '../../domain/facts.ts';
import { objectKey } from '../../domain/ids.ts';
import { sameJson } from '../../domain/json-equality.ts';
import type { Volume, VolumeClaim } from '../../domain/node-availability/local-volumes.ts';
import { inOrder, type LostPod, podClassOf } from '../../domain/node-availability/lost-pods.ts';
import type { AvailableNode } from '../../domain/node-availability/node-state.ts';
import { stormNodes } from '../../domain/node-availability/offline-storm.ts';
import { listed } from '../../domain/text.ts';
import type { NodeAvailabilityApi } from '../../effects/node-availability.ts';
import type { AvailabilityTimes, ReplacedPod } from '../../machines/node-availability-context.ts';
import { settledChanges } from '../../streams/settled-changes.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { Informer } from '../informers/informer.ts';
import type { DrainRegistry } from '../node-drains/drains.ts';
import type { RecordOnLease } from '../role.ts';
import { WaitingPods } from './waiting-pods.ts';
import {
  type AvailabilityEntry,
  type NodeAvailabilityActor,
  type NodeAvailabilityActors,
  nodeAvailabilityActors,
} from './node-availability-actor.ts';

/** The Lease of a Node. */
export interface NodeLease extends Identity {
  readonly node: string;
  /** As its kubelet wrote it: compared with its last value only. */
  readonly renewTime: string;
}

/** The settings of the role. */
export interface AvailabilityPolicy extends AvailabilityTimes {
  /** `--degraded-conditions`. */
  readonly degradedBy: readonly string[];
  /** `--offline-storm-limit`. */
  readonly stormLimitPercent: number;
}

/** What the actors follow and act on. */
export interface NodeAvailabilitiesOptions {
  readonly policy: AvailabilityPolicy;
  readonly project: (raw: unknown) => AvailableNode | undefined;
  readonly nodes: Pick<Informer<AvailableNode>, 'facts' | 'get' | 'values' | 'size'>;
  readonly leases: Pick<Informer<NodeLease>, 'facts'>;
  readonly pods: Pick<Informer<LostPod>, 'facts'>;
  readonly claims: Pick<Informer<VolumeClaim>, 'facts' | 'get'>;
  readonly volumes: Pick<Informer<Volume>, 'facts' | 'get'>;
  /** The drains of disabled Nodes. */
  readonly drains: Pick<DrainRegistry, 'has' | 'withdraw'>;
  /** All lists are complete. */
  readonly isSynced: () => boolean;
  /** Nodes or Leases could not be read lately. */
  readonly isBehind: () => boolean;
  readonly record: RecordEvent;
  readonly recordOnLease: RecordOnLease;
}

/** Leases are renewed every ten seconds, so that Nodes which fail together go one after another. */
const STORM_GATHERS_MS = 15_000;

/** Nodes that one message names. */
const NAMED_MAX = 10;

/** What was last seen of a Lease. */
interface Renewal {
  readonly renewTime: string;
  readonly atMs: number;
}

/** All Nodes of a process; not leading at first. */
export class NodeAvailabilities {
  readonly #environment: ActorEnvironment<NodeAvailabilityApi>;
  readonly #options: NodeAvailabilitiesOptions;
  readonly #actors: NodeAvailabilityActors;
  readonly #pods = nodePods<LostPod>();
  /** By name of the Node, on the monotonic clock. */
  readonly #renewals = new Map<string, Renewal>();
  readonly #waiting: WaitingPods;
  readonly #changes = new Subject<void>();
  readonly #subscription = new Subscription();
  /** The Nodes of a storm, whenever it grows. */
  readonly #storms = new Subject<readonly string[]>();
  /** Nodes that are offline, by UID. */
  readonly #offline = new Map<string, AvailabilityEntry>();
  /** UIDs of Nodes of a storm. */
  readonly #protected = new Set<string>();
  /** Names of Nodes whose drain as disabled was cancelled. */
  readonly #enabled = new Set<string>();
  /** Names of Nodes whose pods are to be looked at; `#areAllTouched`: of all. */
  readonly #touched = new Set<string>();
  #areAllTouched = false;
  #areAllConsidered = false;
  #isLeading = false;

  constructor(
    environment: ActorEnvironment<NodeAvailabilityApi>,
    options: NodeAvailabilitiesOptions,
  ) {
    this.#environment = environment;
    this.#options = options;
    this.#waiting = new WaitingPods(environment, {
      record: options.record,
      onFault: (node) => this.#touch(node),
    });
    const { policy, project, record, nodes, leases, pods, claims, volumes } = options;
    this.#actors = nodeAvailabilityActors(environment, {
      times: policy,
      project,
      record,
      input: ({ node }) => ({
        silentMs: this.#silentMs(node.name),
        isGuarded: policy.stormLimitPercent < 100,
      }),
      requestPods: (entry) => this.#wentOffline(entry),
      onSnapshot: (entry, { context }) => {
        entry.node = context.node;
        entry.isKnown = true;
        if (context.state === 'Offline') this.#offline.set(entry.node.uid, entry);
        else this.#wentOnline(entry);
        this.#countStorm(entry.node.uid, context.isProtected);
      },
    });
    this.#subscription.add(pods.facts.subscribe((fact) => this.#onPods(fact)));
    this.#subscription.add(
      merge(claims.facts, volumes.facts).subscribe(() => this.#areAllTouched = true),
    );
    this.#subscription.add(leases.facts.subscribe((fact) => this.#onLeases(fact)));
    this.#subscription.add(nodes.facts.subscribe((fact) => this.#onNodes(fact)));
    const lists = leases.facts.pipe(filter(({ _tag }) => _tag === 'Listed'));
    const changes = [this.#changes, nodes.facts, pods.facts, claims.facts, volumes.facts, lists];
    this.#subscription.add(
      settledChanges(changes, environment.scheduler).subscribe(() => this.#review()),
    );
    this.#subscription.add(
      this.#storms.pipe(auditTime(STORM_GATHERS_MS, environment.scheduler))
        .subscribe((storm) => this.#recordStorm(storm)),
    );
  }

  readonly actors = () => this.#actors.actors();

  /** Nodes by state. */
  readonly counts = (): Readonly<Record<string, number>> => this.#actors.counts();

  readonly onLeading = (): void => {
    this.#isLeading = true;
    this.#areAllTouched = true;
    this.#considerAll();
    this.#changes.next();
  };

  readonly onLeadershipLost = (): void => {
    this.#isLeading = false;
    this.#areAllConsidered = false;
    this.#waiting.clear();
    for (const { node } of [...this.#actors.entries()]) this.#remove(node.uid);
  };

  /** Writes nothing new; resolves when writes in flight have their answers. */
  readonly stop = (): Promise<void> => {
    this.#subscription.unsubscribe();
    this.#waiting.stop();
    return this.#actors.stop();
  };

  get #isReady(): boolean {
    return this.#isLeading && this.#options.isSynced();
  }

  get #now(): number {
    return this.#environment.time.monotonic();
  }

  /** How long ago the Lease was seen to change; a Node without one counts from its first sight. */
  #silentMs(name: string): number {
    const known = this.#renewals.get(name);
    if (known !== undefined) return this.#now - known.atMs;
    this.#renewals.set(name, { renewTime: '', atMs: this.#now });
    return 0;
  }

  #actorOf(name: string): NodeAvailabilityActor | undefined {
    const node = this.#byName.get(name);
    return node === undefined ? undefined : this.#actors.get(node);
  }

  /** UIDs of Nodes by name. */
  readonly #byName = new Map<string, string>();

  #onLeases(fact: Fact<NodeLease>): void {
    if (fact._tag === 'Absent') return this.#onLeaseGone(fact.last);
    const leases = fact._tag === 'Listed' ? fact.objects : [fact.object];
    for (const { node, renewTime } of leases) {
      if (this.#renewals.get(node)?.renewTime === renewTime) continue;
      this.#renewals.set(node, { renewTime, atMs: this.#now });
      this.#actorOf(node)?.send({ type: 'lease.renewed' });
    }
  }

  /** A Node without its Lease is silent from the last renewal on; without a Node nothing is. */
  #onLeaseGone({ node }: NodeLease): void {
    if (this.#options.nodes.get(objectKey(node)) === undefined) this.#renewals.delete(node);
  }

  #onPods(fact: Fact<LostPod>): void {
    const node = this.#pods.observe(fact);
    this.#waiting.observe(fact);
    if (node === undefined) this.#areAllTouched = true;
    else this.#touched.add(node);
  }

  #touch(node: string): void {
    this.#touched.add(node);
    this.#changes.next();
  }

  #remove(uid: string): void {
    this.#actors.remove(uid);
    this.#countStorm(uid, false);
    const entry = this.#offline.get(uid);
    if (entry !== undefined) this.#wentOnline(entry);
  }

  #consider(node: AvailableNode): void {
    const former = this.#byName.get(node.name);
    if (former !== undefined && former !== node.uid) this.#remove(former);
    this.#byName.set(node.name, node.uid);
    // A person made it schedulable: its drain has written that, and the key goes.
    if (node.wasDisabled) this.#enabled.add(node.name);
    else this.#enabled.delete(node.name);
    const entry = this.#actors.entry(node.uid) ?? { node, offlineMs: null, isKnown: false };
    entry.node = node;
    this.#actors.consider(entry);
  }

  /** Those that were observed before the other lists were complete have no actor yet. */
  #considerAll(): void {
    if (!this.#isReady || this.#areAllConsidered) return;
    this.#areAllConsidered = true;
    for (const node of [...this.#options.nodes.values()]) this.#consider(node);
  }

  #vanished({ name, uid }: AvailableNode): void {
    this.#remove(uid);
    if (this.#byName.get(name) !== uid) return;
    this.#byName.delete(name);
    this.#enabled.delete(name);
    this.#renewals.delete(name);
    this.#environment.telemetry.forget('tidegate_node_replaced_pods_total', { node: name });
  }

  #onNodes(fact: Fact<AvailableNode>): void {
    if (fact._tag === 'Absent') return this.#vanished(fact.last);
    const nodes = fact._tag === 'Listed' ? fact.objects : [fact.object];
    for (const { name } of nodes) this.#silentMs(name);
    if (!this.#isReady) return;
    if (fact._tag === 'Listed') {
      const listedNodes = new Set<string>(nodes.map(({ uid }) => uid));
      for (const { node } of [...this.#actors.entries()]) {
        if (!listedNodes.has(node.uid)) this.#vanished(node);
      }
    }
    for (const node of nodes) this.#consider(node);
  }

  #wentOffline(entry: AvailabilityEntry): void {
    // A former process handled it: it is no sign of a storm now.
    const isHandled = !entry.isKnown && entry.node.availability.label === 'Offline';
    entry.offlineMs = isHandled ? null : this.#now;
    this.#touch(entry.node.name);
  }

  #countStorm(uid: string, isProtected: boolean): void {
    if (this.#protected.has(uid) === isProtected) return;
    if (isProtected) this.#protected.add(uid);
    else this.#protected.delete(uid);
    this.#environment.telemetry.gauge('tidegate_storm_nodes', this.#protected.size);
  }

  #wentOnline(entry: AvailabilityEntry): void {
    if (this.#offline.delete(entry.node.uid)) this.#touch(entry.node.name);
  }

  #lookForStorm(): void {
    const { policy, nodes } = this.#options;
    const isProtected = ({ node }: AvailabilityEntry): boolean =>
      this.#actors.get(node.uid)?.getSnapshot().context.isProtected === true;
    const offline = [...this.#offline.values()].filter(({ node }) =>
      this.#actors.get(node.uid) !== undefined
    );
    const storm = new Set(stormNodes(
      offline.map((entry) => ({
        name: entry.node.name,
        sinceMs: entry.offlineMs === null ? null : this.#now - entry.offlineMs,
        isProtected: isProtected(entry),
      })),
      { nodes: nodes.size, limitPercent: policy.stormLimitPercent },
    ));
    const joining = offline.filter((entry) =>
      storm.has(entry.node.name) && !isProtected(entry) &&
      !entry.node.availability.isConfirmedGone
    );
    if (joining.length === 0) return;
    for (const { node } of joining) this.#actors.get(node.uid)?.send({ type: 'storm.detected' });
    this.#storms.next([...storm]);
  }

  #review(): void {
    if (!this.#isReady) return;
    this.#considerAll();
    const { drains } = this.#options;
    for (const name of this.#enabled) {
      if (!drains.has(name, 'disabled')) drains.withdraw(name, 'disabled');
    }
    this.#lookForStorm();
    if (!this.#options.isBehind()) this.#reviewPods();
  }

  #recordStorm(storm: readonly string[]): void {
    const { nodes, recordOnLease } = this.#options;
    if (!this.#isLeading) return;
    recordOnLease(
      'OfflineStorm',
      `${storm.length} of ${nodes.size} Nodes went offline together: ` +
        `${listed(storm, NAMED_MAX)}; none of their pods is deleted`,
    );
  }

  /** The pods of Nodes that are offline, and of those that are back, where something changed. */
  #reviewPods(): void {
    const all = this.#areAllTouched
      ? [...[...this.#offline.values()].map(({ node }) => node.name), ...this.#waiting.nodes()]
      : [];
    const touched = new Set([...this.#touched, ...all]);
    this.#touched.clear();
    this.#areAllTouched = false;
    for (const name of touched) {
      const entry = this.#offline.get(this.#byName.get(name) ?? '');
      if (entry !== undefined) this.#sendPods(entry.node);
      else if (!this.#waiting.isEmpty) {
        for (const pod of [...this.#pods.on(name)]) this.#waiting.remove(pod);
      }
    }
  }

  #sendPods(node: AvailableNode): void {
    const { claims } = this.#options;
    const { stateless, stateful } = this.#podsOf(node);
    for (const pod of stateful) {
      const found = pod.claims.flatMap((name) => claims.get(objectKey(name, pod.namespace)) ?? []);
      this.#waiting.add(pod, found);
    }
    const actor = this.#actors.get(node.uid);
    if (actor !== undefined && !sameJson(actor.getSnapshot().context.pods, stateless)) {
      actor.send({ type: 'pods.observed', pods: stateless });
    }
  }

  #podsOf({ name }: AvailableNode) {
    const { claims, volumes } = this.#options;
    const lookup = {
      claim: (namespace: string, claim: string) => claims.get(objectKey(claim, namespace)),
      volume: (volume: string) => volumes.get(objectKey(volume)),
    };
    const classed = inOrder(this.#pods.on(name))
      .map((pod) => ({ pod, podClass: podClassOf(pod, lookup) }));
    return {
      stateless: classed.flatMap(({ pod, podClass }): readonly ReplacedPod[] =>
        podClass === 'Stateless' ? [{ namespace: pod.namespace, name: pod.name, uid: pod.uid }] : []
      ),
      stateful: classed.flatMap(({ pod, podClass }) => podClass === 'Stateful' ? [pod] : []),
    };
  }
}
