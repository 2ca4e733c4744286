/** Objects and steps of cases about users and rights. */
import type { JsonRecord } from '../../src/domain/json.ts';
import { post, refused, type Step, type Wanted } from './steps.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** A rule for resources: `rule(['get'], ['pods/status'])`. */
export const rule = (
  verbs: readonly string[],
  resources: readonly string[],
  more: JsonRecord = {},
): JsonRecord => ({ verbs, apiGroups: [''], resources, ...more });

/** A rule for paths that name no resource. */
export const pathRule = (verbs: readonly string[], paths: readonly string[]): JsonRecord => ({
  verbs,
  nonResourceURLs: paths,
});

/** A Role with these rules. */
export const role = (name: string, ...rules: readonly JsonRecord[]): JsonRecord => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'Role',
  metadata: { name },
  rules,
});

/** A ClusterRole with these rules. */
export const clusterRole = (name: string, ...rules: readonly JsonRecord[]): JsonRecord => ({
  ...role(name, ...rules),
  kind: 'ClusterRole',
});

/** Subjects of a binding. */
export const user = (name: string): JsonRecord => ({ kind: 'User', name });
export const group = (name: string): JsonRecord => ({ kind: 'Group', name });
export const serviceAccount = (name: string): JsonRecord => ({
  kind: 'ServiceAccount',
  name,
  namespace: '{ns}',
});

/** A RoleBinding to a Role, or to a ClusterRole: `binding('a', ['Role', 'r'], user('alice'))`. */
export const binding = (
  name: string,
  [kind, to]: readonly ['Role' | 'ClusterRole', string],
  ...subjects: readonly JsonRecord[]
): JsonRecord => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'RoleBinding',
  metadata: { name },
  roleRef: { apiGroup: RBAC, kind, name: to },
  subjects,
});

/** A ClusterRoleBinding to the ClusterRole of the same name. */
export const clusterBinding = (name: string, ...subjects: readonly JsonRecord[]): JsonRecord => ({
  ...binding(name, ['ClusterRole', name], ...subjects),
  kind: 'ClusterRoleBinding',
});

/** Grants rules in the case's namespace. */
export const granted = (subject: JsonRecord, ...rules: readonly JsonRecord[]): readonly Step[] => [
  post('roles', role('granted', ...rules)),
  post('rolebindings', binding('granted', ['Role', 'granted'], subject)),
];

/** Grants rules in the whole cluster; the role has the name of the case's namespace. */
export const grantedEverywhere = (
  subject: JsonRecord,
  ...rules: readonly JsonRecord[]
): readonly Step[] => [
  post('clusterroles', clusterRole('{ns}', ...rules)),
  post('clusterrolebindings', clusterBinding('{ns}', subject)),
];

/** A refusal by authorization, in whole. */
export const forbidden = (message: string, details?: JsonRecord): Wanted =>
  refused(403, 'Forbidden', { message, ...(details === undefined ? {} : { details }) });

/** A refusal of `list pods`, or so, to a user in the case's namespace. */
export const cannot = (who: string, action: string, name = ''): Wanted => {
  const [verb = '', resource = ''] = action.split(' ');
  const [plural = ''] = resource.split('/');
  const subject = name === '' ? plural : `${plural} "${name}"`;
  return forbidden(
    `${subject} is forbidden: User "${who}" cannot ${verb} resource "${resource}" in API group "" ` +
      'in the namespace "{ns}"',
    { kind: plural, ...(name === '' ? {} : { name }) },
  );
};
