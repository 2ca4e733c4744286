/** Kubernetes' own controller manager, whose bodies are protobuf, on an embedded cluster. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { binaries } from '../../tools/testbed/binaries.ts';
import { supervise, type Supervised } from '../../tools/testbed/processes.ts';
import { type EmbeddedHttp, embeddedHttp } from '../support/api/embedded-http.ts';
import { eventually } from '../support/eventually.ts';
import { describeWithBinaries } from '../support/api/testbed.ts';

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';
const EVENTS = '/api/v1/namespaces/kube-system/events';
const REPLICA_SETS = '/apis/apps/v1/namespaces/default/replicasets';

const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'main', image: 'none' }] },
    },
  },
};

/** It ends when it loses its Lease. */
const LEASE_FLAGS = [
  '--leader-elect=true',
  '--leader-elect-lease-duration=120s',
  '--leader-elect-renew-deadline=90s',
];
/** The flags that leave it two controllers. */
const FLAGS = ['--controllers=deployment,replicaset', '--secure-port=0', ...LEASE_FLAGS];

describeWithBinaries('a Go client on the embedded cluster', () => {
  let site: EmbeddedHttp;
  let directory: string;
  let manager: Supervised | undefined;

  beforeAll(async () => {
    site = await embeddedHttp();
    directory = await mkdtemp(join(tmpdir(), 'tidegate-go-client-'));
    const { kubeControllerManager: file } = await binaries(() => {});
    if (file === undefined) return;
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(
      kubeconfig,
      JSON.stringify({
        'apiVersion': 'v1',
        'kind': 'Config',
        'clusters': [{ name: 'a', cluster: { server: site.server } }],
        'contexts': [{ name: 'a', context: { cluster: 'a', user: '' } }],
        'current-context': 'a',
      }),
    );
    manager = supervise({
      name: 'kube-controller-manager',
      file,
      args: [`--kubeconfig=${kubeconfig}`, ...FLAGS],
      onLine: () => {},
    });
  });
  afterAll(async () => {
    await manager?.stop();
    await site.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const get = (path: string) => site.contract.request({ method: 'GET', path });

  test('it holds a Lease, writes Events, and its controllers write objects', async ({ skip }) => {
    skip(manager === undefined, 'these assets have no kube-controller-manager');
    await eventually(async () => textAt((await get(LEASE)).body, 'spec', 'holderIdentity'), {
      what: 'the controller manager leads',
    });
    await eventually(
      async () =>
        listOrEmptyAt((await get(EVENTS)).body, 'items')
          .some((event) => textAt(event, 'reason') === 'LeaderElection'),
      { what: 'it has written an Event' },
    );
    const path = '/apis/apps/v1/namespaces/default/deployments';
    await site.contract.request({ method: 'POST', path, body: DEPLOYMENT });
    await eventually(
      async () => listOrEmptyAt((await get(REPLICA_SETS)).body, 'items').length === 1,
      { what: 'the Deployment has a ReplicaSet' },
    );
    const pods = async () => (await get('/api/v1/namespaces/default/pods')).body;
    await eventually(async () => listOrEmptyAt(await pods(), 'items').length === 2, {
      what: 'the ReplicaSet has its pods',
    });
    expect(textAt(listOrEmptyAt(await pods(), 'items')[0], 'status', 'qosClass')).toBe(
      'BestEffort',
    );
  }, 600_000);
});
