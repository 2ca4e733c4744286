/** Contract: ValidatingAdmissionPolicies: how they refuse. */
import { configMap, secret } from '../objects.ts';
import { activeFor, ALL_OPERATIONS, bound, denied, policy } from '../policies.ts';
import { all, as, containing, del, get, header, invalid, made, post, until } from '../steps.ts';
import type { Area } from '../suite.ts';

const dry = (name: string, more = {}) => [`configmaps?dryRun=All`, configMap(name, more)] as const;

/** Policies on configmaps. */
export const policies: Area = {
  title: 'Admission policies',
  cases: {
    'a policy gets its defaults': [
      post(
        'validatingadmissionpolicies',
        policy({ validations: [{ expression: 'true' }] }),
        made({
          metadata: { generation: 1 },
          spec: {
            failurePolicy: 'Fail',
            matchConstraints: {
              namespaceSelector: {},
              objectSelector: {},
              matchPolicy: 'Equivalent',
              resourceRules: [{ scope: '*' }],
            },
          },
        }),
      ),
      post(
        'validatingadmissionpolicybindings',
        bound(),
        made({ spec: { matchResources: { objectSelector: {}, matchPolicy: 'Equivalent' } } }),
      ),
    ],
    'a policy denies what is not valid, with its message': [
      ...activeFor({
        validations: [{ expression: "!object.metadata.name.startsWith('bad')", message: 'no bad' }],
      }, ...dry('bad')),
      post('configmaps', configMap('bad'), denied('bad', 'no bad')),
      post('configmaps', configMap('good')),
      get('configmaps/bad', 404),
    ],
    'a policy without a message quotes its expression': [
      ...activeFor({
        validations: [{ expression: "object.metadata.name != 'probe'" }],
      }, ...dry('probe')),
      post(
        'configmaps',
        configMap('probe'),
        denied('probe', "failed expression: object.metadata.name != 'probe'"),
      ),
    ],
    'a message may be an expression, and falls back when that fails': [
      ...activeFor({
        validations: [{
          expression: "object.metadata.name != 'a' && object.metadata.name != 'b'",
          message: 'plain',
          messageExpression: "'data of ' + object.data.who",
        }],
      }, ...dry('a')),
      post(...dry('a', { data: { who: 'me' } }), denied('a', 'data of me')),
      post(...dry('b'), denied('b', 'plain')),
    ],
    'a reason decides the status': [
      ...activeFor({
        validations: [
          { expression: "object.metadata.name != 'f'", message: 'f', reason: 'Forbidden' },
          {
            expression: "object.metadata.name != 'l'",
            message: 'l',
            reason: 'RequestEntityTooLarge',
          },
          { expression: "object.metadata.name != 'i'", message: 'i', reason: 'Invalid' },
        ],
      }, ...dry('f')),
      post(...dry('f'), denied('f', 'f', { status: 403, reason: 'Forbidden' })),
      post(...dry('l'), denied('l', 'l', { status: 413, reason: 'RequestEntityTooLarge' })),
      post(...dry('i'), denied('i', 'i')),
    ],
    'the first of several violations is the answer': [
      ...activeFor({
        validations: [
          { expression: "object.metadata.name != 'probe'", message: 'first' },
          { expression: "object.metadata.name != 'probe'", message: 'second' },
        ],
      }, ...dry('probe')),
      post(...dry('probe'), denied('probe', 'first')),
    ],
    'an object that is invalid is refused before a policy sees it': [
      ...activeFor({ validations: [{ expression: 'false' }] }, ...dry('a')),
      post(
        'configmaps',
        configMap('a', { data: { 'a b': 'x' } }),
        invalid([
          'data[a b]',
          'FieldValueInvalid',
        ]),
      ),
    ],
    'an object that is there is denied before it conflicts': [
      post('configmaps', configMap('a')),
      ...activeFor({ validations: [{ expression: 'false', message: 'no' }] }, ...dry('b')),
      post('configmaps', configMap('a'), denied('a', 'no')),
    ],
    'an expression that fails denies': [
      ...activeFor({
        validations: [{ expression: "object.data.x == 'y'", message: 'not y' }],
      }, ...dry('a', { data: { x: 'z' } })),
      post(
        ...dry('a'),
        denied('a', "expression 'object.data.x == 'y'' resulted in error: no such key: data"),
      ),
      post(...dry('a', { data: { x: 'y' } })),
    ],
    'an expression that fails is ignored where the policy says so': [
      ...activeFor({
        failurePolicy: 'Ignore',
        validations: [{ expression: "object.data.x == 'y'", message: 'not y' }],
      }, ...dry('a', { data: { x: 'z' } })),
      post(...dry('a')),
      post(...dry('a', { data: { x: 'z' } }), denied('a', 'not y')),
    ],
    'a condition that is false excuses a write, also from failures': [
      ...activeFor({
        matchConditions: [
          { name: 'not-alice', expression: "request.userInfo.username != '{ns}-alice'" },
          { name: 'has-x', expression: "object.data.x == 'y'" },
        ],
        validations: [{ expression: 'false', message: 'no' }],
      }, ...dry('a', { data: { x: 'y' } })),
      post(...dry('a', { data: { x: 'z' } })),
      post(
        ...dry('a'),
        denied('a', "expression 'object.data.x == 'y'' resulted in error: no such key: data"),
      ),
      as('{ns}-alice', 'system:masters')(post(...dry('a'))),
    ],
    'variables are expressions that others use': [
      ...activeFor({
        variables: [
          { name: 'name', expression: 'object.metadata.name' },
          { name: 'isLong', expression: 'variables.name.size() > 3' },
          { name: 'broken', expression: 'object.data.nothing' },
        ],
        validations: [{
          expression: '!variables.isLong',
          messageExpression: "variables.name + ' is too long'",
        }],
      }, ...dry('long')),
      post(...dry('longer'), denied('longer', 'longer is too long')),
      post(...dry('a')),
    ],
    'a warning lets the write pass': [
      ...activeFor({ validations: [{ expression: 'false', message: 'no' }] }, ...dry('a')),
      del('validatingadmissionpolicybindings/{ns}'),
      post(
        'validatingadmissionpolicybindings',
        bound({ validationActions: ['Warn', 'Audit'] }),
      ),
      until(
        all(post(...dry('a')), header('warning', containing('Validation failed for Validating'))),
      ),
      header('warning', containing(': no"')),
    ],
    'an audited violation lets the write pass without a warning': [
      ...activeFor({ validations: [{ expression: 'false', message: 'no' }] }, ...dry('a')),
      del('validatingadmissionpolicybindings/{ns}'),
      post('validatingadmissionpolicybindings', bound({ validationActions: ['Audit'] })),
      until(post(...dry('a'))),
      header('warning', undefined),
    ],
    'a policy without a binding does nothing': [
      post(
        'validatingadmissionpolicies',
        policy({ validations: [{ expression: 'false' }] }),
      ),
      post(...dry('a')),
    ],
    'a policy that goes takes its refusals along': [
      ...activeFor({ validations: [{ expression: 'false' }] }, ...dry('a')),
      del('validatingadmissionpolicies/{ns}'),
      until(post(...dry('a'))),
    ],
    'a parameter object is read for each binding': [
      post('configmaps', configMap('limits', { data: { max: '3' } })),
      post(
        'validatingadmissionpolicies',
        policy({
          paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
          matchConstraints: ALL_OPERATIONS('secrets'),
          validations: [{
            expression: 'object.metadata.name.size() <= int(params.data.max)',
            messageExpression: "'at most ' + params.data.max",
          }],
        }),
      ),
      post(
        'validatingadmissionpolicybindings',
        bound({ paramRef: { name: 'limits', namespace: '{ns}', parameterNotFoundAction: 'Deny' } }),
      ),
      until(
        post(
          'secrets?dryRun=All',
          secret('long'),
          denied('long', 'at most 3', { plural: 'secrets' }),
        ),
      ),
      post('secrets?dryRun=All', secret('a')),
      del('configmaps/limits'),
      until(
        post(
          'secrets?dryRun=All',
          secret('a'),
          denied(
            'a',
            'failed to configure binding: no params found for policy binding with `Deny` ' +
              'parameterNotFoundAction',
            { plural: 'secrets' },
          ),
        ),
      ),
      del('validatingadmissionpolicies/{ns}'),
    ],
    'policies are not about reviews, nor about themselves': [
      post(
        'validatingadmissionpolicies',
        policy({
          matchConstraints: ALL_OPERATIONS('*'),
          matchConditions: [{ name: 'a', expression: "request.userInfo.username == '{ns}-zoe'" }],
          validations: [{ expression: 'false', message: 'no' }],
        }),
      ),
      post('validatingadmissionpolicybindings', bound({ matchResources: {} })),
      until(
        as('{ns}-zoe', 'system:masters')(post(...dry('a'), denied('a', 'no'))),
      ),
      as('{ns}-zoe', 'system:masters')(
        post('selfsubjectreviews', {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'SelfSubjectReview',
        }),
        del('validatingadmissionpolicybindings/{ns}'),
      ),
    ],
    'the configmaps of other namespaces are another matter': [
      ...activeFor({ validations: [{ expression: 'false' }] }, ...dry('a')),
      post(`/api/v1/namespaces/default/configmaps?dryRun=All`, configMap('a')),
    ],
  },
};
