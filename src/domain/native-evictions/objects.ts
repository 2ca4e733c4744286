/**
 * EvictionRequest and Eviction of `lifecycle.k8s.io/v1alpha1` as the API server returns them.
 *
 * Promises: total for any object; plain data; lists and texts are cut at the bounds of the API.
 */
import { CONTROLLER_MANAGER } from '../eviction-requests/observed-request.ts';
import type { Identity } from '../facts.ts';
import { listOrEmptyAt, numberAt, recordAt, textAt, timeAt } from '../json.ts';
import { generationOf, identityOf, isDeleting, labelsOf, USER_AGENT } from '../object-meta.ts';

/** The group of the API of Kubernetes itself. */
export const NATIVE_GROUP = 'lifecycle.k8s.io';
/** `apiVersion` of its objects. */
export const NATIVE_GROUP_VERSION = `${NATIVE_GROUP}/v1alpha1`;

/** The bounds of the API. */
export const NATIVE_LIMITS = {
  /** Of the pod, and the imperative eviction. */
  targetResponders: 11,
  requesters: 100,
  conditions: 100,
  messageCharacters: 4000,
} as const;

/** The pod that is to leave. */
export interface NativeTarget {
  readonly name: string;
  readonly uid: string;
}

/** A condition of an EvictionRequest or an Eviction. */
export interface NativeCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly sinceMs: number;
}

interface NativeObject extends Identity {
  readonly namespace: string;
  readonly name: string;
  readonly createdMs: number;
  readonly deleting: boolean;
  readonly target: NativeTarget;
  readonly conditions: readonly NativeCondition[];
  /** 0 before a controller observed it. */
  readonly observedGeneration: number;
}

/** What a requester wants. */
export type Intent = 'Eviction' | 'Withdrawn';

/** An EvictionRequest: one for each requester and pod. */
export interface NativeRequest extends NativeObject {
  readonly generation: number;
  readonly requester: string;
  readonly intent: Intent;
}

/** The states of a responder. */
export const RESPONDER_STATES = [
  'Inactive',
  'Active',
  'Interrupted',
  'Canceled',
  'Completed',
] as const;
export type ResponderState = (typeof RESPONDER_STATES)[number];

/** A responder in the order of its priority. */
export interface NativeTargetResponder {
  readonly name: string;
  readonly priority: number;
  readonly state: ResponderState;
}

/** What a responder reports. */
export interface NativeReport {
  readonly name: string;
  readonly startMs: number | null;
  readonly heartbeatMs: number | null;
  readonly completionMs: number | null;
  readonly message: string;
}

/** An Eviction: what becomes of a pod for all its requesters. */
export interface NativeEviction extends NativeObject {
  readonly labels: Readonly<Record<string, string>>;
  /** The UIDs of the EvictionRequests that own it. */
  readonly owners: readonly string[];
  readonly requesters: readonly { readonly name: string; readonly intent: Intent }[];
  readonly targets: readonly NativeTargetResponder[];
  readonly reports: readonly NativeReport[];
  /** Another controller wrote its responders, or created it and has not written them yet. */
  readonly isServedByOther: boolean;
}

const LIMITS = NATIVE_LIMITS;

const conditionOf = (raw: unknown): NativeCondition => ({
  type: textAt(raw, 'type') ?? '',
  status: textAt(raw, 'status') ?? '',
  reason: textAt(raw, 'reason') ?? '',
  message: (textAt(raw, 'message') ?? '').slice(0, LIMITS.messageCharacters),
  sinceMs: timeAt(raw, 'lastTransitionTime') ?? 0,
});

const objectOf = (raw: unknown): NativeObject | undefined => {
  const identity = identityOf(raw);
  if (identity === undefined) return undefined;
  return {
    ...identity,
    namespace: textAt(raw, 'metadata', 'namespace') ?? '',
    name: textAt(raw, 'metadata', 'name') ?? '',
    createdMs: timeAt(raw, 'metadata', 'creationTimestamp') ?? 0,
    deleting: isDeleting(raw),
    target: {
      name: textAt(raw, 'spec', 'target', 'pod', 'name') ?? '',
      uid: textAt(raw, 'spec', 'target', 'pod', 'uid') ?? '',
    },
    conditions: listOrEmptyAt(raw, 'status', 'conditions').slice(0, LIMITS.conditions)
      .map(conditionOf),
    observedGeneration: numberAt(raw, 'status', 'observedGeneration') ?? 0,
  };
};

