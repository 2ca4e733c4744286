/** Contract: what ValidatingAdmissionPolicies see of a request, and what they may ask. */
import { granted, rule, serviceAccount, user } from '../access.ts';
import { budget, configMap, namespace, pod, workload } from '../objects.ts';
import { activeFor, ALL_OPERATIONS, bound, denied, inForce, policy } from '../policies.ts';
import { as, del, get, merge, ok, patch, post, put, type Step, until } from '../steps.ts';
import type { Area } from '../suite.ts';

const asAlice = as('{ns}-alice');
const dry = (name: string, more = {}) => [`configmaps?dryRun=All`, configMap(name, more)] as const;

/** A policy whose message tells what it sees of each write. */
const reporting = (expression: string, resources: readonly string[]): readonly Step[] => [
  post(
    'validatingadmissionpolicies',
    policy({
      matchConstraints: ALL_OPERATIONS(...resources),
      validations: [{ expression: 'false', messageExpression: expression }],
    }),
  ),
  post('validatingadmissionpolicybindings', bound()),
];

const OPERATION = "string(request.operation) + ' ' + request.resource.resource";
const NAMES = "object.metadata.name + ' ' + request.name + ' ' + request.namespace";

/** Requests, their subresources and the authorizer. */
export const policyRequests: Area = {
  title: 'Requests that policies see',
  cases: {
    'a policy sees who asks, and whether it is a dry run': [
      ...granted(user('{ns}-alice'), rule(['create'], ['configmaps'])),
      ...reporting(
        "request.userInfo.username + ' ' + request.userInfo.groups.join(' ') + ' ' + " +
          'string(request.dryRun)',
        ['configmaps'],
      ),
      until(post(...dry('a'), denied('a', 'admin system:masters system:authenticated true'))),
      until(
        asAlice(
          post('configmaps', configMap('a'), denied('a', '{ns}-alice system:authenticated false')),
        ),
      ),
    ],
    'a policy sees the name and the namespace of a creation': [
      ...reporting(
        `${NAMES} + ' ' + namespaceObject.metadata.name + ' ' + string(oldObject == null)`,
        ['configmaps'],
      ),
      until(post(...dry('a'), denied('a', 'a a {ns} {ns} true'))),
    ],
    'what is empty in a request is absent': [
      ...reporting(
        'string(has(request.subResource)) + string(has(request.name)) + ' +
          'string(has(request.userInfo.extra)) + string(has(request.requestSubResource))',
        ['configmaps'],
      ),
      until(post(...dry('a'), denied('a', 'falsetruefalsefalse'))),
    ],
    'an update has both objects, in a PUT and in a patch': [
      post('configmaps', configMap('a', { data: { x: 'old' } })),
      ...reporting(`${OPERATION} + ' ' + oldObject.data.x + ' ' + object.data.x`, ['configmaps']),
      until(
        put(
          'configmaps/a?dryRun=All',
          configMap('a', { data: { x: 'new' } }),
          denied('a', 'UPDATE configmaps old new'),
        ),
      ),
      patch(
        'configmaps/a',
        merge({ data: { x: 'newer' } }),
        denied('a', 'UPDATE configmaps old newer'),
      ),
      patch('configmaps/a', merge({}), denied('a', 'UPDATE configmaps old old')),
      get('configmaps/a', ok({ data: { x: 'old' } })),
    ],
    'a deletion has the old object alone': [
      post('configmaps', configMap('a')),
      ...reporting(
        `${OPERATION} + ' ' + oldObject.metadata.name + ' ' + string(object == null)`,
        ['configmaps'],
      ),
      until(
        del('configmaps/a?dryRun=All', undefined, denied('a', 'DELETE configmaps a true')),
      ),
      del('configmaps/a', undefined, denied('a', 'DELETE configmaps a true')),
      del('configmaps', undefined, denied('Unknown', 'DELETE configmaps a true')),
      del('configmaps/none', undefined, 404),
      get('configmaps/a'),
    ],
    'an eviction is the creation of a subresource': [
      post('pods', pod('a')),
      ...reporting(
        `${OPERATION} + ' ' + request.subResource + ' ' + request.kind.kind + ' ' + ` +
          "request.kind.group + ' ' + object.metadata.name",
        ['pods/eviction'],
      ),
      until(
        post(
          'pods/a/eviction?dryRun=All',
          { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } },
          denied('a', 'CREATE pods eviction Eviction policy a', { plural: 'pods' }),
        ),
      ),
      get('pods/a'),
      del('pods/a?gracePeriodSeconds=0'),
    ],
    'a policy on pods does not see their evictions': [
      post('pods', pod('a')),
      ...reporting(OPERATION, ['pods']),
      until(
        patch(
          'pods/a',
          merge({ metadata: { labels: { x: 'y' } } }),
          denied('a', 'UPDATE pods', { plural: 'pods' }),
        ),
      ),
      post('pods/a/eviction', {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: 'a' },
      }),
    ],
    'a binding, a status, a scale and a token are subresources, too': [
      post('pods', pod('a')),
      post('poddisruptionbudgets', budget('a')),
      post('deployments', workload('a')),
      post('serviceaccounts', {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'a' },
      }),
      ...reporting(`${OPERATION} + ' ' + request.subResource + ' ' + request.kind.kind`, [
        'pods/binding',
        'poddisruptionbudgets/status',
        'deployments/scale',
        'serviceaccounts/token',
      ]),
      until(
        post(
          'pods/a/binding?dryRun=All',
          {
            apiVersion: 'v1',
            kind: 'Binding',
            metadata: { name: 'a' },
            target: { kind: 'Node', name: 'x' },
          },
          denied('a', 'CREATE pods binding Binding', { plural: 'pods' }),
        ),
      ),
      patch(
        'poddisruptionbudgets/a/status',
        merge({ status: { expectedPods: 1 } }),
        denied('a', 'UPDATE poddisruptionbudgets status PodDisruptionBudget', {
          plural: 'poddisruptionbudgets',
          group: 'policy',
        }),
      ),
      patch(
        'deployments/a/scale',
        merge({ spec: { replicas: 2 } }),
        denied('a', 'UPDATE deployments scale Scale', { plural: 'deployments', group: 'apps' }),
      ),
      post(
        'serviceaccounts/a/token',
        { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
        denied('a', 'CREATE serviceaccounts token TokenRequest', { plural: 'serviceaccounts' }),
      ),
      get('deployments/a', ok({ spec: { replicas: 1 } })),
    ],
    'a namespace is in itself': [
      post(
        'validatingadmissionpolicies',
        policy({
          matchConstraints: {
            resourceRules: [{
              apiGroups: [''],
              apiVersions: ['v1'],
              operations: ['CREATE'],
              resources: ['namespaces'],
            }],
          },
          validations: [{
            expression: "object.metadata.name != '{ns}-x'",
            messageExpression: "request.namespace + ' ' + string(namespaceObject == null)",
          }],
        }),
      ),
      post('validatingadmissionpolicybindings', bound({ matchResources: {} })),
      until(
        post(
          'namespaces?dryRun=All',
          namespace('{ns}-x'),
          denied('{ns}-x', '{ns}-x true', { plural: 'namespaces' }),
        ),
      ),
      del('validatingadmissionpolicies/{ns}'),
    ],
    'the authorizer tells what the user may do': [
      ...granted(
        user('{ns}-alice'),
        rule(['create'], ['configmaps']),
        rule(['use'], ['things'], { apiGroups: ['x.io'], resourceNames: ['mine'] }),
        rule(['create'], ['pods/eviction']),
      ),
      ...inForce({
        variables: [{
          name: 'things',
          expression: "authorizer.group('x.io').resource('things').namespace(request.namespace)",
        }],
        validations: [
          {
            expression: "variables.things.name(object.metadata.name).check('use').allowed()",
            message: 'may not use it',
          },
          {
            expression: "authorizer.group('').resource('pods').subresource('eviction')" +
              ".namespace('{ns}').check('create').allowed()",
            message: 'may not evict',
          },
        ],
      }),
      until(asAlice(post(...dry('yours'), denied('yours', 'may not use it')))),
      until(asAlice(post(...dry('mine')))),
    ],
    'the authorizer knows the resource of the request': [
      ...granted(
        user('{ns}-alice'),
        rule(['create'], ['configmaps']),
        rule(['approve'], ['configmaps'], { resourceNames: ['mine'] }),
      ),
      post(
        'validatingadmissionpolicies',
        policy({
          validations: [{
            expression: "authorizer.requestResource.check('approve').allowed()",
            message: 'may not approve',
          }],
        }),
      ),
      post('validatingadmissionpolicybindings', bound()),
      until(asAlice(post(...dry('yours'), denied('yours', 'may not approve')))),
      asAlice(post(...dry('mine'))),
      post(...dry('yours')),
    ],
    'the authorizer gives its reason, and answers for paths': [
      ...granted(user('{ns}-alice'), rule(['create'], ['configmaps'])),
      ...inForce({
        variables: [{
          name: 'reason',
          expression: "authorizer.group('').resource('configmaps').namespace('{ns}')" +
            ".check('create').reason()",
        }],
        validations: [
          {
            expression: "request.userInfo.username != '{ns}-alice' || variables.reason == " +
              '\'RBAC: allowed by RoleBinding "granted/{ns}" of Role "granted" to User ' +
              '"{ns}-alice"\'',
            message: 'another reason',
          },
          {
            expression: "authorizer.path('/metrics').check('get').allowed()",
            message: 'may not read metrics',
          },
        ],
      }),
      until(asAlice(post(...dry('a'), denied('a', 'may not read metrics')))),
      post(...dry('a')),
    ],
    'a message may not ask the authorizer, not even by a variable': [
      ...inForce({
        variables: [{
          name: 'allowed',
          expression: "authorizer.path('/metrics').check('get').allowed()",
        }],
        validations: [{
          expression: '!variables.allowed',
          messageExpression: "'allowed: ' + string(variables.allowed)",
          message: 'plain',
        }],
      }),
      until(post(...dry('a'), denied('a', 'plain'))),
    ],
    'the authorizer answers for service accounts': [
      ...granted(serviceAccount('robot'), rule(['get'], ['secrets'])),
      ...activeFor({
        variables: [{
          name: 'secrets',
          expression: "authorizer.serviceAccount('{ns}', object.metadata.name).group('')" +
            ".resource('secrets').namespace('{ns}')",
        }],
        validations: [{
          expression: "variables.secrets.check('get').allowed()",
          message: 'cannot read secrets',
        }],
      }, ...dry('other')),
      until(post(...dry('robot'))),
      post(...dry('other'), denied('other', 'cannot read secrets')),
    ],
  },
};
