/** Users of a cluster: credentials, their ends, and where everything is allowed. */
import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import type { ClusterRequest } from '../src/api.ts';
import { tokenUsersIn } from '../src/authentication/token-file.ts';
import { type ClusterOptions, makeCluster } from '../src/cluster.ts';
import { serverCertificate } from '../src/http/certificates.ts';
import { textAt } from '../src/values/json.ts';
import { simulatedTime } from '../src/values/simulated-time.ts';

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const WHO_AM_I = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const TEN_MINUTES_MS = 600_000;

const clusterWith = (options: Pick<ClusterOptions, 'authorization' | 'users'>) => {
  const time = simulatedTime();
  const cluster = makeCluster({ time, seed: 1, ...options });
  const ask = (request: ClusterRequest) => {
    const answer = cluster.answer(request);
    if (answer._tag === 'Watch') throw new Error('A watch was opened');
    return { status: answer.status, body: answer.body };
  };
  const whoAmI = (more: Pick<ClusterRequest, 'headers' | 'peer'>) => {
    const { status, body } = ask({ method: 'POST', path: WHO_AM_I, body: {}, ...more });
    return textAt(body, 'status', 'userInfo', 'username') ?? status;
  };
  const robotToken = (): string => {
    ask({ method: 'POST', path: ACCOUNTS, body: { metadata: { name: 'robot' } } });
    const body = { spec: { expirationSeconds: 600 } };
    const { body: made } = ask({ method: 'POST', path: `${ACCOUNTS}/robot/token`, body });
    return textAt(made, 'status', 'token') ?? '';
  };
  return { time, ask, whoAmI, robotToken };
};

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` }, peer: {} });

test('a token of a service account ends with its time', async () => {
  const { time, whoAmI, robotToken } = clusterWith({ authorization: 'RBAC' });
  const token = robotToken();
  await time.advance(TEN_MINUTES_MS - 1);
  expect(whoAmI(bearer(token))).toBe('system:serviceaccount:default:robot');
  await time.advance(1);
  expect(whoAmI(bearer(token))).toBe(401);
});

test('a token ends with its service account, also when another has its name', () => {
  const { ask, whoAmI, robotToken } = clusterWith({ authorization: 'RBAC' });
  const token = robotToken();
  ask({ method: 'DELETE', path: `${ACCOUNTS}/robot` });
  expect(whoAmI(bearer(token))).toBe(401);
  robotToken();
  expect(whoAmI(bearer(token))).toBe(401);
});

test('a call within the process is of the administrator, one from outside of nobody', () => {
  const { ask, whoAmI } = clusterWith({ authorization: 'RBAC' });
  expect(whoAmI({})).toBe('tidegate-embedded');
  expect(whoAmI({ peer: {} })).toBe(403);
  expect(ask({ method: 'GET', path: '/version', peer: {} }).status).toBe(200);
});

test('a certificate names the user, and an unknown one is refused', () => {
  const { whoAmI } = clusterWith({ authorization: 'RBAC' });
  const certificate = { commonName: 'carol', organizations: [] };
  expect(whoAmI({ peer: { certificate } })).toBe('carol');
  expect(whoAmI({ peer: { certificate: 'untrusted' } })).toBe(401);
});

test('where everything is allowed, unknown credentials are of the administrator', () => {
  const { whoAmI } = clusterWith({ users: [{ token: 'b', name: 'bob' }] });
  expect(whoAmI({ peer: {} })).toBe('tidegate-embedded');
  expect(whoAmI(bearer('nonsense'))).toBe('tidegate-embedded');
  expect(whoAmI(bearer('b'))).toBe('bob');
  expect(whoAmI({ peer: {}, headers: { 'impersonate-user': 'ann' } })).toBe('ann');
});

test('where everything is allowed, no roles are made', () => {
  const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
  expect(clusterWith({}).ask({ method: 'GET', path }).body).toMatchObject({ items: [] });
});

test('a token file has a user a line', () => {
  const text = '# users\na,ann,u1,"devs, ops"\n\nb,"bo""b",u2\n';
  expect(tokenUsersIn(text)).toEqual([
    { token: 'a', name: 'ann', uid: 'u1', groups: ['devs', 'ops'] },
    { token: 'b', name: 'bo"b', uid: 'u2', groups: [] },
  ]);
  expect(() => tokenUsersIn('a,ann\n')).toThrow('line 1 of the token file');
});

test('a certificate is for the addresses of this machine and for its host, today', () => {
  const made = serverCertificate('fd00::7', Date.UTC(2026, 0, 2));
  const certificate = new X509Certificate(made.certificate);
  for (const address of ['127.0.0.1', '::1', 'fd00::7']) {
    expect([address, certificate.checkIP(address)]).toEqual([address, address]);
  }
  expect(certificate.checkHost('localhost')).toBe('localhost');
  expect(certificate.checkIP('10.0.0.1')).toBeUndefined();
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(new Date(certificate.validFrom).getTime()).toBe(Date.UTC(2026, 0, 1));
});
