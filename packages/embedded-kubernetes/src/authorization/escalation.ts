/**
 * Roles and bindings may grant only what their writer may do: else the writer needs the verb
 * `escalate` on roles, or `bind` on the role.
 *
 * Source: `pkg/registry/rbac/{escalation_check.go,clusterrole/policybased}`,
 * `component-helpers/auth/rbac/validation/policy_comparator.go`.
 */
import { type JsonRecord, recordAt, textAt } from '../values/json.ts';
import { MASTERS, type User } from '../authentication/user.ts';
import { type Kind, subjectOf } from '../kinds/kind.ts';
import { nameOf, withMetadata } from '../kinds/metadata.ts';
import { sameJson } from '../patches/same-json.ts';
import type { ObjectName } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';
import { forbidden, notFound } from '../validation/problem.ts';
import type { ResourceAction } from './action.ts';
import { type Authorizer, EVERYTHING, type PolicyRule, quoted } from './authorizer.ts';
import { RBAC_GROUP, referredRules, rulesOf } from './role-grants.ts';

const ALL = '*';

const NO_NAMES: readonly (readonly string[])[] = [[]];

/** A rule as rules of one verb and one resource or path each. */
const brokenDown = (rule: PolicyRule): readonly PolicyRule[] => {
  const named = rule.names.length === 0 ? NO_NAMES : rule.names.map((name) => [name]);
  const resources = rule.groups.flatMap((group) =>
    rule.resources.flatMap((resource) =>
      rule.verbs.flatMap((verb) =>
        named.map((names) => ({
          verbs: [verb],
          groups: [group],
          resources: [resource],
          names,
          paths: [],
        }))
      )
    )
  );
  const paths = rule.paths.flatMap((path) =>
    rule.verbs.map((verb) => ({
      verbs: [verb],
      groups: [],
      resources: [],
      names: [],
      paths: [path],
    }))
  );
  return [...resources, ...paths];
};

const holdsAll = (own: readonly string[], wanted: readonly string[]): boolean =>
  own.includes(ALL) || wanted.every((one) => own.includes(one));

const holdsResource = (own: readonly string[], wanted: string): boolean => {
  if (own.includes(ALL) || own.includes(wanted)) return true;
  const [, subresource] = wanted.split('/');
  return subresource !== undefined && own.includes(`${ALL}/${subresource}`);
};

const holdsPath = (own: readonly string[], wanted: string): boolean =>
  own.some((one) =>
    one === ALL || one === wanted || (one.endsWith(ALL) && wanted.startsWith(one.slice(0, -1)))
  );

const covers = (own: PolicyRule, wanted: PolicyRule): boolean =>
  holdsAll(own.verbs, wanted.verbs) && holdsAll(own.groups, wanted.groups) &&
  wanted.resources.every((one) => holdsResource(own.resources, one)) &&
  wanted.paths.every((one) => holdsPath(own.paths, one)) &&
  (own.names.length === 0 ||
    (wanted.names.length > 0 && wanted.names.every((one) => own.names.includes(one))));

const keyOf = ({ groups, resources, names, paths, verbs }: PolicyRule): string =>
  JSON.stringify(paths.length > 0 ? [paths, verbs] : [groups, resources, names]);

/** Rules that differ by their verbs alone are one rule. */
const compacted = (rules: readonly PolicyRule[]): readonly PolicyRule[] => {
  const found = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const known = found.get(keyOf(rule));
    const verbs = known === undefined ? rule.verbs : [...known.verbs, ...rule.verbs];
    found.set(keyOf(rule), { ...rule, verbs });
  }
  return [...found.values()];
};

const describedRule = ({ groups, resources, paths, names, verbs }: PolicyRule): string => {
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ['APIGroups', groups],
    ['Resources', resources],
    ['NonResourceURLs', paths],
    ['ResourceNames', names],
    ['Verbs', verbs],
  ];
  const texts = parts.filter(([, list]) => list.length > 0)
    .map(([name, list]) => `${name}:[${list.map(quoted).join(' ')}]`);
  return `{${texts.join(', ')}}`;
};

