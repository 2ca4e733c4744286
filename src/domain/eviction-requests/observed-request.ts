/**
 * An EvictionRequest as the API server returns it.
 *
 * Promises: total for any object; plain data, suitable for machine context; lists and texts are
 * cut at the bounds of the schema, so that an object of another schema costs no more.
 */
import type { Identity } from '../facts.ts';
import { asText, listOrEmptyAt, numberAt, recordAt, textAt, timeAt } from '../json.ts';
import { generationOf, identityOf, isDeleting, labelsOf } from '../object-meta.ts';
import { type StoredCondition, storedConditionOf } from '../stored-condition.ts';
import { EVICTION_REQUEST_LIMITS } from './request-limits.ts';

/** The field manager of what the controller writes to the status. */
export const CONTROLLER_MANAGER = 'tidegate-eviction-requests';
/** The field manager of the labels that the controller copies from the pod. */
export const LABELS_MANAGER = 'tidegate-eviction-request-labels';

/** What an interceptor reports. Times are milliseconds of the wall clock. */
export interface InterceptorReport {
  readonly name: string;
  readonly startMs: number | null;
  readonly heartbeatMs: number | null;
  readonly completionMs: number | null;
  readonly message: string;
}

/** The types of the conditions that the controller writes. */
export const REQUEST_CONDITIONS = ['Canceled', 'Evicted', 'InterceptorSilent'] as const;
export type RequestConditionType = (typeof REQUEST_CONDITIONS)[number];

/** A condition that the controller writes. */
export type RequestCondition = StoredCondition<RequestConditionType>;

/** The part of a status that only the controller writes. */
export interface ControlledStatus {
  readonly observedGeneration: number;
  readonly conditions: readonly RequestCondition[];
  /** All interceptors in order; empty before the first sync. */
  readonly targets: readonly string[];
  readonly active: string | null;
  readonly processed: readonly string[];
  /** When each became active. */
  readonly starts: Readonly<Record<string, number>>;
}

/** The cached fields of an EvictionRequest. */
export interface ObservedRequest extends Identity {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly createdMs: number;
  readonly deleting: boolean;
  readonly pod: { readonly name: string; readonly uid: string };
  readonly requesters: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** Keys of labels that we copied before (ER-64); null where labels are not copied. */
  readonly copiedLabels: readonly string[] | null;
  readonly status: ControlledStatus;
  readonly reports: readonly InterceptorReport[];
}

const LIMITS = EVICTION_REQUEST_LIMITS;

const namesAt = (raw: unknown, max: number, ...path: readonly string[]): readonly string[] =>
  listOrEmptyAt(raw, ...path).slice(0, max).flatMap((item) => asText(item) ?? []);

const itemNamesAt = (raw: unknown, max: number, ...path: readonly string[]): readonly string[] =>
  listOrEmptyAt(raw, ...path).slice(0, max).flatMap((item) => textAt(item, 'name') ?? []);

const reportOf = (raw: unknown): readonly InterceptorReport[] => {
  const name = textAt(raw, 'name');
  if (name === undefined) return [];
  return [{
    name,
    startMs: timeAt(raw, 'startTime'),
    heartbeatMs: timeAt(raw, 'heartbeatTime'),
    completionMs: timeAt(raw, 'completionTime'),
    message: (textAt(raw, 'message') ?? '').slice(0, LIMITS.messageCharactersRead),
  }];
};

const readConditions = (raw: unknown): readonly RequestCondition[] =>
  storedConditionOf(raw, REQUEST_CONDITIONS, LIMITS.messageCharactersRead);

const LABEL_FIELD = /^f:(?<key>.+)$/u;

/** The keys under `metadata.labels` that our field manager owns. */
const copiedLabelsOf = (raw: unknown): readonly string[] =>
  listOrEmptyAt(raw, 'metadata', 'managedFields')
    .filter((entry) => textAt(entry, 'manager') === LABELS_MANAGER)
    .flatMap((entry) =>
      Object.keys(recordAt(entry, 'fieldsV1', 'f:metadata', 'f:labels') ?? {})
        .flatMap((field) => LABEL_FIELD.exec(field)?.groups?.['key'] ?? [])
    );

const startsOf = (reports: readonly InterceptorReport[]): Readonly<Record<string, number>> =>
  Object.fromEntries(
    reports.flatMap(({ name, startMs }) => startMs === null ? [] : [[name, startMs]]),
  );

/** Reads an EvictionRequest. `undefined` without an identity. */
export const projectEvictionRequest = (raw: unknown): ObservedRequest | undefined => {
  const identity = identityOf(raw);
  if (identity === undefined) return undefined;
  const reports = listOrEmptyAt(raw, 'status', 'interceptors')
    .slice(0, LIMITS.targetInterceptors).flatMap(reportOf);
  const [active = null] = namesAt(raw, 1, 'status', 'activeInterceptors');
  return {
    ...identity,
    namespace: textAt(raw, 'metadata', 'namespace') ?? '',
    name: textAt(raw, 'metadata', 'name') ?? '',
    generation: generationOf(raw),
    createdMs: timeAt(raw, 'metadata', 'creationTimestamp') ?? 0,
    deleting: isDeleting(raw),
    pod: {
      name: textAt(raw, 'spec', 'target', 'pod', 'name') ?? '',
      uid: textAt(raw, 'spec', 'target', 'pod', 'uid') ?? '',
    },
    requesters: itemNamesAt(raw, LIMITS.requesters, 'spec', 'requesters'),
    labels: labelsOf(raw),
    copiedLabels: copiedLabelsOf(raw),
    status: {
      observedGeneration: numberAt(raw, 'status', 'observedGeneration') ?? 0,
      conditions: listOrEmptyAt(raw, 'status', 'conditions').slice(0, LIMITS.conditions)
        .flatMap(readConditions).sort((left, right) => left.type < right.type ? -1 : 1),
      targets: itemNamesAt(raw, LIMITS.targetInterceptors, 'status', 'targetInterceptors'),
      active,
      processed: namesAt(raw, LIMITS.targetInterceptors, 'status', 'processedInterceptors'),
      starts: startsOf(reports),
    },
    reports,
  };
};

/** The condition of this type; undefined unless it is True. */
export const conditionOf = (
  { status }: Pick<ObservedRequest, 'status'>,
  type: RequestConditionType,
): RequestCondition | undefined =>
  status.conditions.find((condition) => condition.type === type && condition.status === 'True');

/** Whether the request is canceled or its pod has left: nothing happens to it any more. */
export const isFinal = (request: Pick<ObservedRequest, 'status'>): boolean =>
  conditionOf(request, 'Canceled') !== undefined || conditionOf(request, 'Evicted') !== undefined;

const NONE: readonly never[] = [];
const EMPTY: Readonly<Record<string, never>> = {};

/**
 * What caches keep of an EvictionRequest. Of a final one that is its end and its requesters:
 * nothing else of it is read any more, and most requests of a cluster are final.
 */
export const projectCachedRequest = (raw: unknown): ObservedRequest | undefined => {
  const request = projectEvictionRequest(raw);
  if (request === undefined || !isFinal(request)) return request;
  const { observedGeneration, conditions } = request.status;
  return {
    ...request,
    labels: EMPTY,
    copiedLabels: NONE,
    reports: NONE,
    status: {
      observedGeneration,
      conditions,
      targets: NONE,
      active: null,
      processed: NONE,
      starts: EMPTY,
    },
  };
};
