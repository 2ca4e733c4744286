/**
 * A CapacityRequest viewed as the request of a pod: its owner, its ownership marks, and its spec.
 *
 * Promises: total; small, because there is one for every pod; ownership follows from the label and
 * an owner reference with the UID, regardless of the name, so that requests of another controller
 * are adopted. One that lost either of them is still ours by our own name for it; a request with
 * neither belongs to no pod.
 */
import { GROUP_VERSION } from '../api-group.ts';
import type { Identity } from '../facts.ts';
import type { Uid } from '../ids.ts';
import { booleanAt, listOrEmptyAt, parseJson, textAt, valueAt } from '../json.ts';
import { mergePatchOf } from '../merge-patch.ts';
import { generationOf, identityOf, isDeleting } from '../object-meta.ts';
import type { Intern } from '../text-pool.ts';
import { OWNED_BY_POD, REQUEST_PREFIX } from './pod-request.ts';
import { type RequestText, requestText } from './request-text.ts';

/** The cached fields of a request. */
export interface OwnedRequest extends Identity {
  /** The UID of its pod; empty when it belongs to no pod. */
  readonly pod: string;
  /** It has the label and the owner reference, so that it is deleted with its pod. */
  readonly marked: boolean;
  /** It is terminating: no write is possible any more. */
  readonly deleting: boolean;
  readonly generation: number;
  /** `status.phase`; empty when not set. */
  readonly phase: string;
  readonly text: RequestText;
}

/** The pod of a request. */
export interface RequestedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: Uid;
}

const UID_LENGTH = 36;

/** `cr-pod-<pod>-<UID>` → the UID of the pod that it was made for, if we made it. */
export const podInName = (name: string): string => {
  const at = name.length - UID_LENGTH;
  return name.startsWith(REQUEST_PREFIX) && name.charAt(at - 1) === '-' ? name.slice(at) : '';
};

const isOwnedBy = (raw: unknown, pod: string): boolean =>
  listOrEmptyAt(raw, 'metadata', 'ownerReferences').some((owner) => textAt(owner, 'uid') === pod);

/** The pod of our owner reference: the owner when the label was removed. */
const podInReference = (raw: unknown): string => {
  if (!textAt(raw, 'metadata', 'name')?.startsWith(REQUEST_PREFIX)) return '';
  const owner = listOrEmptyAt(raw, 'metadata', 'ownerReferences').find((reference) =>
    textAt(reference, 'kind') === 'Pod' && booleanAt(reference, 'controller') === true
  );
  return textAt(owner, 'uid') ?? '';
};

/** Reads a CapacityRequest as the API server returns it. Total; `undefined` without an identity. */
export const projectOwnedRequest = (
  raw: unknown,
  intern: Intern = (text) => text,
): OwnedRequest | undefined => {
  const identity = identityOf(raw);
  if (identity === undefined) return undefined;
  const label = textAt(raw, 'metadata', 'labels', OWNED_BY_POD) ?? '';
  const marked = label !== '' && isOwnedBy(raw, label);
  const isNamedSo = podInName(textAt(raw, 'metadata', 'name') ?? '') === label;
  return {
    ...identity,
    pod: label === '' ? podInReference(raw) : marked || isNamedSo ? label : '',
    marked,
    deleting: isDeleting(raw),
    generation: generationOf(raw),
    phase: intern(textAt(raw, 'status', 'phase') ?? ''),
    text: intern(requestText(valueAt(raw, 'spec'))),
  };
};

/**
 * The subset of the cached fields that goes into a lifecycle, where it is recorded and printed as
 * JSON.
 */
export const asOwnedRequest = (
  { key, uid, resourceVersion, pod, marked, deleting, generation, phase, text }: OwnedRequest,
): OwnedRequest => ({
  key,
  uid,
  resourceVersion,
  pod,
  marked,
  deleting,
  generation,
  phase,
  text,
});

/** Label and owner reference: how a request is found and garbage-collected with its pod. */
const labelsOf = ({ name, uid }: RequestedPod): object => ({
  labels: { [OWNED_BY_POD]: uid },
  ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
});

/** The object to create. A second write sets its status, because creation cannot. */
export const newPodRequest = (pod: RequestedPod, name: string, text: RequestText): object => ({
  apiVersion: GROUP_VERSION,
  kind: 'CapacityRequest',
  metadata: { name, namespace: pod.namespace, ...labelsOf(pod) },
  spec: parseJson(text),
});

/**
 * The merge patch to `text` with ownership marks; `undefined` when the request has both. The UID is
 * a precondition: another object of that name is not changed.
 */
export const podRequestPatch = (
  pod: RequestedPod,
  current: Pick<OwnedRequest, 'text' | 'marked' | 'pod' | 'uid'>,
  text: RequestText,
): object | undefined => {
  const isMarked = current.marked && current.pod === pod.uid;
  const spec = current.text === text
    ? undefined
    : mergePatchOf(parseJson(current.text), parseJson(text));
  if (spec === undefined && isMarked) return undefined;
  return {
    metadata: { uid: current.uid, ...(isMarked ? {} : labelsOf(pod)) },
    ...(spec === undefined ? {} : { spec }),
  };
};
