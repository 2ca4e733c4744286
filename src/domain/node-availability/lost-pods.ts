/**
 * The pods of a Node that is offline: which are replaced elsewhere, and which wait for their Node.
 *
 * Promises: pure and total; in doubt a pod is stateful, because a stateless one is deleted (RS-20);
 * the order is the same in every process: name, then UID (RS-23).
 */
import type { Identity } from '../facts.ts';
import { booleanAt, listOrEmptyAt, recordAt, textAt } from '../json.ts';
import { annotationsOf, identityOf } from '../object-meta.ts';
import { compareText } from '../requirements.ts';
import { rfc3339Seconds } from '../time.ts';

/** Names the emptyDir volumes of a pod that must not be lost, with commas; `*` for all. */
const KEEP_VOLUMES_KEY = 'tidegate.dev/keep-volumes';

/** True on a stateful pod while its Node is offline (RS-21). */
const HOME_OFFLINE_CONDITION = 'tidegate.dev/VolumeHomeNodeOffline';

/** How a pod takes the loss of its Node. */
export type PodClass =
  | 'Stateless'
  | 'Stateful'
  /** A DaemonSet or the kubelet brings it back, or it has finished or is leaving. */
  | 'Ignored';

/** A pod of a Node. */
export interface LostPod extends Identity {
  readonly namespace: string;
  readonly name: string;
  /** Empty while it has no Node. */
  readonly node: string;
  /** Of its owner and its own volumes; its claims are looked at when its Node is offline. */
  readonly podClass: PodClass;
  readonly claims: readonly string[];
  /** It has the condition that its Node is offline. */
  readonly showsHomeOffline: boolean;
}

/** A PersistentVolumeClaim. */
export interface VolumeClaim extends Identity {
  /** Pods of other Nodes may use it at the same time. */
  readonly isShared: boolean;
  /** Empty while it is not bound. */
  readonly volumeName: string;
}

/** A PersistentVolume. */
export interface Volume extends Identity {
  /** It is a folder or a disk of one Node. */
  readonly isOfNode: boolean;
}

const NO_CLAIMS: readonly string[] = [];
const MIRROR_KEY = 'kubernetes.io/config.mirror';
const SHARED_MODES: ReadonlySet<unknown> = new Set(['ReadWriteMany', 'ReadOnlyMany']);

const keptVolumes = (raw: unknown): ReadonlySet<string> =>
  new Set((annotationsOf(raw)[KEEP_VOLUMES_KEY] ?? '').split(',').map((name) => name.trim()));

const tiesToNode = (volume: unknown, kept: ReadonlySet<string>): boolean => {
  if (recordAt(volume, 'hostPath') !== undefined) return true;
  if (recordAt(volume, 'emptyDir') === undefined) return false;
  return kept.has('*') || kept.has(textAt(volume, 'name') ?? '');
};

/** The volumes of a pod whose content is lost with its Node, claims left out. */
export const volumesOfNode = (raw: unknown): readonly string[] => {
  const kept = keptVolumes(raw);
  return listOrEmptyAt(raw, 'spec', 'volumes').filter((volume) => tiesToNode(volume, kept))
    .map((volume) => textAt(volume, 'name') ?? '');
};

const isLeft = (raw: unknown, kinds: readonly string[]): boolean => {
  const phase = textAt(raw, 'status', 'phase');
  return kinds.includes('DaemonSet') || Object.hasOwn(annotationsOf(raw), MIRROR_KEY) ||
    phase === 'Succeeded' || phase === 'Failed' ||
    textAt(raw, 'metadata', 'deletionTimestamp') !== undefined;
};

const classOf = (raw: unknown): PodClass => {
  const owners = listOrEmptyAt(raw, 'metadata', 'ownerReferences')
    .filter((owner) => booleanAt(owner, 'controller') === true);
  const kinds = owners.map((owner) => textAt(owner, 'kind') ?? '');
  if (isLeft(raw, kinds)) return 'Ignored';
  // Nothing makes an ownerless pod again, and a StatefulSet makes none beside the old one.
  if (kinds.length === 0 || kinds.includes('StatefulSet')) return 'Stateful';
  return volumesOfNode(raw).length > 0 ? 'Stateful' : 'Stateless';
};

const claimsOf = (raw: unknown): readonly string[] => {
  const claims = listOrEmptyAt(raw, 'spec', 'volumes')
    .flatMap((volume) => textAt(volume, 'persistentVolumeClaim', 'claimName') ?? []);
  return claims.length === 0 ? NO_CLAIMS : claims;
};

/** Reads a pod. */
export const projectLostPod = (raw: unknown): LostPod | undefined => {
  const identity = identityOf(raw);
  return identity && {
    ...identity,
    namespace: textAt(raw, 'metadata', 'namespace') ?? '',
    name: textAt(raw, 'metadata', 'name') ?? '',
    node: textAt(raw, 'spec', 'nodeName') ?? '',
    podClass: classOf(raw),
    claims: claimsOf(raw),
    showsHomeOffline: listOrEmptyAt(raw, 'status', 'conditions').some((one) =>
      textAt(one, 'type') === HOME_OFFLINE_CONDITION && textAt(one, 'status') === 'True'
    ),
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

/** Reads a PersistentVolume. */
export const projectVolume = (raw: unknown): Volume | undefined => {
  const identity = identityOf(raw);
  return identity && {
    ...identity,
    isOfNode: recordAt(raw, 'spec', 'local') !== undefined ||
      recordAt(raw, 'spec', 'hostPath') !== undefined,
  };
};

/** The strategic merge patch of a pod's status that sets the condition, or removes it. */
export const homeOfflinePatch = (
  { uid, node }: Pick<LostPod, 'uid' | 'node'>,
  { isOffline, nowMs }: { readonly isOffline: boolean; readonly nowMs: number },
): object => {
  const type = HOME_OFFLINE_CONDITION;
  const condition = isOffline
    ? {
      type,
      status: 'True',
      reason: 'VolumeHomeNodeOffline',
      message: `Node "${node}" is offline; the pod waits for it`,
      lastTransitionTime: rfc3339Seconds(nowMs),
    }
    : { $patch: 'delete', type };
  return { metadata: { uid }, status: { conditions: [condition] } };
};

/** Claims and volumes by name; `undefined` for one that is not known. */
export interface VolumeLookup {
  readonly claim: (namespace: string, name: string) => VolumeClaim | undefined;
  readonly volume: (name: string) => Volume | undefined;
}

/** How the pod takes the loss of its Node, its claims included. */
export const podClassOf = (
  { namespace, podClass, claims }: Pick<LostPod, 'namespace' | 'podClass' | 'claims'>,
  lookup: VolumeLookup,
): PodClass => {
  if (podClass !== 'Stateless') return podClass;
  const isFree = claims.every((name) => {
    const claim = lookup.claim(namespace, name);
    const volume = claim && lookup.volume(claim.volumeName);
    return claim?.isShared === true && volume?.isOfNode === false;
  });
  return isFree ? 'Stateless' : 'Stateful';
};

/** The pods in the order in which they are handled: name, then UID. */
export const inOrder = <Pod extends Pick<LostPod, 'namespace' | 'name' | 'uid'>>(
  pods: Iterable<Pod>,
): readonly Pod[] =>
  [...pods].toSorted((left, right) =>
    compareText(left.namespace, right.namespace) || compareText(left.name, right.name) ||
    compareText(left.uid, right.uid)
  );
