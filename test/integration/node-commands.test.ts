/** `tidegate node` on an embedded cluster. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCluster } from '@tidegate/embedded-kubernetes';
import { expect, onTestFinished, test } from 'vitest';
import { definitions } from '../../src/api/definitions.ts';
import { runDrainAcknowledge } from '../../src/cli/drain/drain-acknowledge.ts';
import { runDrainStatus } from '../../src/cli/drain/drain-status.ts';
import {
  runNodeConfirmGone,
  runNodeDisable,
  runNodeEnable,
} from '../../src/cli/node/node-change.ts';
import type { NodeDisableRequest, NodeGoneRequest } from '../../src/cli/node/node-request.ts';
import { runNodeStatus } from '../../src/cli/node/node-status.ts';
import { isConditionTrue } from '../../src/domain/condition.ts';
import { listOrEmptyAt, textAt, valueAt } from '../../src/domain/json.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { eventually } from '../support/eventually.ts';
import { PLAIN_TERMINAL } from '../support/terminal/plain-terminal.ts';

const NODE_LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

const barePod = (name: string, volumes: readonly object[] = []) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { nodeName: 'node-1', volumes, containers: [{ name: 'c', image: 'none' }] },
});

const site = async () => {
  const { cluster, kubeconfig: text, silence, stop } = await runCluster({
    time: realTime,
    listen: { host: '127.0.0.1', port: 0 },
    seed: 1,
    nodes: 2,
    rate: 20,
    definitions: definitions(),
  });
  onTestFinished(stop);
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-node-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, text);
  const output = { stdout: '', stderr: '' };
  const terminal = {
    print: (printed: string) => void (output.stdout += printed),
    report: (line: string) => void (output.stderr += `${line}\n`),
    ...PLAIN_TERMINAL,
  };
  const result = async (code: Promise<number>) => {
    Object.assign(output, { stdout: '', stderr: '' });
    return { code: await code, ...output };
  };
  const environment = { terminal, time: realTime };
  const common = { kubeconfig, context: undefined };
  const ask = (method: string, path: string, body?: object) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const headers = { 'content-type': type };
    const answer = cluster.answer({ method, path, headers, ...(body && { body }) });
    if (answer._tag !== 'Answer' || answer.status >= 300) throw new Error(JSON.stringify(answer));
    return answer.body;
  };
  return {
    ask,
    /** Its kubelet has been silent for a minute. With a fresh Lease it would be Ready again. */
    fail: (name: string) => {
      silence(name, true);
      const renewTime = new Date(realTime.now() - 60_000).toISOString().replace('Z', '000Z');
      ask('PATCH', `${NODE_LEASES}/${name}`, { spec: { renewTime } });
      const conditions = [{ type: 'Ready', status: 'Unknown' }];
      ask('PATCH', `/api/v1/nodes/${name}/status`, { status: { conditions } });
    },
    node: (name: string) => ask('GET', `/api/v1/nodes/${name}`),
    status: (node?: string, format = 'table') =>
      result(runNodeStatus({ node, format, ...common }, { terminal, nowMs: 0 })),
    acknowledge: (node: string, format = 'text') =>
      result(runDrainAcknowledge({ node, why: 'they stay', format, ...common }, { terminal })),
    drainStatus: (format: string) =>
      result(runDrainStatus({
        nodes: ['node-1'],
        selector: undefined,
        format,
        watch: false,
        ...common,
      }, { terminal, time: realTime, follow: () => Promise.resolve(0) })),
    disable: (node: string, why: string, more: Partial<NodeDisableRequest> = {}) =>
      result(runNodeDisable({
        node,
        why,
        acceptsDowntime: false,
        format: 'text',
        ...common,
        ...more,
      }, environment)),
    enable: (node: string, format = 'text') =>
      result(runNodeEnable({ node, format, ...common }, environment)),
    confirmGone: (node: string, more: Partial<NodeGoneRequest> = {}) =>
      result(runNodeConfirmGone({
        node,
        acceptsLocalLoss: false,
        format: 'text',
        ...common,
        ...more,
      }, environment)),
  };
};

