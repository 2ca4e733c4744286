/** Contract: what users may do: roles, bindings and reviews. */
import {
  binding,
  cannot,
  clusterRole,
  forbidden,
  granted,
  grantedEverywhere,
  group,
  pathRule,
  role,
  rule,
  serviceAccount,
  user,
} from '../access.ts';
import { configMap, pod, workload } from '../objects.ts';
import {
  absent,
  as,
  del,
  exactly,
  get,
  includes,
  invalid,
  made,
  merge,
  ok,
  patch,
  post,
  type Step,
  until,
} from '../steps.ts';
import type { Area } from '../suite.ts';

const asAlice = as('{ns}-alice');
const ALICE = user('{ns}-alice');
const aliceCannot = (verb: string, resource: string, name = '') =>
  cannot('{ns}-alice', `${verb} ${resource}`, name);

const subjectReview = (subject: object, attributes: object) => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  spec: { ...subject, resourceAttributes: { namespace: '{ns}', ...attributes } },
});

const allowedBecause = (reason: string) => made({ status: { allowed: true, reason } });

const selfReview = (attributes: object, status: object): Step =>
  post('selfsubjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { namespace: '{ns}', ...attributes } },
  }, made({ status }));

/** Refusals and grants. */
export const rights: Area = {
  title: 'Roles and rights',
  cases: {
    'a user without rights is refused in whole words': [
      asAlice(
        get('configmaps', aliceCannot('list', 'configmaps')),
        get('configmaps?watch=true', aliceCannot('watch', 'configmaps')),
        get('configmaps/a', aliceCannot('get', 'configmaps', 'a')),
        post('configmaps', configMap('a'), aliceCannot('create', 'configmaps')),
        del('configmaps', undefined, aliceCannot('deletecollection', 'configmaps')),
        del('configmaps/a', undefined, aliceCannot('delete', 'configmaps', 'a')),
        patch('configmaps/a', merge({}), aliceCannot('patch', 'configmaps', 'a')),
        post('pods/a/eviction', {}, aliceCannot('create', 'pods/eviction', 'a')),
      ),
    ],
    'a selector for one name is a request for that name': [
      asAlice(
        get('configmaps?fieldSelector=metadata.name%3Da', aliceCannot('list', 'configmaps', 'a')),
      ),
    ],
    'a refusal names the API group, and the cluster where there is no namespace': [
      asAlice(
        post(
          'deployments',
          workload('a'),
          forbidden(
            'deployments.apps is forbidden: User "{ns}-alice" cannot create resource ' +
              '"deployments" in API group "apps" in the namespace "{ns}"',
            { group: 'apps', kind: 'deployments' },
          ),
        ),
        get(
          'all:pods',
          forbidden(
            'pods is forbidden: User "{ns}-alice" cannot list resource "pods" in API group "" at ' +
              'the cluster scope',
            { kind: 'pods' },
          ),
        ),
      ),
    ],
    'a namespace is an object in itself': [
      asAlice(get('namespaces/{ns}', aliceCannot('get', 'namespaces', '{ns}'))),
    ],
    'a path is refused by its name': [
      asAlice(
        get('/metrics', forbidden('forbidden: User "{ns}-alice" cannot get path "/metrics"')),
      ),
    ],
    'a path that is not served is refused before it is missing': [
      asAlice(
        get(
          '/apis/no.example/v1/namespaces/x/things/a/status',
          forbidden(
            'things.no.example "a" is forbidden: User "{ns}-alice" cannot get resource ' +
              '"things/status" in API group "no.example" in the namespace "x"',
          ),
        ),
      ),
    ],
    'a role grants its verbs in its namespace alone': [
      ...granted(ALICE, rule(['get', 'list'], ['configmaps'])),
      until(asAlice(get('configmaps'))),
      asAlice(
        get('configmaps/a', 404),
        post('configmaps', configMap('a'), aliceCannot('create', 'configmaps')),
        get('all:configmaps', 403),
        get('/api/v1/namespaces/default/configmaps', 403),
      ),
    ],
    'a role for names grants nothing on others, nor on the collection': [
      post('configmaps', configMap('a')),
      ...granted(ALICE, rule(['get', 'list', 'create'], ['configmaps'], { resourceNames: ['a'] })),
      until(asAlice(get('configmaps/a'))),
      asAlice(
        get('configmaps/b', aliceCannot('get', 'configmaps', 'b')),
        get('configmaps', aliceCannot('list', 'configmaps')),
        get('configmaps?fieldSelector=metadata.name%3Da'),
        post('configmaps', configMap('b'), aliceCannot('create', 'configmaps')),
      ),
    ],
    'a subresource is a right of its own': [
      post('pods', pod('a')),
      ...granted(ALICE, rule(['create'], ['pods/eviction']), rule(['patch'], ['*/status'])),
      until(
        asAlice(
          post('pods/a/eviction?dryRun=All', {
            apiVersion: 'policy/v1',
            kind: 'Eviction',
            metadata: { name: 'a' },
          }),
        ),
      ),
      asAlice(
        post('pods', pod('b'), aliceCannot('create', 'pods')),
        patch('pods/a/status', merge({ status: { message: 'x' } })),
        patch('pods/a', merge({}), aliceCannot('patch', 'pods', 'a')),
      ),
    ],
    'a star grants every verb, group and resource': [
      ...granted(ALICE, { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }),
      until(asAlice(post('deployments', workload('a')))),
      asAlice(get('configmaps'), get('deployments/a/scale'), get('all:pods', 403)),
    ],
    'a group has the rights of its members': [
      ...granted(group('{ns}-devs'), rule(['list'], ['configmaps'])),
      until(as('bob', '{ns}-devs')(get('configmaps'))),
      as('bob')(get('configmaps', cannot('bob', 'list configmaps'))),
    ],
    'a service account has the rights of its bindings': [
      ...granted(serviceAccount('robot'), rule(['list'], ['configmaps'])),
      until(as('system:serviceaccount:{ns}:robot')(get('configmaps'))),
      as('system:serviceaccount:default:robot')(get('configmaps', 403)),
    ],
    'a cluster role counts where it is bound': [
      post('clusterroles', clusterRole('{ns}', rule(['list'], ['configmaps']))),
      post('rolebindings', binding('a', ['ClusterRole', '{ns}'], ALICE)),
      until(asAlice(get('configmaps'))),
      asAlice(get('all:configmaps', 403)),
    ],
    'a cluster role binding counts everywhere': [
      ...grantedEverywhere(ALICE, rule(['list'], ['configmaps']), pathRule(['get'], ['/metri*'])),
      until(asAlice(get('all:configmaps'))),
      asAlice(
        get('configmaps'),
        get('/api/v1/namespaces/default/configmaps'),
        get('/logs', 403),
      ),
    ],
    'a rule for paths may end in a star': [
      ...grantedEverywhere(user('{ns}-paul'), pathRule(['get'], ['/{ns}/*', '/exact'])),
      until(
        post('subjectaccessreviews', {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: { user: '{ns}-paul', nonResourceAttributes: { verb: 'get', path: '/{ns}/x/y' } },
        }, made({ status: { allowed: true } })),
      ),
      post('subjectaccessreviews', {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { user: '{ns}-paul', nonResourceAttributes: { verb: 'get', path: '/exact/x' } },
      }, made({ status: { allowed: false } })),
    ],
    'a binding that goes takes the rights with it': [
      ...granted(ALICE, rule(['list'], ['configmaps'])),
      until(asAlice(get('configmaps'))),
      del('rolebindings/granted'),
      until(asAlice(get('configmaps', 403))),
    ],
    'a binding to an absent role is named in the refusal': [
      post('rolebindings', binding('a', ['ClusterRole', '{ns}-none'], ALICE)),
      until(
        asAlice(
          get(
            'configmaps',
            forbidden(
              'configmaps is forbidden: User "{ns}-alice" cannot list resource "configmaps" in ' +
                'API group "" in the namespace "{ns}": RBAC: ' +
                'clusterrole.rbac.authorization.k8s.io "{ns}-none" not found',
            ),
          ),
        ),
      ),
    ],
    'a review names the binding that allows': [
      ...granted(ALICE, rule(['list'], ['configmaps'])),
      until(
        post(
          'subjectaccessreviews',
          subjectReview({ user: '{ns}-alice' }, { verb: 'list', resource: 'configmaps' }),
          allowedBecause(
            'RBAC: allowed by RoleBinding "granted/{ns}" of Role "granted" to User "{ns}-alice"',
          ),
        ),
      ),
      post(
        'subjectaccessreviews',
        subjectReview({ user: '{ns}-alice' }, { verb: 'get', resource: 'configmaps' }),
        made({ status: { allowed: false } }),
      ),
      absent('status.reason'),
    ],
    'a review of a group, and of a service account': [
      post('roles', role('a', rule(['get'], ['configmaps']))),
      post(
        'rolebindings',
        binding('a', ['Role', 'a'], group('{ns}-devs'), serviceAccount('robot')),
      ),
      until(
        post(
          'subjectaccessreviews',
          subjectReview({ groups: ['{ns}-devs'] }, { verb: 'get', resource: 'configmaps' }),
          allowedBecause(
            'RBAC: allowed by RoleBinding "a/{ns}" of Role "a" to Group "{ns}-devs"',
          ),
        ),
      ),
      post(
        'subjectaccessreviews',
        subjectReview(
          { user: 'system:serviceaccount:{ns}:robot' },
          { verb: 'get', resource: 'configmaps' },
        ),
        allowedBecause(
          'RBAC: allowed by RoleBinding "a/{ns}" of Role "a" to ServiceAccount "robot/{ns}"',
        ),
      ),
    ],
    'masters may do everything, for no reason': [
      post(
        'subjectaccessreviews',
        subjectReview({ groups: ['system:masters'] }, { verb: 'x', resource: 'y' }),
        made({ status: { allowed: true } }),
      ),
      absent('status.reason'),
    ],
    'a review of nobody is invalid': [
      post(
        'subjectaccessreviews',
        subjectReview({}, { verb: 'get', resource: 'configmaps' }),
        invalid(['spec.user', 'FieldValueInvalid']),
      ),
    ],
    'a local review is about its namespace': [
      post('localsubjectaccessreviews', {
        ...subjectReview({ user: 'zed' }, { verb: 'get', resource: 'configmaps' }),
        kind: 'LocalSubjectAccessReview',
        metadata: { namespace: '{ns}' },
      }, made({ kind: 'LocalSubjectAccessReview', status: { allowed: false } })),
      post('localsubjectaccessreviews', {
        ...subjectReview({ user: 'zed' }, { namespace: 'default', verb: 'get', resource: 'pods' }),
        kind: 'LocalSubjectAccessReview',
        metadata: { namespace: '{ns}' },
      }, invalid(['spec.resourceAttributes.namespace', 'FieldValueInvalid'])),
    ],
    'a user may ask about itself, and not about others': [
      ...granted(ALICE, rule(['list'], ['configmaps'])),
      until(asAlice(selfReview({ verb: 'list', resource: 'configmaps' }, { allowed: true }))),
      asAlice(
        selfReview({ verb: 'delete', resource: 'configmaps' }, { allowed: false }),
        post('subjectaccessreviews', subjectReview({ user: 'x' }, { verb: 'get' }), 403),
      ),
    ],
    "a user's rules are its own and those of everyone": [
      ...granted(ALICE, rule(['list'], ['configmaps']), rule(['create'], ['pods/eviction'])),
      until(asAlice(get('configmaps'))),
      asAlice(
        post('selfsubjectrulesreviews', {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectRulesReview',
          spec: { namespace: '{ns}' },
        }),
      ),
      includes('status.resourceRules', [
        rule(['list'], ['configmaps']),
        rule(['create'], ['pods/eviction']),
        rule(['create'], ['selfsubjectreviews'], { apiGroups: ['authentication.k8s.io'] }),
      ]),
      includes('status.nonResourceRules', [
        pathRule(['get'], ['/healthz', '/livez', '/readyz', '/version', '/version/']),
      ]),
    ],
    'subjects get the API group of their kind': [
      post('rolebindings', binding('a', ['Role', 'a'], ALICE, serviceAccount('robot'))),
      exactly('subjects', [
        { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: '{ns}-alice' },
        { kind: 'ServiceAccount', name: 'robot', namespace: '{ns}' },
      ]),
    ],
    'a rule without verbs, groups or resources is invalid': [
      post(
        'roles',
        role('a', { resources: ['pods'], apiGroups: [''] }),
        invalid(['rules[0].verbs', 'FieldValueRequired']),
      ),
      post(
        'roles',
        role('a', { verbs: ['get'] }),
        invalid(
          ['rules[0].apiGroups', 'FieldValueRequired'],
          ['rules[0].resources', 'FieldValueRequired'],
        ),
      ),
      post(
        'roles',
        role('a', pathRule(['get'], ['/x'])),
        invalid(['rules[0].nonResourceURLs', 'FieldValueInvalid']),
      ),
      post(
        'clusterroles',
        clusterRole('{ns}', { ...rule(['get'], ['pods']), nonResourceURLs: ['/x'] }),
        invalid(['rules[0].nonResourceURLs', 'FieldValueInvalid']),
      ),
    ],
    'a binding without a role or a subject is invalid': [
      post(
        'rolebindings',
        { ...binding('a', ['Role', '']), subjects: [{ kind: 'User' }, { kind: 'Odd', name: 'x' }] },
        invalid(
          ['roleRef.name', 'FieldValueRequired'],
          ['subjects[0].name', 'FieldValueRequired'],
          ['subjects[1].kind', 'FieldValueNotSupported'],
        ),
      ),
      post(
        'clusterrolebindings',
        { ...binding('{ns}', ['Role', 'a']), kind: 'ClusterRoleBinding' },
        invalid(['roleRef.kind', 'FieldValueNotSupported']),
      ),
    ],
    'the role of a binding does not change': [
      post('rolebindings', binding('a', ['Role', 'a'], ALICE)),
      patch(
        'rolebindings/a',
        merge({ roleRef: { name: 'b' } }),
        invalid(['roleRef', 'FieldValueInvalid']),
      ),
    ],
    'an aggregated role has the rules of the roles it selects': [
      post('clusterroles', {
        ...clusterRole('{ns}'),
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { of: '{ns}' } }] },
      }),
      post('clusterroles', {
        ...clusterRole('{ns}-part', rule(['get'], ['nodes'])),
        metadata: { name: '{ns}-part', labels: { of: '{ns}' } },
      }),
      until(get('clusterroles/{ns}', ok({ rules: [rule(['get'], ['nodes'])] }))),
      del('clusterroles/{ns}-part'),
    ],
    'the roles of every cluster are there': [
      get('clusterroles/cluster-admin'),
      get('clusterroles/admin'),
      get('clusterroles/edit'),
      get('clusterroles/view'),
      get(
        'clusterrolebindings/system:discovery',
        ok({
          subjects: [{
            kind: 'Group',
            apiGroup: 'rbac.authorization.k8s.io',
            name: 'system:authenticated',
          }],
          roleRef: { kind: 'ClusterRole', name: 'system:discovery' },
        }),
      ),
    ],
  },
};
