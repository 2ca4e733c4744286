/**
 * The spec of a CapacityRequest as canonical text, so that equal specs are equal strings: cheap to
 * keep, share and compare.
 *
 * Promises: total; the same text for every notation of the same spec (order of requirements,
 * resources and values, `1000m` for `1`, an empty list for none). An invalid spec, and one that is
 * too large, keeps its own JSON, which equals no canonical text.
 */
import { asList, asRecord, asText, listOrEmptyAt, recordAt, textAt, valueAt } from '../json.ts';
import { sizeProblems } from '../demand/request-limits.ts';
import { canonicalQuantity, parseQuantity } from '../quantity.ts';
import { canonicalRequirements, compareText } from '../requirements.ts';
import type { StandardOperator } from '../resources.ts';
import { type NodeRequirement } from './pod-requirements.ts';
import { type RequirementFields, requirementFields } from './pod-placement.ts';

/** Canonical JSON of a spec. */
export type RequestText = string;

const OPERATORS: readonly StandardOperator[] = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

type Fields = Readonly<Record<string, unknown>>;

const present = (name: string, value: unknown): Fields =>
  value === undefined ? {} : { [name]: value };

const unlessEmpty = <Value>(list: readonly Value[]): readonly Value[] | undefined =>
  list.length === 0 ? undefined : list;

const requirementOf = (raw: unknown): NodeRequirement | undefined => {
  const operator = OPERATORS.find((known) => known === textAt(raw, 'operator'));
  if (operator === undefined) return undefined;
  const values = (asList(valueAt(raw, 'values')) ?? []).map((value) => asText(value) ?? '');
  return { key: textAt(raw, 'key') ?? '', operator, values };
};

/** In canonical order; unchanged when an entry is not a requirement. */
const requirementsOf = (
  raw: readonly unknown[],
): readonly RequirementFields[] | readonly unknown[] => {
  const known = raw.flatMap((entry) => requirementOf(entry) ?? []);
  return known.length === raw.length ? canonicalRequirements(known).map(requirementFields) : raw;
};

const sorted = (record: Fields): Fields =>
  Object.fromEntries(
    Object.entries(record).sort(([left], [right]) => compareText(left, right)),
  );

const quantityOf = (value: unknown): unknown => {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  const reading = parseQuantity(String(value));
  return reading._tag === 'Quantity' ? canonicalQuantity(reading.quantity) : value;
};

const selectorOf = (raw: unknown): Fields | undefined => {
  const selector = asRecord(raw);
  if (selector === undefined) return undefined;
  const labels = recordAt(selector, 'matchLabels') ?? {};
  const expressions = requirementsOf(listOrEmptyAt(selector, 'matchExpressions'));
  return {
    ...present('matchLabels', Object.keys(labels).length === 0 ? undefined : sorted(labels)),
    ...present('matchExpressions', unlessEmpty(expressions)),
  };
};

const coLocationOf = (raw: unknown): Fields | undefined => {
  const coLocation = asRecord(raw);
  if (coLocation === undefined) return undefined;
  return {
    topologyKey: valueAt(coLocation, 'topologyKey'),
    ...present('labelSelector', selectorOf(valueAt(coLocation, 'labelSelector'))),
  };
};

/** By topology key, as a pod's request is written. */
const spreadOf = (raw: readonly unknown[]): readonly unknown[] =>
  raw.map((entry) => ({
    maxSkew: valueAt(entry, 'maxSkew'),
    topologyKey: valueAt(entry, 'topologyKey'),
    whenUnsatisfiable: valueAt(entry, 'whenUnsatisfiable'),
  })).sort((left, right) =>
    compareText(String(left.topologyKey), String(right.topologyKey)) ||
    compareText(JSON.stringify(left), JSON.stringify(right))
  );

/** The canonical text of a spec, ours or a stored one. */
export const requestText = (spec: unknown): RequestText => {
  if (sizeProblems(spec).length > 0) return JSON.stringify(spec) ?? '';
  const resources = Object.entries(recordAt(spec, 'resources') ?? {})
    .map(([name, value]): [string, unknown] => [name, quantityOf(value)]);
  return JSON.stringify({
    ...present('coLocation', coLocationOf(valueAt(spec, 'coLocation'))),
    ...present('interruptionPenalty', quantityOf(valueAt(spec, 'interruptionPenalty'))),
    priority: valueAt(spec, 'priority'),
    ...present('reclamationPenalty', quantityOf(valueAt(spec, 'reclamationPenalty'))),
    ...present('requirements', unlessEmpty(requirementsOf(listOrEmptyAt(spec, 'requirements')))),
    resources: sorted(Object.fromEntries(resources)),
    ...present('topologySpread', unlessEmpty(spreadOf(listOrEmptyAt(spec, 'topologySpread')))),
  });
};