/** A write of a role or of a binding. */
export interface RoleWrite {
  readonly kind: Kind;
  readonly at: ObjectName;
  readonly object: JsonRecord;
  readonly before: JsonRecord | undefined;
}

interface Permissions {
  readonly store: Store;
  readonly authorizer: Authorizer;
  readonly user: User;
}

const roleAction = (action: Partial<ResourceAction>): ResourceAction => ({
  _tag: 'Resource',
  verb: '',
  group: RBAC_GROUP,
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  ...action,
});

const isBinding = ({ plural }: Kind): boolean => plural.endsWith('bindings');

const isPermitted = ({ authorizer, user }: Permissions, write: RoleWrite): boolean => {
  const { kind, at, object, before } = write;
  const { namespace } = at;
  const reference = recordAt(object, 'roleRef');
  const action = isBinding(kind)
    ? roleAction({
      verb: 'bind',
      resource: textAt(reference, 'kind') === 'Role' ? 'roles' : 'clusterroles',
      namespace,
      name: textAt(reference, 'name') ?? '',
    })
    : roleAction({
      verb: 'escalate',
      resource: kind.plural,
      namespace,
      name: before === undefined ? '' : at.name,
    });
  return authorizer.decide(user, action).allowed;
};

const grantedBy = ({ store }: Permissions, { kind, at, object }: RoleWrite) => {
  if (!isBinding(kind)) return rulesOf(object);
  const rules = referredRules(store, object['roleRef'], at.namespace);
  if (typeof rules !== 'string') return rules;
  const isRole = textAt(object, 'roleRef', 'kind') === 'Role';
  const subject = { group: RBAC_GROUP, kind: isRole ? 'role' : 'clusterrole' };
  throw notFound(subject, textAt(object, 'roleRef', 'name') ?? '');
};

/** Owners and finalizers may change freely: the garbage collector writes them. */
const withoutOwners = (object: JsonRecord): JsonRecord =>
  withMetadata(object, {
    ownerReferences: undefined,
    finalizers: undefined,
    resourceVersion: undefined,
    managedFields: undefined,
  });

/** An aggregated role can collect any rule, so its writer must hold all of them. */
const assertMayAggregate = (own: readonly PolicyRule[], { kind, object }: RoleWrite): void => {
  if (recordAt(object, 'aggregationRule') === undefined) return;
  const lacking = EVERYTHING.flatMap(brokenDown).some((rule) =>
    !own.some((one) => covers(one, rule))
  );
  if (!lacking) return;
  throw forbidden(subjectOf(kind), nameOf(object), {
    why: 'must have cluster-admin privileges to use the aggregationRule',
  });
};

/** Refuses a role or a binding that grants more than its writer may do. */
export const assertNoEscalation = (permissions: Permissions, write: RoleWrite): void => {
  const { authorizer, user } = permissions;
  const { kind, at, object, before } = write;
  if (user.groups.includes(MASTERS)) return;
  if (before !== undefined && sameJson(withoutOwners(object), withoutOwners(before))) return;
  if (isPermitted(permissions, write)) return;
  const own = authorizer.rulesFor(user, at.namespace);
  const missing = grantedBy(permissions, write).flatMap(brokenDown).filter((rule) =>
    !own.some((one) => covers(one, rule))
  );
  if (missing.length === 0) {
    assertMayAggregate(own, write);
    return;
  }
  const rules = compacted(missing).map(describedRule).toSorted().join('\n');
  throw forbidden(subjectOf(kind), nameOf(object), {
    why: `user ${quoted(user.name)} (groups=[${user.groups.map(quoted).join(' ')}]) is ` +
      `attempting to grant RBAC permissions not currently held:\n${rules}`,
  });
};
