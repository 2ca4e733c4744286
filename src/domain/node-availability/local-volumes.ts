/**
 * The data of a pod that exists on its Node only: hostPaths, emptyDirs that must be kept, and
 * claims whose volume is a folder or a disk of the Node, or one that a CSI driver serves on that
 * Node only (`drain-evict-reschedule`: *Step 3*).
 *
 * Promises: pure and total; one classification for drains, for Nodes that fail and for commands.
 */
import type { Identity } from '../facts.ts';
import { objectKey } from '../ids.ts';
import { listOrEmptyAt, recordAt, textAt } from '../json.ts';
import { annotationsOf, identityOf } from '../object-meta.ts';

/** Names the emptyDir volumes of a pod that must not be lost, with commas; `*` for all. */
const KEEP_VOLUMES_KEY = 'tidegate.dev/keep-volumes';

/** A PersistentVolumeClaim. */
export interface VolumeClaim extends Identity {
  /** Pods of other Nodes may use it at the same time. */
  readonly isShared: boolean;
  /** Empty while it is not bound. */
  readonly volumeName: string;
}

/** A PersistentVolume. */
export interface Volume extends Identity {
  /** It is a folder or a disk of one Node, or may be mounted on one Node only. */
  readonly isOfNode: boolean;
}

/** Claims and volumes by name; `undefined` for one that is not known. */
export interface VolumeLookup {
  readonly claim: (namespace: string, name: string) => VolumeClaim | undefined;
  readonly volume: (name: string) => Volume | undefined;
}

/** The lookup in lists. */
export const volumeLookup = (
  claims: Iterable<VolumeClaim>,
  volumes: Iterable<Volume>,
): VolumeLookup => {
  const claimsByKey = new Map<string, VolumeClaim>();
  for (const claim of claims) claimsByKey.set(claim.key, claim);
  const volumesByKey = new Map<string, Volume>();
  for (const volume of volumes) volumesByKey.set(volume.key, volume);
  return {
    claim: (namespace, name) => claimsByKey.get(objectKey(name, namespace)),
    volume: (name) => volumesByKey.get(objectKey(name)),
  };
};

/** What a pod may keep on its Node. */
export interface PodStorage {
  /** Volumes whose content is on the Node, claims left out. */
  readonly nodeVolumes: readonly string[];
  readonly claims: readonly string[];
}

/** Where the data of a claim is. */
export type ClaimPlace =
  | 'OnNode'
  | 'Elsewhere'
  /** The claim or its volume is not known, or not bound. */
  | 'Unknown';

const NONE: readonly string[] = [];
const SHARED_MODES: ReadonlySet<unknown> = new Set(['ReadWriteMany', 'ReadOnlyMany']);

const keptVolumes = (raw: unknown): ReadonlySet<string> =>
  new Set((annotationsOf(raw)[KEEP_VOLUMES_KEY] ?? '').split(',').map((name) => name.trim()));

const tiesToNode = (volume: unknown, kept: ReadonlySet<string>): boolean => {
  if (recordAt(volume, 'hostPath') !== undefined) return true;
  if (recordAt(volume, 'emptyDir') === undefined) return false;
  return kept.has('*') || kept.has(textAt(volume, 'name') ?? '');
};

/** What a pod may keep on its Node; pods without share one empty list. */
export const podStorage = (raw: unknown): PodStorage => {
  const volumes = listOrEmptyAt(raw, 'spec', 'volumes');
  if (volumes.length === 0) return { nodeVolumes: NONE, claims: NONE };
  const kept = keptVolumes(raw);
  const nodeVolumes = volumes.filter((volume) => tiesToNode(volume, kept))
    .map((volume) => textAt(volume, 'name') ?? '');
  const claims = volumes
    .flatMap((volume) => textAt(volume, 'persistentVolumeClaim', 'claimName') ?? []);
  return {
    nodeVolumes: nodeVolumes.length === 0 ? NONE : nodeVolumes,
    claims: claims.length === 0 ? NONE : claims,
  };
};

/** Reads a PersistentVolumeClaim. */
export const projectVolumeClaim = (raw: unknown): VolumeClaim | undefined => {
  const identity = identityOf(raw);
  return identity && {
    ...identity,
    isShared: listOrEmptyAt(raw, 'spec', 'accessModes').some((mode) => SHARED_MODES.has(mode)),
    volumeName: textAt(raw, 'spec', 'volumeName') ?? '',
  };
};

/** Labels that name one Node, by Kubernetes or a CSI driver, such as `topology.topolvm.io/node`. */
const NODE_KEY = /\/(?:hostname|node|nodename)$/u;

/** The Nodes that a term of a node affinity names; undefined where it names none. */
const nodesOf = (term: unknown): readonly unknown[] | undefined => {
  const requirement = [
    ...listOrEmptyAt(term, 'matchExpressions').filter((one) =>
      NODE_KEY.test(textAt(one, 'key') ?? '')
    ),
    ...listOrEmptyAt(term, 'matchFields').filter((one) => textAt(one, 'key') === 'metadata.name'),
  ].find((one) => textAt(one, 'operator') === 'In');
  return requirement === undefined ? undefined : listOrEmptyAt(requirement, 'values');
};

/** True when every term of the node affinity names the same Node; a zone has more than one. */
const isBoundToNode = (volume: unknown): boolean => {
  const terms = listOrEmptyAt(volume, 'spec', 'nodeAffinity', 'required', 'nodeSelectorTerms');
  const nodes = terms.map(nodesOf);
  return nodes.every((names) => names !== undefined) && new Set(nodes.flat()).size === 1;
};

/** Reads a PersistentVolume. */
export const projectVolume = (raw: unknown): Volume | undefined => {
  const identity = identityOf(raw);
  return identity && {
    ...identity,
    isOfNode: recordAt(raw, 'spec', 'local') !== undefined ||
      recordAt(raw, 'spec', 'hostPath') !== undefined || isBoundToNode(raw),
  };
};

/** Where the data of a claim is. */
export const claimPlace = (
  namespace: string,
  name: string,
  lookup: VolumeLookup,
): ClaimPlace => {
  const claim = lookup.claim(namespace, name);
  const volume = claim && lookup.volume(claim.volumeName);
  if (volume === undefined) return 'Unknown';
  return volume.isOfNode ? 'OnNode' : 'Elsewhere';
};

/** The data of a pod that is on its Node only, as far as that is known. */
export const dataOnNode = (
  { namespace, nodeVolumes, claims }: PodStorage & { readonly namespace: string },
  lookup: VolumeLookup,
): readonly string[] => [
  ...nodeVolumes.map((name) => `volume "${name}"`),
  ...claims.filter((name) => claimPlace(namespace, name, lookup) === 'OnNode')
    .map((name) => `claim "${name}"`),
];