test('RS-03: a node is disabled with a reason that its status shows, and enabled again', async () => {
  const { disable, enable, status, node } = await site();
  expect(await disable('node-1', 'bad fan')).toMatchObject({
    code: 0,
    stdout: 'node/node-1 disabled\n',
  });
  expect(valueAt(node('node-1'), 'spec', 'unschedulable')).toBe(true);
  expect((await status()).stdout).toMatch(/\nnode-1 +Disabled +\w+ +0 +0 +bad fan\n/);
  expect(await disable('node-1', 'bad fan')).toMatchObject({
    code: 0,
    stdout: 'node/node-1 already disabled\n',
  });
  expect((await enable('node-1')).stdout).toBe('node/node-1 enabled\n');
  expect(valueAt(node('node-1'), 'spec', 'unschedulable')).not.toBe(true);
  expect((await enable('node-1')).stdout).toBe('node/node-1 is not disabled\n');
});

test('RS-16: a node is disabled with its downtime accepted; its status and the JSON say so', async () => {
  const { disable, enable, status } = await site();
  const json = { format: 'json' };
  const first = await disable('node-1', 'fan', { acceptsDowntime: true, ...json });
  expect(JSON.parse(first.stdout)).toEqual({
    node: 'node-1',
    changed: true,
    why: 'fan',
    acceptsDowntime: true,
  });
  expect((await status()).stdout).toMatch(/\nnode-1 .* fan; downtime is accepted\n/);
  expect((await status('node-1')).stderr).toContain('; fan; downtime is accepted\n');
  expect(JSON.parse((await status('node-1', 'json')).stdout)).toMatchObject({
    acceptsDowntime: true,
  });
  expect((await disable('node-1', 'fan')).stdout).toBe('node/node-1 disabled\n');
  expect((await status()).stdout).toMatch(/\nnode-1 .* fan\n/);
  const again = await disable('node-1', 'fan', json);
  expect(JSON.parse(again.stdout)).toMatchObject({ changed: false, acceptsDowntime: false });
  await disable('node-1', 'fan', { acceptsDowntime: true });
  const given = await enable('node-1', 'json');
  expect(JSON.parse(given.stdout)).toEqual({ node: 'node-1', changed: true });
  expect(JSON.parse((await status('node-1', 'json')).stdout)).toMatchObject({
    acceptsDowntime: false,
  });
});

test('RS-12: pods on the disk of a disabled node are listed, and may stay from then on', async () => {
  const { ask, acknowledge, disable, drainStatus, status } = await site();
  const disk = { name: 'disk', hostPath: { path: '/d' } };
  ask('POST', '/api/v1/namespaces/default/pods', barePod('db', [disk]));
  const early = await acknowledge('node-1');
  expect(early).toMatchObject({ code: 3, stdout: '' });
  expect(early.stderr).toContain('it does not drain; "tidegate node disable node-1 --why=TEXT"');
  await disable('node-1', 'bad fan');
  const [before] = JSON.parse((await drainStatus('json')).stdout).items;
  expect(before).toMatchObject({
    state: 'Draining',
    pods: { left: 1, leaving: 0, blocked: 1 },
    classes: { stateless: 0, stateful: 1 },
    verdict: { reason: 'StatefulLocalVolume', canAct: 'platform' },
    blockers: [{
      reason: 'StatefulLocalVolume',
      text: 'data only on this node: volume "disk"',
      canAct: 'platform',
      pods: ['default/db'],
    }],
  });
  expect((await drainStatus('wide')).stdout).toMatch(
    / 1\/0\/1 +0\/1 .*StatefulLocalVolume default\/db/,
  );
  expect(await acknowledge('node-1')).toMatchObject({
    code: 0,
    stdout: 'pod/db in default stays with its data: volume "disk"\n' +
      'node/node-1 acknowledged: 1 pod\n',
  });
  const again = await acknowledge('node-1', 'json');
  expect(JSON.parse(again.stdout)).toMatchObject({
    node: 'node-1',
    changed: false,
    pods: [{ namespace: 'default', name: 'db', data: ['volume "disk"'] }],
  });
  expect((await status('node-1')).stdout).toMatch(/db +Stateful +StatefulLocalVolume +/);
  const [after] = JSON.parse((await drainStatus('json')).stdout).items;
  expect(after).toMatchObject({
    pods: { left: 0, blocked: 0 },
    blockers: [{
      text: 'stays, as was acknowledged; data only on this node: volume "disk"',
      canAct: 'nobody',
    }],
  });
});

