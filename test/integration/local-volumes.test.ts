/** Drains of disabled Nodes whose pods have data there only, on an embedded cluster. */
import { expect, test } from 'vitest';
import { printCordon, readCordon } from '../../src/domain/drain/cordon.ts';
import { projectDrainedNode } from '../../src/domain/drain/drained-node.ts';
import {
  ACKNOWLEDGED_KEY,
  drainsUnderway,
  type LocalVolumes,
  printAcknowledgement,
} from '../../src/domain/drain/kept-pods.ts';
import { rawConditionOf } from '../../src/domain/condition.ts';
import { listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { rfc3339 } from '../../src/domain/time.ts';
import { failingCluster } from '../support/node-availability/failing-cluster.ts';
import { maintainedCluster } from '../support/node-maintenance/maintained-cluster.ts';

const PODS = '/api/v1/namespaces/default/pods';
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const KEY = 'cordon.tidegate.dev/disabled';

/** A Node with a pod on its disk, one of another workload, and a drain of the owner `disabled`. */
const disabledNode = async () => {
  const cluster = await failingCluster(4);
  cluster.deploy('web', 8);
  cluster.ask('POST', '/api/v1/persistentvolumes', {
    metadata: { name: 'disk-a' },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], local: { path: '/d' } },
  });
  const store = (name: string, claimName: string): void => {
    cluster.ask('POST', CLAIMS, {
      metadata: { name: claimName },
      spec: {
        accessModes: ['ReadWriteOnce'],
        volumeName: 'disk-a',
        resources: { requests: { storage: '1Gi' } },
      },
    });
    cluster.ask('POST', PODS, {
      metadata: { name },
      spec: {
        nodeName: 'node-1',
        containers: [{ name: 'c', image: 'none' }],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
      },
    });
  };
  store('db-a', 'data-a');
  await cluster.time.advance(20_000);
  const stop = cluster.serve();
  await cluster.time.advance(5000);
  const sinceMs = cluster.time.now();
  cluster.patchNode('node-1', {
    metadata: {
      annotations: {
        [KEY]: printCordon({
          ids: ['i'],
          deadlineMs: null,
          graceSeconds: 0,
          sinceMs,
          ended: null,
        }),
      },
    },
    spec: { unschedulable: true },
  });
  const node = () => cluster.ask('GET', '/api/v1/nodes/node-1');
  const reading = () => readCordon(textAt(node(), 'metadata', 'annotations', KEY) ?? '');
  return {
    cluster,
    stop,
    store,
    names: () => cluster.pods().filter((pod) => pod.node === 'node-1').map(({ name }) => name),
    ended: () => {
      const read = reading();
      return read._tag === 'Recognized' ? read.annotation.ended : read.why;
    },
    condition: () => rawConditionOf(node(), 'tidegate.dev/Draining'),
    acknowledge: (names: readonly string[]): void => {
      const pods = cluster.pods().filter(({ name }) => names.includes(name)).map(({ uid }) => uid);
      const drains = { disabled: rfc3339(sinceMs) };
      cluster.patchNode('node-1', {
        metadata: {
          annotations: { [ACKNOWLEDGED_KEY]: printAcknowledgement({ drains, pods, why: '' }) },
        },
      });
    },
    isTerminating: (name: string) => cluster.pods().find((pod) => pod.name === name)?.isTerminating,
  };
};

test('RS-11: a pod whose data is on a disabled node only stays, and is its blocker', async () => {
  const { cluster, names, ended, condition, isTerminating } = await disabledNode();
  await cluster.time.advance(120_000);
  expect(names()).toEqual(['db-a']);
  expect([ended(), isTerminating('db-a')]).toEqual([null, false]);
  expect(textAt(condition(), 'reason')).toBe('StatefulLocalVolume');
  expect(textAt(condition(), 'message'))
    .toContain('1 pod cannot leave: data only on this node: claim "data-a" (default/db-a)');
  expect(cluster.metrics.get('tidegate_drains waitingForAcknowledgement')).toBe(1);
  const blocked = cluster.notes.filter(({ reason }) => reason === 'StatefulLocalVolume');
  expect(blocked.map(({ regarding }) => regarding.name)).toEqual(['node-1']);
});

