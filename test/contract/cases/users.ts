/** Contract: who asks: tokens, anonymous callers, service accounts and impersonation. */
import { cannot, forbidden, granted, grantedEverywhere, rule, serviceAccount } from '../access.ts';
import {
  absent,
  as,
  exactly,
  get,
  keep,
  like,
  made,
  ok,
  post,
  refused,
  type Step,
  until,
  withHeaders,
} from '../steps.ts';
import type { Area } from '../suite.ts';

const SELF = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
const whoAmI = (userInfo: object): Step =>
  post('selfsubjectreviews', SELF, made({ status: { userInfo } }));

const ROBOT = 'system:serviceaccount:{ns}:robot';
const ACCOUNT = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } };

const tokenRequest = (spec: object) => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenRequest',
  spec,
});

const robotToken: readonly Step[] = [
  post('serviceaccounts', ACCOUNT),
  post('serviceaccounts/robot/token', tokenRequest({ expirationSeconds: 3600 })),
  keep({ token: 'status.token' }),
];
const ROBOT_HEADERS = { authorization: 'Bearer {token}' };
const asRobot = withHeaders(ROBOT_HEADERS);
const robotAs = (headers: Readonly<Record<string, string>>) =>
  withHeaders({ ...ROBOT_HEADERS, ...headers });

const cannotImpersonate = (resource: string, name: string, where = 'at the cluster scope') => {
  const isCore = ['users', 'groups', 'serviceaccounts'].includes(resource);
  const of = isCore ? '' : 'authentication.k8s.io';
  const [plural = ''] = resource.split('/');
  return forbidden(
    `${plural}${isCore ? '' : `.${of}`} "${name}" is forbidden: User "${ROBOT}" cannot ` +
      `impersonate resource "${resource}" in API group "${of}" ${where}`,
    { name, kind: plural },
  );
};

/** Impersonation of Bob in the group devs is allowed to the robot. */
const MAY_BE_BOB: readonly Step[] = [
  ...robotToken,
  ...grantedEverywhere(
    serviceAccount('robot'),
    rule(['impersonate'], ['users'], { resourceNames: ['{ns}-bob'] }),
    rule(['impersonate'], ['groups'], { resourceNames: ['{ns}-devs'] }),
  ),
  until(
    robotAs({ 'impersonate-user': '{ns}-bob', 'impersonate-group': '{ns}-devs' })(
      whoAmI({ username: '{ns}-bob', groups: ['{ns}-devs', 'system:authenticated'] }),
    ),
  ),
];

