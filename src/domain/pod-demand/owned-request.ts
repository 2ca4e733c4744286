/**
 * A CapacityRequest as the cluster shows it, seen as the request of a pod: whose it is, how it is
 * marked, and what it says.
 *
 * Promises: total; small, because there is one for every pod; whose request it is follows from its
 * label, whatever its name, so that requests of another controller are adopted.
 */
import { GROUP_VERSION } from '../api-group.ts';
import type { Identity } from '../facts.ts';
import type { Uid } from '../ids.ts';
import { listOrEmptyAt, parseJson, textAt, valueAt } from '../json.ts';
import { mergePatchOf } from '../merge-patch.ts';
import { identityOf, isDeleting } from '../object-meta.ts';
import type { Intern } from '../text-pool.ts';
import { OWNED_BY_POD, REQUEST_PREFIX } from './pod-request.ts';
import { type RequestText, requestText } from './request-text.ts';

/** What the cache keeps of a request. */
export interface OwnedRequest extends Identity {
  /** The UID of its pod; empty when it was made for no pod. */
  readonly pod: string;
  /** It has the label and the owner reference, so that it goes with its pod. */
  readonly marked: boolean;
  /** It waits for its finalizers: nothing can be done about it any more. */
  readonly deleting: boolean;
  /** `status.phase`; empty when there is none yet. */
  readonly phase: string;
  readonly text: RequestText;
}

/** The pod that a request is for. */
export interface RequestedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: Uid;
}

const UID_LENGTH = 36;

/** `cr-pod-<pod>-<UID>` → the UID: whose request it is when somebody took the label away. */
export const podInName = (name: string): string => {
  const at = name.length - UID_LENGTH;
  return name.startsWith(REQUEST_PREFIX) && name.charAt(at - 1) === '-' ? name.slice(at) : '';
};

const isOwnedBy = (raw: unknown, pod: string): boolean =>
  listOrEmptyAt(raw, 'metadata', 'ownerReferences').some((owner) => textAt(owner, 'uid') === pod);

/** Reads a CapacityRequest as the API server gives it. Total; `undefined` without an identity. */
export const projectOwnedRequest = (
  raw: unknown,
  intern: Intern = (text) => text,
): OwnedRequest | undefined => {
  const identity = identityOf(raw);
  if (identity === undefined) return undefined;
  const label = textAt(raw, 'metadata', 'labels', OWNED_BY_POD) ?? '';
  const pod = label === '' ? podInName(textAt(raw, 'metadata', 'name') ?? '') : label;
  return {
    ...identity,
    pod,
    marked: label !== '' && isOwnedBy(raw, label),
    deleting: isDeleting(raw),
    phase: intern(textAt(raw, 'status', 'phase') ?? ''),
    text: intern(requestText(valueAt(raw, 'spec'))),
  };
};

/** That alone of what a cache keeps: what goes into a lifecycle is recorded and shown as JSON. */
export const asOwnedRequest = (
  { key, uid, revision, pod, marked, deleting, phase, text }: OwnedRequest,
): OwnedRequest => ({ key, uid, revision, pod, marked, deleting, phase, text });

/** Label and owner reference: how a request is found, and why it goes with its pod. */
const labelsOf = ({ name, uid }: RequestedPod): object => ({
  labels: { [OWNED_BY_POD]: uid },
  ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
});

/** The object to create. Its status follows in a write of its own: creation cannot set it. */
export const newPodRequest = (pod: RequestedPod, name: string, text: RequestText): object => ({
  apiVersion: GROUP_VERSION,
  kind: 'CapacityRequest',
  metadata: { name, namespace: pod.namespace, ...labelsOf(pod) },
  spec: parseJson(text),
});

/** The merge patch that makes a request say `text` and bear its marks; `undefined` if it does. */
export const podRequestPatch = (
  pod: RequestedPod,
  shown: Pick<OwnedRequest, 'text' | 'marked' | 'pod'>,
  text: RequestText,
): object | undefined => {
  const isMarked = shown.marked && shown.pod === pod.uid;
  const spec = shown.text === text
    ? undefined
    : mergePatchOf(parseJson(shown.text), parseJson(text));
  if (spec === undefined && isMarked) return undefined;
  return {
    ...(isMarked ? {} : { metadata: labelsOf(pod) }),
    ...(spec === undefined ? {} : { spec }),
  };
};

/** Says that nobody has acknowledged the request yet, unless somebody did meanwhile. */
export const pendingPatch = ({ revision }: Pick<OwnedRequest, 'revision'>): object => ({
  metadata: { resourceVersion: revision },
  status: { phase: 'Pending' },
});
