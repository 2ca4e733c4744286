/** Users of the test bed's API server, and their credential files. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Users for tests. All have full permissions, except `viewer`, who has none unless bound. */
export const testbedUsers = [
  'admin',
  'tidegate',
  'tidegate-a',
  'tidegate-b',
  'fleet',
  'pods',
  'viewer',
] as const;

export type TestbedUser = typeof testbedUsers[number];

/** The bed's own programs; what they read is not audited. */
export const componentUsers = [
  'system:kube-controller-manager',
  'system:kube-scheduler',
  'kwok',
] as const;

export type ComponentUser = typeof componentUsers[number];

/** Paths of what the programs are started with. */
export interface CredentialFiles {
  readonly tokens: string;
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
  readonly tokenOf: (user: TestbedUser | ComponentUser) => string;
}

const SERVICE_ACCOUNT_KEY_BITS = 2048;

/** Creates tokens for all users and the key that signs service account tokens. */
export const writeCredentials = async (directory: string): Promise<CredentialFiles> => {
  const tokenByUser = new Map<string, string>(
    [...testbedUsers, ...componentUsers].map((user) => [user, randomUUID()]),
  );
  const rows = [...tokenByUser].map(([user, token]) =>
    `${token},${user},uid-${user}${user === 'viewer' ? '' : ',system:masters'}`
  );
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: SERVICE_ACCOUNT_KEY_BITS,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const files = {
    tokens: join(directory, 'tokens.csv'),
    serviceAccountKey: join(directory, 'service-accounts.key'),
    serviceAccountPublicKey: join(directory, 'service-accounts.pub'),
  };
  await writeFile(files.tokens, `${rows.join('\n')}\n`, { mode: 0o600 });
  await writeFile(files.serviceAccountKey, privateKey, { mode: 0o600 });
  await writeFile(files.serviceAccountPublicKey, publicKey);
  return { ...files, tokenOf: (user) => tokenByUser.get(user) ?? '' };
};

/** The issuer in the chain that the API server made for itself: its last certificate. */
export const issuerOf = (chain: string): string => {
  const blocks = chain.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----\n?/g);
  const last = blocks?.at(-1);
  if (last === undefined) throw new Error('The API server wrote no certificate');
  return last;
};

/** A kubeconfig, as JSON, which is YAML. */
export const kubeconfigText = (
  { server, authority }: { readonly server: string; readonly authority: string },
  user: string,
  token: string,
): string => {
  const data = Buffer.from(authority).toString('base64');
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'testbed', cluster: { server, 'certificate-authority-data': data } }],
      users: [{ name: user, user: { token } }],
      contexts: [{ name: user, context: { cluster: 'testbed', user, namespace: 'default' } }],
      'current-context': user,
    },
    undefined,
    2,
  );
};
