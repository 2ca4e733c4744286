/**
 * Which writes a policy or a binding is about.
 *
 * Source: `apiserver/pkg/admission/plugin/{policy/matching,webhook/predicates}`.
 */
import {
  type JsonRecord,
  listOrEmptyAt,
  recordAt,
  textAt,
  textRecordOrEmptyAt,
} from '../values/json.ts';
import type { Kinds } from '../api-server-state.ts';
import type { Kind } from '../kinds/kind.ts';
import { selectorHolds } from '../kinds/label-selector.ts';
import type { Store } from '../storage/store.ts';
import { type Attempt, namespaceOfAttempt } from './attempt.ts';

/** What matching reads. */
export interface MatchSources {
  readonly store: Store;
  readonly kinds: Kinds;
}

const lists = (rule: unknown, field: string, wanted: string): boolean => {
  const list = listOrEmptyAt(rule, field);
  return list.includes('*') || list.includes(wanted);
};

const isInScope = (rule: unknown, attempt: Attempt): boolean => {
  const isNamespaced = attempt.kind.namespaced;
  switch (textAt(rule, 'scope')) {
    case 'Namespaced':
      return isNamespaced;
    case 'Cluster':
      return !isNamespaced;
    default:
      return true;
  }
};

/** `pods`, `pods/eviction`, `pods/*`, `*`, and all of them: `*\/*`. */
const namesResource = (rule: unknown, { kind, subresource = '' }: Attempt): boolean =>
  listOrEmptyAt(rule, 'resources').some((one) => {
    const [resource, part = ''] = String(one).split('/');
    return (resource === '*' || resource === kind.plural) && (part === '*' || part === subresource);
  });

const ruleHolds = (rule: unknown, attempt: Attempt, kind: Kind): boolean => {
  const names = listOrEmptyAt(rule, 'resourceNames');
  return lists(rule, 'operations', attempt.operation) && lists(rule, 'apiGroups', kind.group) &&
    lists(rule, 'apiVersions', kind.version) && isInScope(rule, attempt) &&
    namesResource(rule, attempt) && (names.length === 0 || names.includes(attempt.at.name));
};

/** Versions of the same resource, the one of the request first. */
const versionsOf = (criteria: JsonRecord, { kind }: Attempt, { kinds }: MatchSources) => {
  if (textAt(criteria, 'matchPolicy') === 'Exact') return [kind];
  const others = [...kinds.all()].filter((one) => one !== kind && one.resource === kind.resource);
  return [kind, ...others];
};

const someRuleHolds = (
  criteria: JsonRecord,
  field: 'resourceRules' | 'excludeResourceRules',
  { attempt, sources }: { readonly attempt: Attempt; readonly sources: MatchSources },
): boolean => {
  const rules = listOrEmptyAt(criteria, field);
  return rules.length > 0 &&
    versionsOf(criteria, attempt, sources).some((kind) =>
      rules.some((rule) => ruleHolds(rule, attempt, kind))
    );
};

const isEmptySelector = (selector: JsonRecord | undefined): boolean =>
  selector === undefined ||
  (Object.keys(textRecordOrEmptyAt(selector, 'matchLabels')).length === 0 &&
    listOrEmptyAt(selector, 'matchExpressions').length === 0);

const labelsOf = (object: JsonRecord | undefined) =>
  textRecordOrEmptyAt(object, 'metadata', 'labels');

const isInNamespace = (
  selector: JsonRecord | undefined,
  attempt: Attempt,
  { store }: MatchSources,
): boolean => {
  const isNamespace = attempt.kind.resource === 'namespaces';
  const name = namespaceOfAttempt(attempt);
  if (isEmptySelector(selector) || (name === '' && !isNamespace)) return true;
  const isWritten = isNamespace && attempt.operation !== 'DELETE';
  const namespace = isWritten
    ? attempt.object
    : store.collection('namespaces').get({ namespace: '', name });
  return selectorHolds(selector, labelsOf(namespace));
};

const isSelected = (selector: JsonRecord | undefined, attempt: Attempt): boolean =>
  isEmptySelector(selector) ||
  [attempt.object, attempt.oldObject].some((object) =>
    object !== undefined && selectorHolds(selector, labelsOf(object))
  );

/** Whether a write matches `matchConstraints`, or `matchResources`; absent ones match all. */
export const isMatching = (
  criteria: JsonRecord | undefined,
  attempt: Attempt,
  sources: MatchSources,
): boolean => {
  if (criteria === undefined) return true;
  const both = { attempt, sources };
  return isInNamespace(recordAt(criteria, 'namespaceSelector'), attempt, sources) &&
    isSelected(recordAt(criteria, 'objectSelector'), attempt) &&
    !someRuleHolds(criteria, 'excludeResourceRules', both) &&
    (listOrEmptyAt(criteria, 'resourceRules').length === 0 ||
      someRuleHolds(criteria, 'resourceRules', both));
};
