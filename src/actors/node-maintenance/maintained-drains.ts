/**
 * The drains of one maintenance: one for each of its Nodes, in the registry of all drains.
 *
 * Promises: a Node that is not cordoned for the maintenance is ordered again, whoever uncordoned it
 * (NM-13); pods leave only by targets that its status has, so that a restart knows them; Nodes that
 * it no longer selects are released (NM-15); nothing is kept of Nodes that were deleted.
 */
import type { NodeProjection } from '../../domain/cluster-node.ts';
import {
  annotationOf,
  type DrainOwner,
  isCordonedFor,
  isDrainUnderWay,
  isMaintenanceOwner,
  maintenanceOwner,
} from '../../domain/drain/cordon.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import { objectKey } from '../../domain/ids.ts';
import { sameJson } from '../../domain/json-equality.ts';
import { hasOwnLeavingPods, mustLeave } from '../../domain/node-maintenance/drain-step.ts';
import {
  drainStartMs,
  holdsNode,
  isTargetedBy,
  storedTargets,
} from '../../domain/node-maintenance/node-status.ts';
import type { ObservedMaintenance } from '../../domain/node-maintenance/observed-maintenance.ts';
import { rfc3339, type Time } from '../../domain/time.ts';
import type { Informer } from '../informers/informer.ts';
import type { DrainRegistry } from '../node-drains/drains.ts';
import type { MaintainedNodes } from '../node-drains/maintained-nodes.ts';
import type { MaintenanceEntry } from './node-maintenance-actor.ts';

/** A drain that was refused is not begun again before. */
const AGAIN_AFTER_MS = 60_000;

/** What the drains follow and act on. */
export interface MaintainedDrainsOptions {
  readonly nodes: Pick<Informer<NodeProjection>, 'get' | 'values'>;
  /** The pods of a Node, without those that stay for the owner. */
  readonly podsOn: (node: string, owner: DrainOwner) => readonly DrainPod[];
  readonly drains: Pick<
    DrainRegistry,
    'order' | 'release' | 'withdraw' | 'reconsider' | 'has' | 'get'
  >;
  readonly maintained: Pick<MaintainedNodes, 'set' | 'remove' | 'listed'>;
  /** A Node that was cordoned for the maintenance is so no more. */
  readonly onUncordoned: (entry: MaintenanceEntry, node: string) => void;
}

/** The drains of all maintenances. */
export class MaintainedDrains {
  readonly #time: Time;
  readonly #options: MaintainedDrainsOptions;

  constructor(time: Time, options: MaintainedDrainsOptions) {
    this.#time = time;
    this.#options = options;
  }

  /**
   * Drains, or only cordons, the Nodes; releases the others. Those whose work is done stay as they
   * are until the status shows it: one that is in service again is not cordoned and emptied anew.
   */
  readonly cover = (
    entry: MaintenanceEntry,
    selected: readonly NodeProjection[],
    done: ReadonlySet<string>,
  ): void => {
    const names = new Set(selected.map(({ name }) => name));
    for (const node of selected) if (!done.has(node.name)) this.#coverNode(entry, node);
    this.#releaseNodes(entry.owner, (name) => !names.has(name));
    // Nobody else makes schedulable what is released here (NM-14).
    for (const name of entry.cordoned) if (!names.has(name)) entry.cordoned.delete(name);
    this.#forgetGone(entry, names);
  };

  /** The keys of the owner leave all Nodes. */
  readonly release = (owner: DrainOwner): void => this.#releaseNodes(owner, () => true);

