/**
 * The interceptors that a pod registers: an ordered list in an annotation, or in the pod field
 * where the API server has it.
 *
 * Promises: total; names that are invalid, reserved or repeated are dropped and the list is cut
 * at 15, with one text that says so (ER-09, ER-55).
 */
import { LIFECYCLE_GROUP } from '../api-group.ts';
import { listOrEmptyAt, numberAt, textAt } from '../json.ts';
import type { EvictionsApi } from '../native-evictions/evictions-api.ts';
import { isNativeName, nameFromNative } from '../native-evictions/names.ts';
import { byPriority, NATIVE_LIMITS } from '../native-evictions/objects.ts';
import { annotationsOf } from '../object-meta.ts';
import { listed, quoted } from '../text.ts';
import { IMPERATIVE_EVICTION, isQualifiedName, isReservedName } from './qualified-name.ts';
import { EVICTION_REQUEST_LIMITS } from './request-limits.ts';

/** `a.example.com,b.example.com`: the first one acts first. */
export const INTERCEPTORS_ANNOTATION = `${LIFECYCLE_GROUP}/eviction-interceptors`;

/** The valid interceptors of a pod, in order. */
export interface InterceptorList {
  readonly names: readonly string[];
  /** What was dropped and why; empty when nothing was. */
  readonly problem: string;
}

/** A pod without interceptors; shared, because most pods have none. */
export const NO_INTERCEPTORS: InterceptorList = { names: [], problem: '' };

const MAX: number = EVICTION_REQUEST_LIMITS.podInterceptors;
/** Rejected names that a text quotes. */
const QUOTED_NAMES_MAX = 3;

/** The responders that a pod of Kubernetes 1.37 names, the highest priority first. */
const responderNames = (raw: unknown): readonly string[] =>
  listOrEmptyAt(raw, 'spec', 'evictionResponders').flatMap((item) => {
    const name = textAt(item, 'name');
    return name === undefined ? [] : [{ name, priority: numberAt(item, 'priority') ?? 0 }];
  }).sort(byPriority).map(({ name }) => nameFromNative(name));

/** Kubernetes' own controllers register in the pod field, which only it validates. */
const fieldNames = (raw: unknown): readonly string[] => {
  const responders = responderNames(raw);
  return responders.length > 0 ? responders : listOrEmptyAt(raw, 'spec', 'evictionInterceptors')
    .flatMap((item) => textAt(item, 'name') ?? []);
};

const annotationNames = (raw: unknown): readonly string[] => {
  const text = annotationsOf(raw)[INTERCEPTORS_ANNOTATION]?.trim() ?? '';
  return text === '' ? [] : text.split(',').map((name) => name.trim());
};

const namesText = (names: readonly string[]): string =>
  listed(names.map((name) => quoted(name)), QUOTED_NAMES_MAX);

const problemOf = (rejected: readonly string[], cut: number, max = MAX): string => {
  const reasons = [
    ...(rejected.length === 0
      ? []
      : [`${namesText(rejected)} invalid, reserved or repeated: use distinct domain names`]),
    ...(cut === 0 ? [] : [`${cut} beyond the limit of ${max}`]),
  ];
  return reasons.length === 0 ? '' : `Interceptors ignored: ${reasons.join('; ')}`;
};

/** The interceptors that a pod registers; the pod field wins over the annotation. */
export const interceptorsOf = (raw: unknown): InterceptorList => {
  const inField = fieldNames(raw);
  const given = inField.length > 0 ? inField : annotationNames(raw);
  if (given.length === 0) return NO_INTERCEPTORS;
  const valid: string[] = [];
  const rejected: string[] = [];
  for (const name of given) {
    const isInField = inField.length > 0;
    const hasForm = isQualifiedName(name) || (isInField && isNativeName(name));
    const isAllowed = hasForm && name !== IMPERATIVE_EVICTION &&
      (isInField || !isReservedName(name));
    (isAllowed && !valid.includes(name) ? valid : rejected).push(name);
  }
  return {
    names: valid.slice(0, MAX),
    problem: problemOf(rejected, Math.max(0, valid.length - MAX)),
  };
};

/** Those of the interceptors that the API of the request can hold. */
export const interceptorsFor = (list: InterceptorList, api: EvictionsApi): InterceptorList => {
  const isNative = api === 'native';
  // The imperative eviction comes after them.
  const max = isNative ? NATIVE_LIMITS.targetResponders - 1 : MAX;
  const fitting = list.names.filter((name) => isNative || isQualifiedName(name));
  if (fitting.length === list.names.length && fitting.length <= max) return list;
  const rejected = list.names.filter((name) => !fitting.includes(name));
  return {
    names: fitting.slice(0, max),
    problem: [list.problem, problemOf(rejected, Math.max(0, fitting.length - max), max)]
      .filter((text) => text !== '').join('; '),
  };
};