const intentAt = (raw: unknown, ...path: readonly string[]): Intent =>
  textAt(raw, ...path) === 'Eviction' ? 'Eviction' : 'Withdrawn';

/** Reads an EvictionRequest. `undefined` without an identity. */
export const projectNativeRequest = (raw: unknown): NativeRequest | undefined => {
  const object = objectOf(raw);
  return object && {
    ...object,
    generation: generationOf(raw),
    requester: textAt(raw, 'spec', 'requester') ?? '',
    intent: intentAt(raw, 'spec', 'intent'),
  };
};

const named = <Item>(
  raws: readonly unknown[],
  read: (raw: unknown, name: string) => Item,
): readonly Item[] =>
  raws.flatMap((raw) => {
    const name = textAt(raw, 'name');
    return name === undefined ? [] : [read(raw, name)];
  });

const targetOf = (raw: unknown, name: string): NativeTargetResponder => ({
  name,
  priority: numberAt(raw, 'priority') ?? 0,
  state: RESPONDER_STATES.find((one) => one === textAt(raw, 'state')) ?? 'Inactive',
});

const reportOf = (raw: unknown, name: string): NativeReport => ({
  name,
  startMs: timeAt(raw, 'startTime'),
  heartbeatMs: timeAt(raw, 'heartbeatTime'),
  completionMs: timeAt(raw, 'completionTime'),
  message: (textAt(raw, 'message') ?? '').slice(0, LIMITS.messageCharacters),
});

const reversedDomain = (name: string): string => {
  const [domain = '', key = ''] = name.split('/');
  return `${domain.split('.').toReversed().join('.')}/${key}`;
};

/** Higher priorities first; equal ones by their domains from the top, then by their keys. */
export const byPriority = (
  left: Pick<NativeTargetResponder, 'name' | 'priority'>,
  right: Pick<NativeTargetResponder, 'name' | 'priority'>,
): number => {
  if (left.priority !== right.priority) return right.priority - left.priority;
  return reversedDomain(left.name) < reversedDomain(right.name) ? -1 : 1;
};

/** Our managers: what is applied has the first, what is created has that of the user agent. */
const OUR_MANAGERS: ReadonlySet<string> = new Set([CONTROLLER_MANAGER, USER_AGENT]);

/** Whether another manager than ours wrote this part of an Eviction. */
const isWrittenByOther = (raw: unknown, ...part: readonly string[]): boolean =>
  listOrEmptyAt(raw, 'metadata', 'managedFields').some((entry) =>
    !OUR_MANAGERS.has(textAt(entry, 'manager') ?? '') &&
    recordAt(entry, 'fieldsV1', ...part) !== undefined
  );

/** Its controller creates an Eviction first, and writes its responders with the status. */
const isServedByOther = (raw: unknown): boolean =>
  isWrittenByOther(raw, 'f:status', 'f:targetResponders') ||
  (listOrEmptyAt(raw, 'status', 'targetResponders').length === 0 &&
    isWrittenByOther(raw, 'f:spec', 'f:target'));

/** Reads an Eviction. `undefined` without an identity. */
export const projectNativeEviction = (raw: unknown): NativeEviction | undefined => {
  const object = objectOf(raw);
  const listAt = (field: string, max: number) => listOrEmptyAt(raw, 'status', field).slice(0, max);
  return object && {
    ...object,
    labels: labelsOf(raw),
    owners: listOrEmptyAt(raw, 'metadata', 'ownerReferences')
      .flatMap((owner) => textAt(owner, 'uid') ?? []),
    requesters: named(listAt('requesters', LIMITS.requesters), (one, name) => ({
      name,
      intent: intentAt(one, 'intent'),
    })),
    targets: [...named(listAt('targetResponders', LIMITS.targetResponders), targetOf)]
      .sort(byPriority),
    reports: named(listAt('responders', LIMITS.targetResponders), reportOf),
    isServedByOther: isServedByOther(raw),
  };
};
