/**
 * Aggregated cluster roles: their rules are those of the roles that their selectors match.
 *
 * Promises: the rules follow in the same step as the change that leads to them, each once, in the
 * order of the roles' names. Source: `pkg/controller/clusterroleaggregation`.
 */
import { type JsonRecord, listOrEmptyAt, recordAt, textRecordOrEmptyAt } from '../values/json.ts';
import { asRecord } from '../values/json.ts';
import type { ApiServerState } from '../api-server-state.ts';
import { selectorHolds } from '../kinds/label-selector.ts';
import { nameOf } from '../kinds/metadata.ts';
import { sameJson } from '../patches/same-json.ts';

const CLUSTER_ROLES = 'clusterroles.rbac.authorization.k8s.io';

const selectorsOf = (role: JsonRecord): readonly unknown[] =>
  listOrEmptyAt(role, 'aggregationRule', 'clusterRoleSelectors');

const collected = (role: JsonRecord, roles: readonly JsonRecord[]): readonly unknown[] => {
  const rules: unknown[] = [];
  const matching = roles.filter((one) =>
    nameOf(one) !== nameOf(role) &&
    selectorsOf(role).some((selector) =>
      selectorHolds(asRecord(selector), textRecordOrEmptyAt(one, 'metadata', 'labels'))
    )
  );
  for (const rule of matching.flatMap((one) => listOrEmptyAt(one, 'rules'))) {
    if (!rules.some((known) => sameJson(known, rule))) rules.push(rule);
  }
  return rules;
};

/** Keeps the rules of aggregated roles current; returns the function that ends it. */
export const aggregateRoles = ({ store }: Pick<ApiServerState, 'store'>): () => void =>
  store.subscribe(({ resource }) => {
    if (resource !== CLUSTER_ROLES) return;
    const roles = [...store.collection(CLUSTER_ROLES).ordered()].map(({ object }) => object);
    for (const role of roles.filter((one) => recordAt(one, 'aggregationRule') !== undefined)) {
      const rules = collected(role, roles);
      if (sameJson(rules, listOrEmptyAt(role, 'rules'))) continue;
      store.put(CLUSTER_ROLES, { namespace: '', name: nameOf(role) }, { ...role, rules });
    }
  });
