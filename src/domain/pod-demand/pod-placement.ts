/**
 * The placement of a pod relative to other pods, as far as a CapacityRequest can express it.
 *
 * Promises: the first required term of the pod affinity becomes the co-location, and only
 * `DoNotSchedule` spread counts; preferences and anti-affinity do not affect capacity (POD-02).
 * What cannot be expressed is ignored and reported.
 */
import {
  anyText,
  child,
  entries,
  type Field,
  find,
  int32,
  isAbsent,
  items,
  requiredText,
} from '../demand/field.ts';
import type { TopologySpread } from '../profile.ts';
import { compareText } from '../requirements.ts';
import { expressionIn, type NodeRequirement } from './pod-requirements.ts';

/** A selector of pods, as a CapacityRequest holds it: without empty fields. */
export interface PodSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly RequirementFields[];
}

/** A requirement as written: without values where its operator takes none. */
export type RequirementFields = Omit<NodeRequirement, 'values'> & {
  readonly values?: readonly string[];
};

/** The pods that it must be placed with, and the topology key. */
export interface PodCoLocation {
  readonly topologyKey: string;
  readonly labelSelector?: PodSelector;
}

/** A requirement in the fields of a CapacityRequest. */
export const requirementFields = (
  { key, operator, values }: NodeRequirement,
): RequirementFields => (values.length === 0 ? { key, operator } : { key, operator, values });

const selectorIn = (field: Field): PodSelector => {
  const labels = entries(child(field, 'matchLabels'))
    .map(([key, value]): [string, string] => [key, anyText(value)])
    .sort(([left], [right]) => compareText(left, right));
  const expressions = items(child(field, 'matchExpressions')).flatMap(expressionIn);
  return {
    ...(labels.length === 0 ? {} : { matchLabels: Object.fromEntries(labels) }),
    ...(expressions.length === 0 ? {} : { matchExpressions: expressions.map(requirementFields) }),
  };
};

/** A co-location is limited to one namespace; a term across namespaces cannot be expressed. */
const findOtherNamespaces = (term: Field, namespace: string): void => {
  const names = child(term, 'namespaces');
  const remedy = 'Put pods that must be together into one namespace';
  const problem = 'selects other namespaces, which a CapacityRequest cannot express: ignored';
  if (items(names).some(({ value }) => value !== namespace)) find(names, problem, remedy);
  const selector = child(term, 'namespaceSelector');
  if (!isAbsent(selector)) find(selector, problem, remedy);
};

/** The co-location of a pod of `namespace`; `undefined` without one. */
export const podCoLocation = (spec: Field, namespace: string): PodCoLocation | undefined => {
  const required = child(
    child(child(spec, 'affinity'), 'podAffinity'),
    'requiredDuringSchedulingIgnoredDuringExecution',
  );
  const [term, further] = items(required);
  if (term === undefined) return undefined;
  findOtherNamespaces(term, namespace);
  if (further !== undefined) {
    find(
      further,
      'is one more required term, which a CapacityRequest cannot express: ignored',
      'Put the pods together by one term',
    );
  }
  const selector = child(term, 'labelSelector');
  return {
    topologyKey: requiredText(child(term, 'topologyKey')),
    ...(isAbsent(selector) ? {} : { labelSelector: selectorIn(selector) }),
  };
};

/** One domain is the default of Kubernetes. */
const findMinDomains = (constraint: Field): void => {
  const domains = child(constraint, 'minDomains');
  if (isAbsent(domains) || domains.value === 1) return;
  find(
    domains,
    'is about further domains, which a CapacityRequest cannot express: ignored',
    'Make sure that so many domains have nodes',
  );
};

/** The required spread of pods like this one; by topology key, unique. */
export const podSpread = (spec: Field): readonly TopologySpread[] => {
  const byKey = new Map<string, TopologySpread>();
  for (const constraint of items(child(spec, 'topologySpreadConstraints'))) {
    const whenUnsatisfiable = child(constraint, 'whenUnsatisfiable').value;
    if (whenUnsatisfiable === 'ScheduleAnyway') continue;
    findMinDomains(constraint);
    const topologyKey = requiredText(child(constraint, 'topologyKey'));
    const maxSkew = int32(child(constraint, 'maxSkew'), 1);
    const before = byKey.get(topologyKey)?.maxSkew ?? maxSkew;
    byKey.set(topologyKey, {
      maxSkew: Math.min(before, maxSkew),
      topologyKey,
      whenUnsatisfiable: 'DoNotSchedule',
    });
  }
  return [...byKey.values()].sort((left, right) =>
    compareText(left.topologyKey, right.topologyKey)
  );
};