/** Users and how they prove who they are. */
export const users: Area = {
  title: 'Users, tokens and impersonation',
  cases: {
    'an impersonated user is the one who asks': [
      as('alice')(whoAmI({ username: 'alice', groups: ['system:authenticated'] })),
    ],
    'an impersonated user is in the groups that are named': [
      as('alice', 'devs', 'ops')(
        whoAmI({ username: 'alice', groups: ['devs', 'ops', 'system:authenticated'] }),
      ),
    ],
    'an impersonated user has the UID and the extra fields that are named': [
      withHeaders({
        'impersonate-user': 'alice',
        'impersonate-uid': 'u1',
        'impersonate-extra-reason': 'a\nb',
        'impersonate-extra-acme.com%2fproject': 'x',
      })(
        whoAmI({
          username: 'alice',
          uid: 'u1',
          extra: { 'reason': ['a', 'b'], 'acme.com/project': ['x'] },
        }),
      ),
    ],
    'an impersonated service account is in the groups of service accounts': [
      as(ROBOT)(
        whoAmI({
          username: ROBOT,
          groups: [
            'system:serviceaccounts',
            'system:serviceaccounts:{ns}',
            'system:authenticated',
          ],
        }),
      ),
    ],
    'an impersonated anonymous user is not authenticated': [
      as('system:anonymous')(get('configmaps', cannot('system:anonymous', 'list configmaps'))),
      as('system:anonymous')(get('/version')),
    ],
    'groups without a user are a bad request': [
      withHeaders({ 'impersonate-group': 'devs' })(
        get(
          'configmaps',
          refused(400, 'BadRequest', {
            message: 'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"devs"}, ' +
              'Extra:map[string][]string(nil)} without impersonating a user name',
          }),
        ),
      ),
    ],
    'an administrator is in the group of masters': [
      whoAmI({ username: 'admin', groups: ['system:masters', 'system:authenticated'] }),
    ],
    'a caller without credentials is anonymous': [
      withHeaders({ authorization: '' })(
        get('configmaps', cannot('system:anonymous', 'list configmaps')),
        get('/version'),
        get('/api', 403),
      ),
    ],
    'an unknown token is refused, even where anyone may read': [
      withHeaders({ authorization: 'Bearer nonsense' })(
        get('configmaps', refused(401, 'Unauthorized', { message: 'Unauthorized' })),
        get('/version', refused(401, 'Unauthorized')),
        absent('details'),
      ),
    ],
    'a user without rights may discover what is served': [
      as('alice')(
        get('/api'),
        get('/apis'),
        get('/apis/apps/v1'),
        get('/version'),
        get('/openapi/v3'),
      ),
    ],
    'a token of a service account proves who it is': [
      ...robotToken,
      asRobot(
        whoAmI({
          username: ROBOT,
          uid: like(/-/),
          groups: [
            'system:serviceaccounts',
            'system:serviceaccounts:{ns}',
            'system:authenticated',
          ],
          extra: { 'authentication.kubernetes.io/credential-id': [like(/^JTI=/)] },
        }),
        get('configmaps', cannot(ROBOT, 'list configmaps')),
      ),
    ],
    'a token request answers with the token and its end': [
      post('serviceaccounts', ACCOUNT),
      post(
        'serviceaccounts/robot/token',
        tokenRequest({ expirationSeconds: 7200 }),
        made({
          kind: 'TokenRequest',
          apiVersion: 'authentication.k8s.io/v1',
          metadata: { name: 'robot', namespace: '{ns}' },
          spec: { audiences: ['https://kubernetes.default.svc'], expirationSeconds: 7200 },
          status: { token: like(/^[\w-]+\.[\w-]+\.[\w-]+$/), expirationTimestamp: like(/Z$/) },
        }),
      ),
    ],
    'a token request without a time is for an hour': [
      post('serviceaccounts', ACCOUNT),
      post(
        'serviceaccounts/robot/token',
        tokenRequest({}),
        made({ spec: { expirationSeconds: 3600 } }),
      ),
    ],
    'a token for less than ten minutes is invalid': [
      post('serviceaccounts', ACCOUNT),
      post(
        'serviceaccounts/robot/token',
        tokenRequest({ expirationSeconds: 30 }),
        refused(422, 'Invalid'),
      ),
    ],
    'an absent service account gets no token': [
      post('serviceaccounts/none/token', tokenRequest({}), refused(404, 'NotFound')),
    ],
    'a review of a token names its user': [
      ...robotToken,
      post(
        'tokenreviews',
        { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: '{token}' } },
        made({
          status: {
            authenticated: true,
            user: { username: ROBOT },
            audiences: ['https://kubernetes.default.svc'],
          },
        }),
      ),
    ],
    'a review of an unknown token says so': [
      post(
        'tokenreviews',
        { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'x' } },
        made({ status: { error: 'invalid bearer token' } }),
      ),
      absent('status.authenticated'),
    ],
    'a user without the right cannot impersonate': [
      ...robotToken,
      robotAs({ 'impersonate-user': 'eve' })(
        get('configmaps', cannot(ROBOT, 'impersonate-on:user-info:list configmaps')),
      ),
      robotAs({ 'impersonate-user': 'system:serviceaccount:{ns}:other' })(
        get('configmaps', cannot(ROBOT, 'impersonate-on:serviceaccount:list configmaps')),
      ),
    ],
    'a user who may impersonate one user cannot impersonate another': [
      ...MAY_BE_BOB,
      robotAs({ 'impersonate-user': 'eve' })(
        get('configmaps', cannotImpersonate('users', 'eve')),
      ),
    ],
    'a user who may impersonate in one group cannot do so in another': [
      ...MAY_BE_BOB,
      robotAs({ 'impersonate-user': '{ns}-bob', 'impersonate-group': 'system:masters' })(
        get('configmaps', cannotImpersonate('groups', 'system:masters')),
      ),
    ],
    'a service account, a UID and an extra field need rights of their own': [
      ...MAY_BE_BOB,
      robotAs({ 'impersonate-user': 'system:serviceaccount:{ns}:other' })(
        get(
          'configmaps',
          cannotImpersonate('serviceaccounts', 'other', 'in the namespace "{ns}"'),
        ),
      ),
      robotAs({ 'impersonate-user': '{ns}-bob', 'impersonate-uid': '7' })(
        get('configmaps', cannotImpersonate('uids', '7')),
      ),
      robotAs({ 'impersonate-user': '{ns}-bob', 'impersonate-extra-scopes': 'x' })(
        get('configmaps', cannotImpersonate('userextras/scopes', 'x')),
      ),
    ],
    'an impersonated user has the rights of that user, not those of the other': [
      ...MAY_BE_BOB,
      ...granted(serviceAccount('robot'), rule(['list'], ['configmaps'])),
      until(asRobot(get('configmaps'))),
      robotAs({ 'impersonate-user': '{ns}-bob' })(
        get('configmaps', cannot('{ns}-bob', 'list configmaps')),
      ),
    ],
    'constrained impersonation needs the right to act and the right to be': [
      ...robotToken,
      ...grantedEverywhere(
        serviceAccount('robot'),
        rule(['impersonate-on:user-info:list'], ['configmaps']),
        rule(['impersonate:user-info'], ['users'], {
          apiGroups: ['authentication.k8s.io'],
          resourceNames: ['{ns}-carol'],
        }),
      ),
      ...granted({ kind: 'User', name: '{ns}-carol' }, rule(['*'], ['configmaps'])),
      until(robotAs({ 'impersonate-user': '{ns}-carol' })(get('configmaps', ok({})))),
      robotAs({ 'impersonate-user': '{ns}-carol' })(
        get(
          'configmaps/x',
          cannot(ROBOT, 'impersonate-on:user-info:get configmaps', 'x'),
        ),
      ),
    ],
    'the creation of an object is the act of the user who is impersonated': [
      ...granted({ kind: 'User', name: 'alice' }, rule(['create'], ['configmaps'])),
      until(
        as('alice')(
          post('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }),
        ),
      ),
      exactly('metadata.name', 'a'),
    ],
  },
};
