/** Reads EvictionRequests independently of the operator, for invariants and simulated clients. */
import { isConditionTrue } from '../../src/domain/condition.ts';
import { asText, type JsonRecord, listOrEmptyAt, textAt } from '../../src/domain/json.ts';

export const REQUESTS_RESOURCE = 'evictionrequests.lifecycle.tidegate.dev';
const ROOT = '/apis/lifecycle.tidegate.dev/v1alpha1';
/** The path of all EvictionRequests. */
export const ALL_REQUESTS = `${ROOT}/evictionrequests`;

/** The last interceptor of every request. */
export const IMPERATIVE = 'imperative-eviction.k8s.io';

/** The API path of a request. */
export const requestPath = (namespace: string, name: string): string =>
  `${ROOT}/namespaces/${namespace}/evictionrequests/${name}`;

const textsAt = (object: unknown, ...path: readonly string[]): readonly string[] =>
  listOrEmptyAt(object, ...path).flatMap((item) => asText(item) ?? textAt(item, 'name') ?? []);

/** All interceptors in order. */
export const targetsIn = (request: unknown): readonly string[] =>
  textsAt(request, 'status', 'targetInterceptors');

/** The active interceptors: one or none. */
export const activeIn = (request: unknown): readonly string[] =>
  textsAt(request, 'status', 'activeInterceptors');

export const processedIn = (request: unknown): readonly string[] =>
  textsAt(request, 'status', 'processedInterceptors');

export const requestersIn = (request: unknown): readonly string[] =>
  textsAt(request, 'spec', 'requesters');

/** What an interceptor and the controller wrote of one interceptor. */
export const reportIn = (request: unknown, name: string): JsonRecord | undefined =>
  listOrEmptyAt(request, 'status', 'interceptors')
    .flatMap((entry) => typeof entry === 'object' && entry !== null ? [{ ...entry }] : [])
    .find((entry) => textAt(entry, 'name') === name);

/** A time of an entry in milliseconds. */
export const timeIn = (entry: unknown, field: string): number | undefined => {
  const text = textAt(entry, field);
  return text === undefined ? undefined : Date.parse(text);
};

/** Whether the condition is True. */
export const isTrue = (request: unknown, type: 'Canceled' | 'Evicted'): boolean =>
  isConditionTrue(request, type);

/** Nothing happens to the request any more. */
export const isOver = (request: unknown): boolean =>
  isTrue(request, 'Canceled') || isTrue(request, 'Evicted');