test('RS-12: what cannot be acknowledged is one line and an exit code', async () => {
  const { acknowledge, disable } = await site();
  expect((await acknowledge('nobody')).code).toBe(3);
  expect((await acknowledge('node-1', 'yaml')).code).toBe(2);
  await disable('node-2', 'bad fan');
  const none = await acknowledge('node-2');
  expect(none.code).toBe(3);
  expect(none.stderr).toContain('none has data on this node only; "tidegate drain status node-2"');
});

test('RS-22: a machine is confirmed gone only when it is not Ready and its losses are accepted', async () => {
  const { ask, confirmGone, fail, node, status } = await site();
  ask('POST', '/api/v1/namespaces/default/pods', barePod('job', [{ name: 'disk', hostPath: {} }]));
  await eventually(
    () => ['node-1', 'node-2'].every((name) => isConditionTrue(node(name), 'Ready')),
    { what: 'both kubelets to be ready' },
  );
  const refused = await confirmGone('node-2');
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain('it is Ready; use "tidegate node disable"');
  fail('node-1');
  const blocked = await confirmGone('node-1');
  expect(blocked).toMatchObject({
    code: 5,
    stdout: 'pod/job in default: stateful; lost: the pod: no controller makes it again, ' +
      'volume "disk"\n',
    stderr: expect.stringContaining('add --accept-local-loss'),
  });
  expect(listOrEmptyAt(node('node-1'), 'spec', 'taints').map((taint) => textAt(taint, 'key')))
    .not.toContain('node.kubernetes.io/out-of-service');
  const refusedJson = await confirmGone('node-1', { format: 'json' });
  expect(refusedJson.code).toBe(5);
  expect(JSON.parse(refusedJson.stdout)).toMatchObject({
    node: 'node-1',
    changed: false,
    pods: [{ name: 'job', podClass: 'Stateful' }],
  });
  const { name, pods } = JSON.parse((await status('node-1', 'json')).stdout);
  expect([name, pods]).toEqual(['node-1', [expect.objectContaining({ name: 'job' })]]);
  const done = await confirmGone('node-1', { acceptsLocalLoss: true });
  expect(done.code).toBe(0);
  expect(done.stdout).toContain('node/node-1 confirmed gone\n');
  expect(listOrEmptyAt(node('node-1'), 'spec', 'taints').map((taint) => textAt(taint, 'key')))
    .toContain('node.kubernetes.io/out-of-service');
  expect((await confirmGone('node-1')).stdout).toBe('node/node-1 already confirmed gone\n');
  expect(JSON.parse((await confirmGone('node-1', { format: 'json' })).stdout)).toEqual({
    node: 'node-1',
    changed: false,
    pods: [],
  });
});

test('RS-22: a pod that was deleted and never stopped is lost with its machine, too', async () => {
  // Such pods were left out, so that the machine was confirmed gone without a question.
  const { ask, confirmGone, fail, node, status } = await site();
  const path = '/api/v1/namespaces/default/pods/job';
  await eventually(
    () => isConditionTrue(node('node-1'), 'Ready'),
    { what: 'the kubelet of node-1 to be ready' },
  );
  const pod = barePod('job');
  // The finalizer stands for a kubelet that does not answer.
  ask('POST', '/api/v1/namespaces/default/pods', {
    ...pod,
    metadata: { ...pod.metadata, finalizers: ['example.com/kubelet'] },
  });
  ask('DELETE', path);
  expect(textAt(ask('GET', path), 'metadata', 'deletionTimestamp')).not.toBeUndefined();
  expect((await status('node-1')).stdout).toMatch(/job +Stateful +.*no controller makes it again/);
  fail('node-1');
  expect(await confirmGone('node-1')).toMatchObject({
    code: 5,
    stdout: 'pod/job in default: stateful; lost: the pod: no controller makes it again\n',
  });
});

test('what cannot be shown or changed is one line and an exit code', async () => {
  const { status, disable, enable, confirmGone } = await site();
  for (
    const { code, stdout, stderr } of [
      await status('nobody'),
      await disable('nobody', 'x'),
      await enable('nobody'),
      await confirmGone('nobody'),
    ]
  ) {
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toBe('Cannot find Node "nobody": it does not exist\n');
  }
  expect((await enable('node-1', 'yaml')).code).toBe(2);
  expect((await status(undefined, 'xml')).code).toBe(2);
  expect((await disable('node-1', ' ')).code).toBe(2);
});
