/**
 * The roles that every cluster with role-based access control has, as far as people use them:
 * administration, discovery, reviews, and the aggregated roles for namespaces.
 *
 * Source: `plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go`; the rules of `admin`, `edit`
 * and `view` cover the kinds that the embedded cluster serves.
 */
import type { JsonRecord } from '../values/json.ts';
import { AUTHENTICATED, MASTERS, UNAUTHENTICATED } from '../authentication/user.ts';
import { RBAC_GROUP } from './role-grants.ts';

const METADATA = {
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
  annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
};

const role = (name: string, rules: readonly JsonRecord[]): JsonRecord => ({
  metadata: { name, ...METADATA },
  rules,
});

const binding = (name: string, groups: readonly string[]): JsonRecord => ({
  metadata: { name, ...METADATA },
  roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name },
  subjects: groups.map((group) => ({ kind: 'Group', apiGroup: RBAC_GROUP, name: group })),
});

const PUBLIC = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
const DISCOVERY = [
  ...['/api', '/api/*', '/apis', '/apis/*', '/healthz', '/livez'],
  ...['/openapi', '/openapi/*', '/readyz', '/version', '/version/'],
];

const AGGREGATE = 'rbac.authorization.k8s.io/aggregate-to-';

/** `admin` collects what `edit` collects, and `edit` what `view` does. */
const aggregated = (name: string, label: string): JsonRecord => ({
  metadata: {
    name,
    ...METADATA,
    labels: { ...METADATA.labels, ...label === '' ? {} : { [`${AGGREGATE}${label}`]: 'true' } },
  },
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [`${AGGREGATE}${name}`]: 'true' } }] },
  rules: [],
});

const part = (name: string, rules: readonly JsonRecord[]): JsonRecord => ({
  metadata: {
    name: `system:aggregate-to-${name}`,
    ...METADATA,
    labels: { ...METADATA.labels, [`${AGGREGATE}${name}`]: 'true' },
  },
  rules,
});

const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update'];

const CORE = [
  ...['configmaps', 'events', 'persistentvolumeclaims', 'pods', 'pods/status', 'serviceaccounts'],
  'services',
];
const WORKLOADS = [
  ...['daemonsets', 'deployments', 'deployments/scale', 'replicasets', 'replicasets/scale'],
  ...['statefulsets', 'statefulsets/scale'],
];

const on = (group: string, resources: readonly string[], verbs: readonly string[]): JsonRecord => ({
  verbs,
  apiGroups: [group],
  resources,
});

const VIEW = [
  on('', [...CORE, 'namespaces'], READ),
  on('apps', WORKLOADS, READ),
  on('policy', ['poddisruptionbudgets', 'poddisruptionbudgets/status'], READ),
];

const EDIT = [
  on('', CORE.filter((one) => !['events', 'pods/status'].includes(one)), WRITE),
  on('', ['secrets'], [...READ, ...WRITE]),
  on('', ['serviceaccounts'], ['impersonate']),
  on('', ['pods/eviction', 'serviceaccounts/token'], ['create']),
  on('apps', WORKLOADS, WRITE),
  on('policy', ['poddisruptionbudgets'], WRITE),
];

const ADMIN = [
  on('authorization.k8s.io', ['localsubjectaccessreviews'], ['create']),
  on(RBAC_GROUP, ['rolebindings', 'roles'], [...READ, ...WRITE]),
];

/** ClusterRoles. */
export const BOOTSTRAP_ROLES: readonly JsonRecord[] = [
  role('cluster-admin', [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ]),
  role('system:basic-user', [
    on('authorization.k8s.io', ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'], ['create']),
    on('authentication.k8s.io', ['selfsubjectreviews'], ['create']),
  ]),
  role('system:discovery', [{ verbs: ['get'], nonResourceURLs: DISCOVERY }]),
  role('system:public-info-viewer', [{ verbs: ['get'], nonResourceURLs: PUBLIC }]),
  part('view', VIEW),
  part('edit', EDIT),
  part('admin', ADMIN),
  aggregated('view', 'edit'),
  aggregated('edit', 'admin'),
  aggregated('admin', ''),
];

/** ClusterRoleBindings. */
export const BOOTSTRAP_BINDINGS: readonly JsonRecord[] = [
  binding('cluster-admin', [MASTERS]),
  binding('system:basic-user', [AUTHENTICATED]),
  binding('system:discovery', [AUTHENTICATED]),
  binding('system:public-info-viewer', [AUTHENTICATED, UNAUTHENTICATED]),
];
