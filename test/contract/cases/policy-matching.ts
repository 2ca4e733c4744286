/** Contract: which writes a ValidatingAdmissionPolicy is about, and which policies are valid. */
import { configMap, lease, namespace, pod, workload } from '../objects.ts';
import { ALL_OPERATIONS, bound, denied, inForce, policy, rules } from '../policies.ts';
import { del, get, invalid, merge, patch, post, put, type Step, until } from '../steps.ts';
import type { Area } from '../suite.ts';

const dry = (name: string, more = {}) => [`configmaps?dryRun=All`, configMap(name, more)] as const;
const NO = [{ expression: 'false', message: 'no' }];

/** A selector of namespaces does not keep a policy from the objects of the cluster. */
const HERE_ONLY = { scope: 'Namespaced' };

const GUARDED = { metadata: { labels: { guard: 'yes' } } };

/** An invalid policy, and what is wrong about it. */
const wrong = (spec: object, ...causes: readonly (readonly [string, string])[]): Step =>
  post('validatingadmissionpolicies', policy({ ...spec }), invalid(...causes));

const validation = (more: object): object => ({ validations: [{ expression: 'true', ...more }] });

/** Rules, selectors, and the validity of policies. */
export const policyMatching: Area = {
  title: 'Matching of policies',
  cases: {
    'a policy is about the operations that it names': [
      post('configmaps', configMap('a')),
      ...inForce({ matchConstraints: rules(['configmaps'], ['UPDATE']), validations: NO }),
      until(patch('configmaps/a', merge({}), denied('a', 'no'))),
      post(...dry('b')),
      del('configmaps/a'),
    ],
    'a policy is about the groups and versions that it names': [
      ...inForce({
        matchConstraints: {
          resourceRules: [{
            apiGroups: ['apps'],
            apiVersions: ['v1'],
            operations: ['*'],
            resources: ['*'],
          }],
        },
        validations: NO,
      }),
      until(
        post(
          'deployments',
          workload('a'),
          denied('a', 'no', { plural: 'deployments', group: 'apps' }),
        ),
      ),
      post(...dry('a')),
      post('leases?dryRun=All', lease('a')),
    ],
    'a star is every resource, and no subresource': [
      post('pods', pod('a')),
      ...inForce({ matchConstraints: rules(['*'], ['*'], HERE_ONLY), validations: NO }),
      until(post(...dry('a'), denied('a', 'no'))),
      patch('pods/a/status', merge({ status: { message: 'x' } })),
    ],
    'a star after a slash is every subresource, and the resource': [
      post('pods', pod('a')),
      ...inForce({ matchConstraints: ALL_OPERATIONS('pods/*'), validations: NO }),
      until(
        patch('pods/a/status', merge({ status: {} }), denied('a', 'no', { plural: 'pods' })),
      ),
      patch('pods/a', merge({}), denied('a', 'no', { plural: 'pods' })),
      post(...dry('a')),
    ],
    'a star before a slash is this subresource of every resource': [
      post('pods', pod('a')),
      ...inForce({ matchConstraints: rules(['*/status'], ['*'], HERE_ONLY), validations: NO }),
      until(
        patch('pods/a/status', merge({ status: {} }), denied('a', 'no', { plural: 'pods' })),
      ),
      patch('pods/a', merge({})),
    ],
    'a policy is about the names that it names': [
      ...inForce({
        matchConstraints: rules(['configmaps'], ['*'], { resourceNames: ['a'] }),
        validations: NO,
      }),
      until(post(...dry('a'), denied('a', 'no'))),
      post(...dry('b')),
    ],
    'the scope of a rule is namespaces or the cluster': [
      ...inForce({
        matchConstraints: rules(['*'], ['*'], { scope: 'Cluster' }),
        matchConditions: [{
          name: 'own',
          expression: "object.metadata.name.startsWith('{ns}')",
        }],
        validations: NO,
      }),
      del('validatingadmissionpolicybindings/{ns}'),
      post('validatingadmissionpolicybindings', bound({ matchResources: {} })),
      until(
        post(
          'namespaces?dryRun=All',
          namespace('{ns}-x'),
          denied('{ns}-x', 'no', { plural: 'namespaces' }),
        ),
      ),
      post(...dry('{ns}-a')),
      del('validatingadmissionpolicies/{ns}'),
    ],
    'a selector of objects looks at the object before and after': [
      ...inForce({
        matchConstraints: {
          ...rules(['configmaps'], ['*']),
          objectSelector: { matchLabels: { guard: 'yes' } },
        },
        validations: NO,
      }),
      until(post(...dry('a', GUARDED), denied('a', 'no'))),
      post('configmaps', configMap('a')),
      patch('configmaps/a', merge(GUARDED), denied('a', 'no')),
      patch('configmaps/a', merge({ metadata: { labels: { guard: 'no' } } })),
      put('configmaps/a', configMap('a', GUARDED), denied('a', 'no')),
      del('configmaps/a'),
    ],
    'a selector of namespaces looks at their labels': [
      patch('namespaces/{ns}', merge({ metadata: { labels: { team: '{ns}' } } })),
      ...inForce({
        matchConstraints: {
          ...rules(['configmaps'], ['*']),
          namespaceSelector: {
            matchExpressions: [{ key: 'team', operator: 'In', values: ['{ns}'] }],
          },
        },
        validations: NO,
      }),
      until(post(...dry('a'), denied('a', 'no'))),
      patch('namespaces/{ns}', merge({ metadata: { labels: { team: 'other' } } })),
      until(post(...dry('a'))),
    ],
    'an excluded resource is out': [
      ...inForce({
        matchConstraints: {
          ...rules(['*'], ['*'], HERE_ONLY),
          excludeResourceRules: [{
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['*'],
            resources: ['configmaps'],
            resourceNames: ['free'],
          }],
        },
        validations: NO,
      }),
      until(post(...dry('a'), denied('a', 'no'))),
      post(...dry('free')),
    ],
    'a binding may narrow a policy down': [
      ...inForce({ matchConstraints: rules(['configmaps'], ['*']), validations: NO }),
      until(post(...dry('a'), denied('a', 'no'))),
      del('validatingadmissionpolicybindings/{ns}'),
      post(
        'validatingadmissionpolicybindings',
        bound({
          matchResources: {
            ...rules(['configmaps'], ['CREATE'], { resourceNames: ['b'] }),
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '{ns}' } },
          },
        }),
      ),
      until(post(...dry('a'))),
      until(post(...dry('b'), denied('b', 'no'))),
    ],
    'a rule for one version is about the others too, unless it is exact': [
      ...inForce({
        matchConstraints: {
          resourceRules: [{
            apiGroups: [''],
            apiVersions: ['v1beta9'],
            operations: ['*'],
            resources: ['configmaps'],
          }, {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['*'],
            resources: ['configmaps'],
            resourceNames: ['a'],
          }],
          matchPolicy: 'Exact',
        },
        validations: NO,
      }),
      until(post(...dry('a'), denied('a', 'no'))),
      post(...dry('b')),
    ],
    'a policy without constraints or validations is invalid': [
      wrong(
        { matchConstraints: undefined },
        ['spec.matchConstraints', 'FieldValueRequired'],
        ['spec.validations', 'FieldValueRequired'],
        ['spec.auditAnnotations', 'FieldValueRequired'],
      ),
      wrong(
        { matchConstraints: { resourceRules: [] }, ...validation({}) },
        ['spec.matchConstraints.resourceRules', 'FieldValueRequired'],
      ),
      wrong(
        { matchConstraints: rules(['configmaps'], []), ...validation({}) },
        ['spec.matchConstraints.resourceRules[0].operations', 'FieldValueRequired'],
      ),
    ],
    'an expression that does not compile is invalid': [
      wrong(validation({ expression: 'object.(' }), [
        'spec.validations[0].expression',
        'FieldValueInvalid',
      ]),
      wrong(validation({ expression: '1 + 1' }), [
        'spec.validations[0].expression',
        'FieldValueInvalid',
      ]),
      wrong(validation({ expression: 'nonsense.x == 1' }), [
        'spec.validations[0].expression',
        'FieldValueInvalid',
      ]),
      wrong(validation({ expression: 'params.x == 1' }), [
        'spec.validations[0].expression',
        'FieldValueInvalid',
      ]),
      wrong(validation({ expression: 'variables.x == 1' }), [
        'spec.validations[0].expression',
        'FieldValueInvalid',
      ]),
      wrong(validation({ messageExpression: '1' }), [
        'spec.validations[0].messageExpression',
        'FieldValueInvalid',
      ]),
      wrong(
        validation({
          messageExpression: "string(authorizer.path('/x').check('get').allowed())",
        }),
        ['spec.validations[0].messageExpression', 'FieldValueInvalid'],
      ),
    ],
    'a reason and a failure policy are of a list': [
      wrong(validation({ reason: 'Odd' }), [
        'spec.validations[0].reason',
        'FieldValueNotSupported',
      ]),
      wrong({ failurePolicy: 'Odd', ...validation({}) }, [
        'spec.failurePolicy',
        'FieldValueNotSupported',
      ]),
    ],
    'an expression about unknown fields is valid': [
      post(
        'validatingadmissionpolicies',
        policy({ ...validation({ expression: 'object.no == 1' }) }),
      ),
    ],
    'a binding names its policy, which may be absent, and its actions': [
      post(
        'validatingadmissionpolicybindings',
        bound({ policyName: '', validationActions: [] }),
        invalid(
          ['spec.policyName', 'FieldValueRequired'],
          ['spec.validationActions', 'FieldValueRequired'],
        ),
      ),
      post(
        'validatingadmissionpolicybindings',
        bound({ validationActions: ['Deny', 'Warn'] }),
        invalid(['spec.validationActions', 'FieldValueInvalid']),
      ),
      post('validatingadmissionpolicybindings', bound()),
      get('validatingadmissionpolicybindings/{ns}'),
      post(...dry('a')),
    ],
  },
};
