/** `tidegate explain` as its own process against a real API server. */
import { spawn } from 'node:child_process';
import { beforeAll, expect, test } from 'vitest';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { tidegateCommand } from '../support/processes/program.ts';

const TIDEGATE = tidegateCommand();

const explain = (...given: readonly string[]): Promise<readonly [number | null, string, string]> =>
  new Promise((resolve) => {
    const child = spawn(TIDEGATE.file, [...TIDEGATE.args, 'explain', ...given]);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    child.on('close', (code) => resolve([code, stdout, stderr]));
  });

const OBJECTS = `
apiVersion: bigfleet.lucy.sh/v1alpha1
kind: CapacityRequest
metadata: {name: batch-7, namespace: default}
spec: {priority: 1000, resources: {cpu: "4"}}
---
apiVersion: bigfleet.lucy.sh/v1alpha1
kind: UpcomingNode
metadata: {name: un-m-1, annotations: {bigfleet.lucy.sh/machine-id: m-1}}
spec: {resources: {cpu: "8"}}
---
apiVersion: v1
kind: Node
metadata: {name: node-1}
---
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: about-un-m-1, namespace: default}
eventTime: "2026-03-01T12:00:00.000000Z"
reportingController: tidegate.dev/operator
reportingInstance: a
action: Follow
reason: SomethingHappened
note: Something happened to this machine
type: Normal
regarding: {apiVersion: bigfleet.lucy.sh/v1alpha1, kind: UpcomingNode, name: un-m-1}
`;

/** An outage of the shard that the holder of the Lease reports now. */
const outage = (): string => `
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: tidegate-operator, namespace: kube-system}
spec: {holderIdentity: operator-1_uid, leaseDurationSeconds: 15}
---
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: about-shard, namespace: kube-system}
eventTime: "${new Date().toISOString().replace('Z', '000Z')}"
reportingController: tidegate.dev/operator
reportingInstance: operator-1_uid
action: DialShard
reason: ShardUnreachable
note: "Cannot reach the shard at shard:7780: no process listens (UNAVAILABLE). Check the shard"
type: Warning
regarding:
  apiVersion: coordination.k8s.io/v1
  kind: Lease
  namespace: kube-system
  name: tidegate-operator
`;

const READY = JSON.stringify({
  status: { phase: 'Ready', nodeRef: { apiVersion: 'v1', kind: 'Node', name: 'node-1' } },
});
const NOT_READY = JSON.stringify({
  status: {
    conditions: [{ type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: 'no cni' }],
  },
});

describeWithTestbed('explain on a real API server', {}, (bed) => {
  beforeAll(async () => {
    await bed().installCrds();
    await bed().apply(OBJECTS);
    const patch = ['patch', '--subresource=status', '--type=merge'];
    await bed().kubectl(...patch, 'upcomingnode', 'un-m-1', '-p', READY);
    await bed().kubectl(...patch, 'node', 'node-1', '-p', NOT_READY);
  });

  test('explain capacityrequest prints what a new request waits for', async () => {
    const [code, stdout, stderr] = await explain(
      'cr',
      'default/batch-7',
      `--kubeconfig=${bed().kubeconfig}`,
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('CapacityRequest default/batch-7: Pending');
    expect(stdout).toContain('Asks for  cpu 4');
  });

  test('explain machine prints the phase, the Node and the Events', async () => {
    const [code, stdout] = await explain(
      'machine',
      'm-1',
      '-o',
      'json',
      `--kubeconfig=${bed().kubeconfig}`,
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      kind: 'UpcomingNode',
      name: 'un-m-1',
      state: 'Ready',
      why: 'Its Node "node-1" joined but is not ready: KubeletNotReady: no cni',
      events: [{ reason: 'SomethingHappened', note: 'Something happened to this machine' }],
    });
  });

  test('explain upcomingnode answers in YAML', async () => {
    const [code, stdout] = await explain(
      'upn',
      'un-m-1',
      '-o',
      'yaml',
      `--kubeconfig=${bed().kubeconfig}`,
    );
    expect(code).toBe(0);
    expect(stdout).toContain('kind: UpcomingNode\nname: un-m-1\nstate: Ready\n');
  });

  test('explain reports a missing object, with exit code 3', async () => {
    const [code, stdout, stderr] = await explain(
      'machine',
      'm-2',
      `--kubeconfig=${bed().kubeconfig}`,
    );
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain('Cannot find machine "m-2"');
  });

  test('explain names an outage of the shard for what waits for it', async () => {
    await bed().apply(outage());
    const asked = ['cr', 'default/batch-7', '-o', 'json', `--kubeconfig=${bed().kubeconfig}`];
    const [, stdout] = await explain(...asked);
    expect(JSON.parse(stdout)).toMatchObject({
      why: expect.stringContaining('ShardUnreachable: Cannot reach the shard at shard:7780'),
      action: 'Check the shard',
      runbook: 'https://tidegate.dev/docs/runbooks.md#shard-unreachable',
    });
  });

  test('explain is read-only', async () => {
    const asked = (await bed().audit()).filter((entry) =>
      JSON.stringify(entry).includes('tidegate/')
    );
    expect(asked.length).toBeGreaterThan(0);
    const text = JSON.stringify(asked);
    for (const verb of ['create', 'update', 'patch', 'delete']) {
      expect(text).not.toContain(`"verb":"${verb}"`);
    }
  });
});