test('RS-30: evictions are counted by node, and the stateless pods have a time of their own', async () => {
  const { cluster, names, ended, acknowledge } = await disabledNode();
  const before = names().length;
  await cluster.time.advance(60_000);
  expect(names()).toEqual(['db-a']);
  const { metrics } = cluster;
  expect(metrics.get('tidegate_node_evictions_total node-1')).toBe(before - 1);
  await cluster.time.advance(300_000);
  acknowledge(['db-a']);
  await cluster.time.advance(20_000);
  expect(ended()).toBe('Drained');
  expect(metrics.get('tidegate_node_drain_duration_seconds Drained')).toBeGreaterThanOrEqual(360);
  expect(metrics.get('tidegate_stateless_drain_duration_seconds')).toBeLessThan(60);
});

test('RS-12: the drain is complete when the pods that stay are acknowledged', async () => {
  const { cluster, names, ended, condition, acknowledge } = await disabledNode();
  await cluster.time.advance(60_000);
  acknowledge(['db-a']);
  await cluster.time.advance(20_000);
  expect([ended(), names()]).toEqual(['Drained', ['db-a']]);
  expect(textAt(condition(), 'message'))
    .toBe('All other pods are gone; stays, as was acknowledged: default/db-a');
  expect(cluster.notes.map(({ reason, note }) => `${reason}: ${note}`)).toContainEqual(
    expect.stringMatching(/^DrainFinished: Drained in \d+ s; stays, as was acknowledged: default/),
  );
});

test('RS-12: an acknowledgement comes first, and does not cover a pod that comes later', async () => {
  const { cluster, names, ended, store, acknowledge } = await disabledNode();
  acknowledge(['db-a']);
  store('db-b', 'data-b');
  await cluster.time.advance(60_000);
  expect([ended(), names().toSorted()]).toEqual([null, ['db-a', 'db-b']]);
  acknowledge(['db-a', 'db-b']);
  await cluster.time.advance(20_000);
  expect(ended()).toBe('Drained');
});

test('RS-11: the next process keeps the pod, too, and a deleted one is waited for', async () => {
  const { cluster, stop, names, ended, isTerminating } = await disabledNode();
  await cluster.time.advance(60_000);
  await stop();
  cluster.serve();
  await cluster.time.advance(60_000);
  expect([ended(), names(), isTerminating('db-a')]).toEqual([null, ['db-a'], false]);
  cluster.ask('DELETE', `${PODS}/db-a`);
  await cluster.time.advance(60_000);
  expect([ended(), names()]).toEqual(['Drained', []]);
});

const DISK_POD = {
  metadata: { name: 'db' },
  spec: {
    nodeName: 'node-1',
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'c', image: 'none' }],
    volumes: [{ name: 'disk', hostPath: { path: '/d' } }],
  },
};

/** A maintenance of a Node with a pod on its disk. */
const maintainedNode = async (localVolumes: LocalVolumes) => {
  const cluster = await maintainedCluster(2);
  cluster.ask('POST', PODS, DISK_POD);
  await cluster.time.advance(20_000);
  cluster.serve(localVolumes);
  cluster.maintain('kernel', { node: 'node-1', first: 'none' });
  await cluster.time.advance(60_000);
  const pods = () =>
    listOrEmptyAt(cluster.ask('GET', PODS), 'items').map((pod) => textAt(pod, 'metadata', 'name'));
  return { cluster, pods };
};

test('RS-11: a maintenance evicts a pod with local data by default', async () => {
  const { cluster, pods } = await maintainedNode('evict');
  expect([pods(), cluster.drained('kernel')]).toEqual([[], expect.stringMatching(/^True /)]);
});

test('RS-12: with --local-volumes=keep a maintenance is drained once its pods may stay', async () => {
  const { cluster, pods } = await maintainedNode('keep');
  expect([pods(), cluster.drained('kernel')]).toEqual([['db'], expect.stringMatching(/^False /)]);
  const node = projectDrainedNode(cluster.ask('GET', '/api/v1/nodes/node-1'));
  const [pod] = listOrEmptyAt(cluster.ask('GET', PODS), 'items');
  if (node === undefined) throw new Error('no Node');
  const text = printAcknowledgement({
    drains: drainsUnderway(node),
    pods: [textAt(pod, 'metadata', 'uid') ?? ''],
    why: '',
  });
  cluster.ask('PATCH', '/api/v1/nodes/node-1', {
    metadata: { annotations: { [ACKNOWLEDGED_KEY]: text } },
  });
  await cluster.time.advance(60_000);
  expect([pods(), cluster.drained('kernel')]).toEqual([['db'], expect.stringMatching(/^True /)]);
});