  /**
   * Keys of maintenances that do not exist, such as those whose finalizer a person removed, leave
   * all Nodes; what drains may do on Nodes that were deleted is forgotten.
   */
  readonly releaseOrphans = (known: ReadonlySet<string>): void => {
    const orphans = new Set(
      [...this.#options.nodes.values()].flatMap(({ cordons }) =>
        Object.keys(cordons).filter(isMaintenanceOwner).filter((owner) => !known.has(owner))
      ),
    );
    for (const owner of orphans) this.release(owner);
    const { drains, maintained } = this.#options;
    for (const { node, owner } of maintained.listed()) {
      if (this.#isGone(node) && !drains.has(node, owner)) maintained.remove(node, owner);
    }
  };

  /** No Node has a key of the owner, and no drain of it is under way. */
  readonly isReleased = (owner: DrainOwner): boolean => {
    for (const node of this.#options.nodes.values()) {
      if (this.#hasKeyOrDrain(node, owner)) return false;
    }
    return true;
  };

  /** The Node is cordoned for the maintenance. */
  readonly isCordoned = (name: string, { uid }: Pick<ObservedMaintenance, 'uid'>): boolean => {
    const node = this.#options.nodes.get(objectKey(name));
    return node !== undefined && isCordonedFor(node, maintenanceOwner(uid));
  };

  /** The Node is cordoned for the maintenance, and its last drain for it has ended. */
  readonly hasEnded = (name: string, { uid }: Pick<ObservedMaintenance, 'uid'>): boolean => {
    const node = this.#options.nodes.get(objectKey(name));
    const owner = maintenanceOwner(uid);
    return node !== undefined && isCordonedFor(node, owner) && !isDrainUnderWay(node, owner);
  };

  /** The Node has the key of the maintenance, cordoned or not, or a drain for it is under way. */
  readonly isHeld = (name: string, { uid }: Pick<ObservedMaintenance, 'uid'>): boolean => {
    const node = this.#options.nodes.get(objectKey(name));
    if (node === undefined) return false;
    const owner = maintenanceOwner(uid);
    return isCordonedFor(node, owner) || this.#hasKeyOrDrain(node, owner);
  };

  /** The first Node whose drain failed, and begins again; empty without one. */
  readonly refusedNode = (
    { owner, maintenance, mode }: MaintenanceEntry,
    selected: readonly NodeProjection[],
  ): string =>
    (mode === 'Drain' ? selected : []).find((node) =>
      annotationOf(node, owner)?.ended === 'Failed' && holdsNode(maintenance, node.name)
    )?.name ?? '';

  /** The Nodes to which the key of the maintenance is about to come, or which it leaves. */
  readonly moving = <Node extends NodeProjection>(
    { owner, maintenance, mode }: MaintenanceEntry,
    selected: readonly Node[],
  ): readonly Node[] =>
    selected.filter((node) =>
      Object.hasOwn(node.cordons, owner) !==
        (mode !== 'Release' && holdsNode(maintenance, node.name))
    );

  #isGone(node: string): boolean {
    return this.#options.nodes.get(objectKey(node)) === undefined;
  }

  #forgetGone(
    { orders, sentTargets }: MaintenanceEntry,
    selected: ReadonlySet<string>,
  ): void {
    for (const name of sentTargets.keys()) {
      if (selected.has(name) || !this.#isGone(name)) continue;
      for (const known of [orders, sentTargets]) known.delete(name);
    }
  }

  #hasKeyOrDrain(node: NodeProjection, owner: DrainOwner): boolean {
    return annotationOf(node, owner) !== undefined || this.#options.drains.has(node.name, owner);
  }

  #releaseNodes(owner: DrainOwner, isLeft: (node: string) => boolean): void {
    const { drains, maintained, nodes } = this.#options;
    for (const node of nodes.values()) {
      const { name } = node;
      if (!isLeft(name) || !this.#hasKeyOrDrain(node, owner)) continue;
      maintained.remove(name, owner);
      const isWithdrawn = drains.get(name, owner)?.getSnapshot().context.withdrawn === true;
      if (owner !== 'reclaim' && !isWithdrawn) drains.withdraw(name, owner);
    }
  }

  #coverNode(entry: MaintenanceEntry, node: NodeProjection): void {
    const { owner, maintenance, mode } = entry;
    const { drains, maintained, podsOn, onUncordoned } = this.#options;
    const { name } = node;
    const targets = mode === 'Drain' ? storedTargets(maintenance, name) : [];
    const isReleased = targets.length > 0;
    const { spec } = maintenance;
    maintained.set(name, owner, {
      isReleased,
      // Before its targets are stored, a drain waits with its pods instead of ending without them.
      isPlanned: (pod) => mode === 'Drain' && mustLeave(pod, spec),
      isTargeted: (pod) => isTargetedBy(targets, pod),
      graceSeconds: spec.gracePeriodSeconds,
      drainSinceMs: drainStartMs(maintenance),
    });
    const isCordoned = isCordonedFor(node, owner);
    if (!isCordoned && entry.cordoned.delete(name)) onUncordoned(entry, name);
    if (isCordoned) entry.cordoned.add(name);
    const areNew = !sameJson(entry.sentTargets.get(name) ?? [], targets);
    entry.sentTargets.set(name, targets);
    if (drains.has(name, owner)) {
      if (isReleased) this.#releasePods(entry, node);
      if (areNew) drains.reconsider(name, owner);
      return;
    }
    const annotation = annotationOf(node, owner);
    if (isCordoned && annotation?.ended === null) return drains.reconsider(name, owner);
    const isDue = annotation?.ended !== 'Failed' ||
      this.#time.now() - annotation.sinceMs >= AGAIN_AFTER_MS;
    const hasPods = isReleased && isDue && hasOwnLeavingPods(podsOn(name, owner), targets, spec);
    if (!isCordoned || hasPods) this.#order(entry, node, isReleased);
  }

  #order(entry: MaintenanceEntry, node: NodeProjection, isReleased: boolean): void {
    const { owner, maintenance } = entry;
    const sinceMs = this.#time.now();
    const id = `${maintenance.name}@${rfc3339(sinceMs)}`;
    entry.orders.set(node.name, id);
    this.#options.drains.order(node, {
      id,
      owner,
      machineId: '',
      deadlineMs: null,
      graceSeconds: 0,
      sinceMs,
    });
    if (isReleased) this.#releasePods(entry, node);
  }

  #releasePods({ owner, orders }: MaintenanceEntry, node: NodeProjection): void {
    const { drains } = this.#options;
    if (drains.get(node.name, owner)?.getSnapshot().context.released === true) return;
    const ids = new Set(annotationOf(node, owner)?.ids);
    const id = orders.get(node.name);
    if (id !== undefined) ids.add(id);
    for (const one of ids) drains.release(node.name, owner, one);
  }
}
