/**
 * What maintenances let their drains do: which Nodes they cover, and which pods must leave now.
 *
 * Promises: data only; a drain of a maintenance that is not listed here evicts nothing, so that a
 * key on a Node alone never empties it.
 */
import { type DrainOwner, isMaintenanceOwner } from '../../domain/drain/cordon.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import { requesterName } from '../../domain/eviction-requests/drain-requester.ts';
import { isMaintenanceRequester } from '../../domain/eviction-requests/qualified-name.ts';
import { drainKey } from './drain-index.ts';
import type { LocalData } from './local-data.ts';

/** One Node of a maintenance. */
export interface MaintainedNode {
  /** Its pods may leave: the maintenance drains. */
  readonly isReleased: boolean;
  /** The pods that must leave in the end. */
  readonly isPlanned: (pod: DrainPod) => boolean;
  /** Those of them that leave now. */
  readonly isTargeted: (pod: DrainPod) => boolean;
  /** The grace of evictions, in seconds; `null`: that of each pod. */
  readonly graceSeconds: number | null;
  /** When pods began to leave, on the wall clock. Default: with the key on the Node. */
  readonly drainSinceMs?: number;
}

const UNKNOWN: MaintainedNode = {
  isReleased: false,
  isPlanned: () => false,
  isTargeted: () => false,
  graceSeconds: null,
};
const WHOLE: MaintainedNode = {
  isReleased: true,
  isPlanned: () => true,
  isTargeted: () => true,
  graceSeconds: null,
};

/** The pods of a drain, all of its Node or those that a maintenance names, and which it keeps. */
export const drainScope = (
  { maintained, localData }: {
    readonly maintained?: Pick<MaintainedNodes, 'of'>;
    readonly localData?: Pick<LocalData, 'of'> | undefined;
  },
  { node, owner, on }: {
    readonly node: string;
    readonly owner: DrainOwner;
    readonly on: () => Iterable<DrainPod>;
  },
) => {
  const isOfMaintenance = maintained !== undefined && isMaintenanceOwner(owner);
  const now = () => maintained?.of(node, owner) ?? WHOLE;
  return {
    on: isOfMaintenance ? () => [...on()].filter(now().isPlanned) : on,
    isWithheld: (pod: DrainPod): boolean => !now().isTargeted(pod),
    graceSeconds: (): number | null => now().graceSeconds,
    drainSinceMs: (): number => now().drainSinceMs ?? 0,
    daemonSetsLeave: isOfMaintenance,
    kept: localData?.of(node, owner),
  };
};

/** A Node, and the owner of the drain that a maintenance makes there. */
interface ListedNode {
  readonly node: string;
  readonly owner: DrainOwner;
  readonly maintained: MaintainedNode;
}

/** All Nodes of all maintenances of a process. */
export class MaintainedNodes {
  readonly #nodes = new Map<string, ListedNode>();
  /** Requester names by owner, and owners by requester name. */
  readonly #requesters = new Map<string, string>();
  readonly #owners = new Map<string, DrainOwner>();
  #areAllNamed = false;

  readonly set = (node: string, owner: DrainOwner, maintained: MaintainedNode): void =>
    void this.#nodes.set(drainKey(node, owner), { node, owner, maintained });

  readonly remove = (node: string, owner: DrainOwner): void =>
    void this.#nodes.delete(drainKey(node, owner));

  /** All Nodes with their owners. */
  readonly listed = (): readonly Omit<ListedNode, 'maintained'>[] => [...this.#nodes.values()];

  readonly clear = (): void => {
    this.#nodes.clear();
    this.#requesters.clear();
    this.#owners.clear();
    this.#areAllNamed = false;
  };

  /** The name by which the owner asks for evictions. */
  readonly setRequester = (owner: DrainOwner, requester: string): void => {
    this.#requesters.set(owner, requester);
    this.#owners.set(requester, owner);
  };

  readonly requesterOf = (owner: DrainOwner): string | undefined =>
    this.#requesters.get(owner) ?? requesterName(owner);

  /** Undefined for a name that no known maintenance has. */
  readonly ownerOf = (requester: string): DrainOwner | undefined => this.#owners.get(requester);

  /** Every maintenance of the cluster has its name; never so in a process without maintenances. */
  readonly setAllNamed = (): void => {
    this.#areAllNamed = true;
  };

  /** Whether the name is that of a maintenance that does not exist any more. */
  readonly isGone = (requester: string): boolean =>
    this.#areAllNamed && isMaintenanceRequester(requester) && !this.#owners.has(requester);

  /** Whether a key of the owner on the Node begins a drain. */
  readonly resumes = (node: string, owner: DrainOwner): boolean =>
    !isMaintenanceOwner(owner) || this.#nodes.has(drainKey(node, owner));

  /** What its owner lets the drain do; everything, unless it is a maintenance. */
  readonly of = (node: string, owner: DrainOwner): MaintainedNode =>
    isMaintenanceOwner(owner)
      ? this.#nodes.get(drainKey(node, owner))?.maintained ?? UNKNOWN
      : WHOLE;
}
