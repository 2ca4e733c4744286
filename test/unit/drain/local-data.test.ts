/** Which drains keep pods with data on their Node, and when the answer for a Node may change. */
import { expect, onTestFinished, test } from 'vitest';
import { LocalData } from '../../../src/actors/node-drains/local-data.ts';
import { printCordon } from '../../../src/domain/drain/cordon.ts';
import { projectDrainedNode } from '../../../src/domain/drain/drained-node.ts';
import {
  ACKNOWLEDGED_KEY,
  type LocalVolumes,
  printAcknowledgement,
} from '../../../src/domain/drain/kept-pods.ts';
import {
  projectVolume,
  projectVolumeClaim,
} from '../../../src/domain/node-availability/local-volumes.ts';
import { rfc3339 } from '../../../src/domain/time.ts';
import { fakeObjects } from '../../support/api/fake-objects.ts';
import { podOf } from '../../support/drains/drain-facts.ts';

const SINCE_MS = Date.UTC(2026, 0, 1);
const ON_DISK = podOf({
  name: 'db',
  node: 'n1',
  volumes: [{ name: 'disk', hostPath: { path: '/d' } }],
});
const CLAIMING = podOf({
  name: 'queue',
  node: 'n1',
  volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
});

const rig = (localVolumes: LocalVolumes = 'evict') => {
  const nodes = fakeObjects('/nodes', projectDrainedNode);
  const claims = fakeObjects('/claims', projectVolumeClaim);
  const volumes = fakeObjects('/volumes', projectVolume);
  for (const objects of [nodes, claims, volumes]) objects.list();
  const data = new LocalData({
    localVolumes,
    nodes: nodes.reflector,
    claims: claims.reflector,
    volumes: volumes.reflector,
  });
  const changes: string[] = [];
  const following = data.changes.subscribe((node) => void changes.push(node));
  onTestFinished(() => {
    following.unsubscribe();
    return data.stop();
  });
  return {
    data,
    changes,
    nodes,
    volumes,
    claim: () => claims.put('data', { metadata: { name: 'data', namespace: 'ns', uid: 'uid-c' } }),
    acknowledge: (text: string | undefined) =>
      nodes.put('n1', {
        metadata: {
          name: 'n1',
          uid: 'uid-n1',
          annotations: {
            'cordon.tidegate.dev/disabled': printCordon({
              ids: ['n1'],
              deadlineMs: null,
              graceSeconds: 0,
              sinceMs: SINCE_MS,
              ended: null,
            }),
            ...(text === undefined ? {} : { [ACKNOWLEDGED_KEY]: text }),
          },
        },
      }),
  };
};

const ACKNOWLEDGED = printAcknowledgement({
  drains: { disabled: rfc3339(SINCE_MS) },
  pods: ['uid-db'],
  why: '',
});

test.each(
  [
    ['evict', 'reclaim', false],
    ['evict', 'disabled', true],
    ['keep', 'reclaim', true],
    ['keep', 'disabled', true],
  ] as const,
)(
  'RS-11: --local-volumes=%s, a drain of %s keeps pods for their data: %s',
  (mode, owner, keeps) => {
    const kept = rig(mode).data.of('n1', owner);
    expect(kept !== undefined).toBe(keeps);
    if (kept !== undefined) expect(kept.dataOf(ON_DISK)).toEqual(['volume "disk"']);
  },
);

test('RS-12: an acknowledgement is read when asked, and each of its changes is reported once', () => {
  const { data, changes, nodes, acknowledge } = rig();
  const kept = data.of('n1', 'disabled');
  const pods = () => [...kept?.acknowledged() ?? []];
  acknowledge(undefined);
  expect([pods(), changes]).toEqual([[], []]);
  acknowledge(ACKNOWLEDGED);
  acknowledge(ACKNOWLEDGED);
  expect([pods(), changes]).toEqual([['uid-db'], ['n1']]);
  nodes.list();
  expect(changes).toHaveLength(1);
  acknowledge(undefined);
  expect([pods(), changes.length]).toEqual([[], 2]);
  acknowledge(ACKNOWLEDGED);
  nodes.remove('n1');
  acknowledge(ACKNOWLEDGED);
  expect(changes).toHaveLength(4);
});

test('RS-11: a Node is looked at again when a claim is seen that was not known', () => {
  const { data, changes, claim, volumes } = rig();
  const kept = data.of('n1', 'disabled');
  claim();
  volumes.put('other', {});
  expect(changes).toEqual([]);
  kept?.dataOf(ON_DISK);
  volumes.put('other', {});
  expect(changes).toEqual([]);
  const { data: early, changes: earlyChanges, claim: claimed } = rig();
  expect(early.of('n1', 'disabled')?.dataOf(CLAIMING))
    .toEqual(['claim "data", whose volume is not known']);
  claimed();
  claimed();
  expect(earlyChanges).toEqual(['n1']);
});

test('RS-11: nothing is reported after the stop', async () => {
  const { data, changes, acknowledge, claim } = rig();
  data.of('n1', 'disabled')?.dataOf(CLAIMING);
  await data.stop();
  acknowledge(ACKNOWLEDGED);
  claim();
  expect(changes).toEqual([]);
});
