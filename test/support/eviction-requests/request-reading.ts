/** What tests read in an EvictionRequest of the API server. */
import {
  asRecord,
  type JsonRecord,
  listOrEmptyAt,
  textAt,
  valueAt,
} from '../../../src/domain/json.ts';

/** The names of the requesters, in the order of the alphabet. */
export const requestersOf = (request: unknown): readonly (string | undefined)[] =>
  listOrEmptyAt(request, 'spec', 'requesters').map((one) => textAt(one, 'name')).toSorted();

/** The interceptor that acts. */
export const activeIn = (request: unknown): unknown =>
  listOrEmptyAt(request, 'status', 'activeInterceptors')[0];

/** What an interceptor reports. */
export const reportOf = (request: unknown, name: string): JsonRecord =>
  asRecord(
    listOrEmptyAt(request, 'status', 'interceptors').find((one) => textAt(one, 'name') === name),
  ) ?? {};

/** The time of a field of a report; NaN without it. */
export const timeIn = (request: unknown, name: string, field: string): number =>
  Date.parse(textAt(reportOf(request, name), field) ?? '');

/** The names in `processedInterceptors`. */
export const processedIn = (request: unknown): unknown =>
  valueAt(request, 'status', 'processedInterceptors') ?? [];
