/**
 * Role-based access control: a user may do what a rule of a bound role allows.
 *
 * Promises: reads the stored roles and bindings, so a change counts for the next request; members
 * of `system:masters` may do everything. Source: `plugin/pkg/auth/authorizer/rbac/rbac.go`,
 * `pkg/apis/rbac/v1/evaluation_helpers.go`.
 */
import { MASTERS, type User } from '../authentication/user.ts';
import type { Store } from '../storage/store.ts';
import type { Action, PathAction, ResourceAction } from './action.ts';
import type { Authorizer, PolicyRule, Verdict } from './authorizer.ts';
import { grantsTo } from './role-grants.ts';

const ALL = '*';

const has = (list: readonly string[], wanted: string): boolean =>
  list.includes(ALL) || list.includes(wanted);

const allowsResource = (rule: PolicyRule, action: ResourceAction): boolean => {
  const { verb, group, resource, subresource, name } = action;
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  return has(rule.verbs, verb) && has(rule.groups, group) &&
    (has(rule.resources, whole) ||
      (subresource !== '' && rule.resources.includes(`${ALL}/${subresource}`))) &&
    (rule.names.length === 0 || rule.names.includes(name));
};

const matchesPath = (pattern: string, path: string): boolean =>
  pattern === ALL || pattern === path ||
  (pattern.endsWith(ALL) && path.startsWith(pattern.replace(/\*+$/, '')));

const allowsPath = (rule: PolicyRule, { verb, path }: PathAction): boolean =>
  has(rule.verbs, verb) && rule.paths.some((pattern) => matchesPath(pattern, path));

const allows = (rule: PolicyRule, action: Action): boolean =>
  action._tag === 'Path' ? allowsPath(rule, action) : allowsResource(rule, action);

const MASTER: Verdict = { allowed: true, reason: '' };

/** Several errors as one text, as Go prints an aggregate. */
const aggregate = (errors: ReadonlySet<string>): string => {
  const [first = '', ...more] = errors;
  return more.length === 0 ? first : `[${[first, ...more].join(', ')}]`;
};

const decided = (store: Store, user: User, action: Action): Verdict => {
  const errors = new Set<string>();
  const namespace = action._tag === 'Path' ? '' : action.namespace;
  for (const { source, rule, error } of grantsTo(store, user, namespace)) {
    if (error !== undefined) errors.add(error);
    else if (rule !== undefined && allows(rule, action)) {
      return { allowed: true, reason: `RBAC: allowed by ${source}` };
    }
  }
  return { allowed: false, reason: errors.size === 0 ? '' : `RBAC: ${aggregate(errors)}` };
};

/** The authorizer of a store's roles. */
export const roleBased = (store: Store): Authorizer => ({
  decide: (user, action) => user.groups.includes(MASTERS) ? MASTER : decided(store, user, action),
  rulesFor: (user, namespace) =>
    [...grantsTo(store, user, namespace)].flatMap(({ rule }) => rule === undefined ? [] : [rule]),
});
