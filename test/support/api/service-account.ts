/** Service accounts of docs/reference/rbac.yaml, as an operator uses them. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { textAt } from '../../../src/domain/json.ts';
import { PROJECT } from '../../tidy/source-file.ts';
import { adminAccess, type ClusterClient } from './cluster-client.ts';
import type { Testbed } from './testbed.ts';

const ACCOUNTS = '/api/v1/namespaces/tidegate/serviceaccounts';

/** The accounts with their rights. */
export const documentedAccounts = (): Promise<string> =>
  readFile(`${PROJECT}docs/reference/rbac.yaml`, 'utf8');

/** A kubeconfig of an account. Must be called inside a test, with which it ends. */
export const accountKubeconfig = async (
  bed: Testbed,
  cluster: ClusterClient,
  account: string,
): Promise<string> => {
  const { server, authority } = await adminAccess(bed);
  const { body } = await cluster.call('POST', `${ACCOUNTS}/${account}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 3600 },
  });
  const token = textAt(body, 'status', 'token');
  expect(token).toBeDefined();
  const folder = await mkdtemp(join(tmpdir(), `${account}-`));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'kubeconfig');
  const ca = Buffer.from(authority).toString('base64');
  await writeFile(
    file,
    JSON.stringify({
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
      clusters: [{ name: 'k', cluster: { server, 'certificate-authority-data': ca } }],
      users: [{ name: 'u', user: { token } }],
    }),
  );
  return file;
};
