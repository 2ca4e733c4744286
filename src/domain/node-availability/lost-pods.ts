/**
 * The pods of a Node that is offline: which are replaced elsewhere, and which wait for their Node.
 *
 * Promises: pure and total; in doubt a pod is stateful, because a stateless one is deleted (RS-20);
 * the order is the same in every process: name, then UID (RS-23).
 */
import type { Identity } from '../facts.ts';
import { isConditionTrue } from '../condition.ts';
import { booleanAt, listOrEmptyAt, textAt } from '../json.ts';
import { annotationsOf, identityOf } from '../object-meta.ts';
import { compareText } from '../requirements.ts';
import { rfc3339Seconds } from '../time.ts';
import { type PodStorage, podStorage, type VolumeLookup } from './local-volumes.ts';

/** True on a stateful pod while its Node is offline (RS-21). */
const HOME_OFFLINE_CONDITION = 'tidegate.dev/VolumeHomeNodeOffline';

/** How a pod takes the loss of its Node. */
export type PodClass =
  | 'Stateless'
  | 'Stateful'
  /** A DaemonSet or the kubelet brings it back, or it has finished; or it is deleted already. */
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

const MIRROR_KEY = 'kubernetes.io/config.mirror';

const isLeft = (raw: unknown, kinds: readonly string[]): boolean => {
  const phase = textAt(raw, 'status', 'phase');
  return kinds.includes('DaemonSet') || Object.hasOwn(annotationsOf(raw), MIRROR_KEY) ||
    phase === 'Succeeded' || phase === 'Failed';
};

const classOf = (raw: unknown, { nodeVolumes }: PodStorage): PodClass => {
  const owners = listOrEmptyAt(raw, 'metadata', 'ownerReferences')
    .filter((owner) => booleanAt(owner, 'controller') === true);
  const kinds = owners.map((owner) => textAt(owner, 'kind') ?? '');
  if (isLeft(raw, kinds)) return 'Ignored';
  // Nothing makes an ownerless pod again, and a StatefulSet makes none beside the old one.
  if (kinds.length === 0 || kinds.includes('StatefulSet')) return 'Stateful';
  return nodeVolumes.length > 0 ? 'Stateful' : 'Stateless';
};

/** Reads a pod, whether or not it is deleted already: it exists until its kubelet has answered. */
export const projectExistingPod = (raw: unknown): LostPod | undefined => {
  const identity = identityOf(raw);
  if (identity === undefined) return undefined;
  const storage = podStorage(raw);
  return {
    ...identity,
    namespace: textAt(raw, 'metadata', 'namespace') ?? '',
    name: textAt(raw, 'metadata', 'name') ?? '',
    node: textAt(raw, 'spec', 'nodeName') ?? '',
    podClass: classOf(raw, storage),
    claims: storage.claims,
    showsHomeOffline: isConditionTrue(raw, HOME_OFFLINE_CONDITION),
  };
};

/** Reads a pod; one that is deleted already is not deleted again. */
export const projectLostPod = (raw: unknown): LostPod | undefined => {
  const pod = projectExistingPod(raw);
  const isDeleted = textAt(raw, 'metadata', 'deletionTimestamp') !== undefined;
  return pod && isDeleted ? { ...pod, podClass: 'Ignored' } : pod;
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
