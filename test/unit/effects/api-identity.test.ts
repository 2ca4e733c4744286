/** The identity of a pod, read from the files that its kubelet renews. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Effect } from 'effect';
import { expect, onTestFinished, test } from 'vitest';
import { openIdentity, podIdentity } from '../../../src/effects/api-identity.ts';

const SERVICE = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };

const account = async (files: Readonly<Record<string, string>>): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-account-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
};

test('a pod has the server of its variables, the CA and the token as it is now', async () => {
  const accountFolder = await account({ 'token': 'one\n', 'ca.crt': 'authority' });
  const identity = podIdentity({ accountFolder, variables: SERVICE });
  expect(await identity.credentials()).toEqual({
    server: new URL('https://10.0.0.1:443'),
    proxy: undefined,
    tls: { ca: Buffer.from('authority') },
    headers: { authorization: 'Bearer one' },
  });
  await writeFile(join(accountFolder, 'token'), 'two');
  expect((await identity.credentials()).headers).toEqual({ authorization: 'Bearer two' });
});

test('the address of the server may be one of IPv6', async () => {
  const accountFolder = await account({ 'token': 'one', 'ca.crt': 'authority' });
  const variables = { ...SERVICE, KUBERNETES_SERVICE_HOST: 'fd00::1' };
  const { server } = await podIdentity({ accountFolder, variables }).credentials();
  expect(server.host).toBe('[fd00::1]');
});

test.each([
  { files: { 'token': ' \n', 'ca.crt': 'a' }, why: 'the token of the service account is empty' },
  { files: { 'token': 'one' }, why: 'ENOENT' },
  {
    files: { 'token': 'one', 'ca.crt': 'a' },
    variables: {},
    why: 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT name no server',
  },
])('a pod that lacks something fails in one sentence: $why', async (one) => {
  const accountFolder = await account(one.files);
  const { credentials } = podIdentity({ accountFolder, variables: one.variables ?? SERVICE });
  const problem = await credentials().then(() => '', (cause: Error) => cause.message);
  expect(problem).toMatch(/^Cannot use the kubeconfig: /);
  expect(problem).toContain(one.why);
  expect(problem).not.toContain('one');
});

test('a kubeconfig comes before the account of the pod', async () => {
  const accountFolder = await account({ 'token': 'one', 'ca.crt': 'authority' });
  const path = join(accountFolder, 'kubeconfig');
  await writeFile(
    path,
    JSON.stringify({
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
      clusters: [{ name: 'k', cluster: { server: 'https://configured:6443' } }],
      users: [{ name: 'u', user: { token: 'two' } }],
    }),
  );
  const pod = { accountFolder, variables: SERVICE };
  const { credentials } = await Effect.runPromise(
    openIdentity({ _tag: 'File', path }, pod),
  );
  expect((await credentials()).server.host).toBe('configured:6443');
  const inCluster = await Effect.runPromise(openIdentity({ _tag: 'InCluster' }, pod));
  expect((await inCluster.credentials()).headers).toEqual({ authorization: 'Bearer one' });
});
