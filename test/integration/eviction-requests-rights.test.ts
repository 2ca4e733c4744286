/** The role evictions with the rights of docs/reference/rbac.yaml and no others. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { adminAccess, type ClusterClient, nameOf, uidOf } from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { evictionRequestPolicies } from '../support/api/impersonated-client.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';
import { ACTOR_B, DRAIN, IMPERATIVE } from '../support/eviction-requests/request-fixture.ts';
import {
  conditionsIn,
  createPod,
  REQUESTS,
  serveRequests,
  untilRequest,
  writers,
} from '../support/eviction-requests/served-requests.ts';
import { PROJECT } from '../tidy/source-file.ts';

const ACCOUNTS = '/api/v1/namespaces/tidegate/serviceaccounts';

const activeIn = (request: unknown): unknown =>
  listOrEmptyAt(request, 'status', 'activeInterceptors')[0];

describeWithTestbed('the role evictions with its own rights', {}, (bed) => {
  beforeAll(async () => {
    await bed().installCrds();
    await bed().apply(await evictionRequestPolicies());
    await bed().apply(await readFile(`${PROJECT}docs/reference/rbac.yaml`, 'utf8'));
  });

  /** A kubeconfig of the service account of the role. */
  const ownKubeconfig = async (cluster: ClusterClient): Promise<string> => {
    const { server, authority } = await adminAccess(bed());
    const { body } = await cluster.call('POST', `${ACCOUNTS}/tidegate-evictions/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 3600 },
    });
    const token = textAt(body, 'status', 'token');
    expect(token).toBeDefined();
    const folder = await mkdtemp(join(tmpdir(), 'tidegate-evictions-'));
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

  test('serves a request from its labels to the eviction, under the policies', {
    timeout: 60_000,
  }, async () => {
    const cluster = await freshCluster(bed());
    await cluster.clear(REQUESTS);
    const { role } = serveRequests(bed(), { kubeconfig: await ownKubeconfig(cluster), ttlMs: 0 });
    expect(await role.start()).toEqual({ _tag: 'Started' });
    const { request, report } = writers(bed());
    const pod = await createPod(cluster, 'with-rights', [ACTOR_B]);
    await request(pod, DRAIN);
    const asked = await untilRequest(
      { cluster, pod },
      'the first turn',
      (one) => activeIn(one) === ACTOR_B && textAt(one, 'metadata', 'labels', 'app') !== undefined,
    );
    expect(conditionsIn(asked)).toEqual([]);
    await report(pod, ACTOR_B, { completionTime: new Date().toISOString() });
    await eventually(async () => {
      const { status } = await cluster.call(
        'GET',
        `/api/v1/namespaces/default/pods/${nameOf(pod)}`,
      );
      return status === 404;
    }, { what: 'the eviction' });
    await eventually(async () => {
      const { status, body } = await cluster.call('GET', `${REQUESTS}/${uidOf(pod)}`);
      if (status !== 404) throw new Error(JSON.stringify([activeIn(body), conditionsIn(body)]));
      return true;
    }, { what: `the end of the request, past ${IMPERATIVE}` });
  });
});
