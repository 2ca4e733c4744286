/**
 * The rules that roles and their bindings in a store grant to a user.
 *
 * Promises: bindings of the cluster come before those of the namespace, each in the order of names;
 * a binding to an absent role is a grant with an error. Source:
 * `pkg/registry/rbac/validation/rule.go`.
 */
import { type JsonRecord, listOrEmptyAt, textAt } from '../values/json.ts';
import { serviceAccountUser, type User } from '../authentication/user.ts';
import { nameOf } from '../kinds/metadata.ts';
import type { Store } from '../storage/store.ts';
import { type PolicyRule, quoted } from './authorizer.ts';

/** The API group of roles and bindings. */
export const RBAC_GROUP = 'rbac.authorization.k8s.io';
const resourceOf = (plural: string): string => `${plural}.${RBAC_GROUP}`;

/** What a binding grants: a rule, or the reason why it grants none. */
export interface Grant {
  /** The binding, its role and its subject, in the real server's words. */
  readonly source: string;
  readonly rule?: PolicyRule;
  readonly error?: string;
}

const texts = (value: unknown, ...path: readonly string[]): readonly string[] =>
  listOrEmptyAt(value, ...path).filter((one) => typeof one === 'string');

const ruleOf = (rule: unknown): PolicyRule => ({
  verbs: texts(rule, 'verbs'),
  groups: texts(rule, 'apiGroups'),
  resources: texts(rule, 'resources'),
  names: texts(rule, 'resourceNames'),
  paths: texts(rule, 'nonResourceURLs'),
});

/** The rules of a Role or a ClusterRole. */
export const rulesOf = (role: JsonRecord): readonly PolicyRule[] =>
  listOrEmptyAt(role, 'rules').map(ruleOf);

/** The rules that a binding's `roleRef` leads to, or the text that the role is absent. */
export const referredRules = (
  store: Store,
  reference: unknown,
  namespace: string,
): readonly PolicyRule[] | string => {
  const [kind, name] = [textAt(reference, 'kind') ?? '', textAt(reference, 'name') ?? ''];
  const isRole = kind === 'Role';
  const at = { namespace: isRole ? namespace : '', name };
  const role = store.collection(resourceOf(isRole ? 'roles' : 'clusterroles')).get(at);
  if (role !== undefined) return rulesOf(role);
  return `${isRole ? 'role' : 'clusterrole'}.${RBAC_GROUP} ${quoted(name)} not found`;
};

const isSubject = (subject: unknown, { name, groups }: User, namespace: string): boolean => {
  const wanted = textAt(subject, 'name') ?? '';
  switch (textAt(subject, 'kind')) {
    case 'User':
      return wanted === name;
    case 'Group':
      return groups.includes(wanted);
    case 'ServiceAccount': {
      const from = textAt(subject, 'namespace') ?? namespace;
      return from !== '' && serviceAccountUser({ namespace: from, name: wanted }) === name;
    }
    default:
      return false;
  }
};

const describedSubject = (subject: unknown, namespace: string): string => {
  const [kind = '', name = ''] = [textAt(subject, 'kind'), textAt(subject, 'name')];
  return kind === 'ServiceAccount'
    ? `${kind} ${quoted(`${name}/${textAt(subject, 'namespace') ?? namespace}`)}`
    : `${kind} ${quoted(name)}`;
};

const describedRole = (binding: JsonRecord): string =>
  `${textAt(binding, 'roleRef', 'kind') ?? ''} ${quoted(textAt(binding, 'roleRef', 'name') ?? '')}`;

const grantsOf = function* (
  store: Store,
  { binding, namespace }: { readonly binding: JsonRecord; readonly namespace: string },
  user: User,
): Generator<Grant> {
  const subject = listOrEmptyAt(binding, 'subjects').find((one) => isSubject(one, user, namespace));
  if (subject === undefined) return;
  const [kind, name] = namespace === ''
    ? ['ClusterRoleBinding', nameOf(binding)]
    : ['RoleBinding', `${nameOf(binding)}/${namespace}`];
  const source = `${kind} ${quoted(name)} of ${describedRole(binding)} to ` +
    describedSubject(subject, namespace);
  const rules = referredRules(store, binding['roleRef'], namespace);
  if (typeof rules === 'string') yield { source, error: rules };
  else for (const rule of rules) yield { source, rule };
};

/** Everything that is granted to a user in a namespace; '' is the cluster alone. */
export const grantsTo = function* (
  store: Store,
  user: User,
  namespace: string,
): Generator<Grant> {
  for (const { object: binding } of store.collection(resourceOf('clusterrolebindings')).ordered()) {
    yield* grantsOf(store, { binding, namespace: '' }, user);
  }
  if (namespace === '') return;
  for (
    const { object: binding } of store.collection(resourceOf('rolebindings')).ordered(namespace)
  ) {
    yield* grantsOf(store, { binding, namespace }, user);
  }
};
