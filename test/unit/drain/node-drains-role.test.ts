/** The role node-drains as a whole: what it waits for, resumes, shows, and leaves to others. */
import { expect, test } from 'vitest';
import { CORDON_PREFIX, printCordon } from '../../../src/domain/drain/cordon.ts';
import { MACHINE_ID_KEY } from '../../../src/domain/ids.ts';
import { servedDrains } from '../../support/drains/served-drains.ts';

/** A Node that another process has cordoned for this owner. */
const cordoned = (sinceMs: number, owner = 'reclaim', labels: Record<string, string> = {}) => ({
  metadata: {
    labels,
    annotations: {
      [`${CORDON_PREFIX}${owner}`]: printCordon({
        ids: [`${owner}-1`],
        deadlineMs: sinceMs + 600_000,
        graceSeconds: 600,
        sinceMs,
        ended: null,
      }),
    },
  },
  spec: { unschedulable: true },
});

test('DR-10: the role drains the Node of a reclaim once its lists are complete', async () => {
  const { role, time, order, addPod, pods, keyOf, replies, reported, notes } = await servedDrains(
    2,
  );
  expect(role.ready()).toContain('initial list incomplete: ');
  addPod('node-1', 'a');
  addPod('node-2', 'b');
  await time.advance(1000);
  expect(role.ready()).toBeUndefined();
  expect(role.informers.map(({ id }) => id).toSorted())
    .toEqual(['nodes', 'poddisruptionbudgets', 'pods', 'upcomingnodes']);
  order('early', ['node-2']);
  await time.advance(5000);
  expect(keyOf('node-2', 'reclaim')).toBe('none');
  role.onLeading();
  await time.advance(100);
  order('i1', ['node-1']);
  await time.advance(30_000);
  expect(replies).toEqual([
    { _tag: 'ReclaimAcknowledged', instructionId: 'i1', nodesStarted: 1 },
  ]);
  expect([pods(), keyOf('node-1', 'reclaim'), keyOf('node-2', 'reclaim')])
    .toEqual([['b'], 'Drained', 'none']);
  expect(reported).toEqual(['node-1 Draining', 'node-1 Drained']);
  expect(notes.map(({ reason }) => reason)).toEqual(['DrainStarted', 'DrainFinished']);
});

test('DR-18: without a label that the selector asks for, a Node is not drained', async () => {
  const { role, time, order, keyOf, replies, changeNode } = await servedDrains(2, {
    policy: { isReclaimable: (labels) => labels['pool'] === 'spot' },
  });
  changeNode('node-2', { metadata: { labels: { pool: 'spot' } } });
  await time.advance(1000);
  role.onLeading();
  order('i1', ['node-1', 'node-2']);
  await time.advance(30_000);
  expect([keyOf('node-1', 'reclaim'), keyOf('node-2', 'reclaim')]).toEqual(['none', 'Drained']);
  expect(replies).toMatchObject([{ nodesStarted: 1 }]);
});

test('DR-13: a resumed drain shows on the machine of its Node, however that is known', async () => {
  const rig = await servedDrains(8, { matched: { 'node-1': 'm-matched' } });
  const label = (machine: string) => ({ [MACHINE_ID_KEY]: machine });
  const sinceMs = rig.time.now();
  const labels: Readonly<Record<string, Record<string, string>>> = {
    'node-1': label('m-1'),
    'node-2': label('m-2'),
    'node-5': label('m-5'),
    'node-6': label('m-2'),
    'node-7': label('m-7'),
  };
  for (let number = 1; number <= 8; number += 1) {
    const name = `node-${number}`;
    rig.changeNode(name, cordoned(sinceMs, 'reclaim', labels[name]));
  }
  rig.addUpcomingNode('m-1', 'node-1');
  // By its label, before another one that refers to the same Node.
  rig.addUpcomingNode('a-2', 'node-2');
  rig.addUpcomingNode('m-2', 'node-2');
  // By its name, and by the reference alone.
  rig.addUpcomingNode('node-3', 'node-3');
  rig.addUpcomingNode('m-4', 'node-4');
  rig.addUpcomingNode('n-4', 'node-4');
  // By a label whose machine is at no Node; not by one whose machine is at another.
  rig.addUpcomingNode('m-5', '');
  // An object without a machine names none.
  rig.addUpcomingNode('m-7', 'node-7', '');
  rig.addUpcomingNode('z-7', 'node-7');
  await rig.time.advance(1000);
  rig.role.onLeading();
  await rig.time.advance(60_000);
  expect(rig.reported.filter((line) => line.endsWith(' Drained')).toSorted()).toEqual([
    'm-2 Drained',
    'm-4 Drained',
    'm-5 Drained',
    'm-matched Drained',
    'node-3 Drained',
    'node-6 Drained',
    'node-8 Drained',
    'z-7 Drained',
  ]);
});

test('DR-13: an UpcomingNode that comes to refer to the Node counts from then on', async () => {
  const { role, time, reported, changeNode, addUpcomingNode } = await servedDrains(2);
  changeNode('node-1', cordoned(time.now()));
  await time.advance(1000);
  role.onLeading();
  await time.advance(20_000);
  expect(reported).toContain('node-1 Drained');
  addUpcomingNode('m-2', 'node-2');
  await time.advance(1000);
  changeNode('node-2', cordoned(time.now()));
  await time.advance(20_000);
  expect(reported.slice(2)).toEqual(['m-2 Draining', 'm-2 Drained']);
});

/** A drain whose pod may not leave. */
const heldUp = async () => {
  const rig = await servedDrains(2);
  rig.addPod('node-1', 'a');
  rig.addBudget('a');
  await rig.time.advance(15_000);
  rig.role.onLeading();
  rig.order('i1', ['node-1']);
  await rig.time.advance(5000);
  expect(rig.keyOf('node-1', 'reclaim')).toBe('open');
  expect(rig.writes.length).toBeGreaterThan(0);
  return rig;
};

test('DR-15: a role that lost the lease writes nothing until it leads again', async () => {
  const { role, time, order, pods, keyOf, writes, replies, reported, removeBudget } =
    await heldUp();
  role.onLeadershipLost();
  const { length } = writes;
  order('i2', ['node-2']);
  order('i3', ['node-3']);
  removeBudget('a');
  await time.advance(60_000);
  expect([pods(), keyOf('node-1', 'reclaim'), writes.length]).toEqual([['a'], 'open', length]);
  expect(replies).toMatchObject([{ instructionId: 'i1' }]);
  role.onLeading();
  await time.advance(20_000);
  expect([pods(), keyOf('node-1', 'reclaim'), keyOf('node-2', 'reclaim')])
    .toEqual([[], 'Drained', 'none']);
  expect(reported.at(-1)).toBe('node-1 Drained');
});

test.each(['close', 'stop'] as const)('a role writes nothing after %s', async (end) => {
  const { role, time, order, pods, keyOf, writes, removeBudget, changeNode } = await heldUp();
  const ended = role[end]?.();
  await time.advance(1000);
  await ended;
  const { length } = writes;
  order('i2', ['node-2']);
  changeNode('node-2', cordoned(time.now()));
  removeBudget('a');
  await time.advance(60_000);
  expect([pods(), keyOf('node-1', 'reclaim'), writes.length]).toEqual([['a'], 'open', length]);
});

test.each([[true, 'Drained', []], [undefined, 'open', ['a']], [false, 'open', ['a']]] as const)(
  'RS-10: the drain of a disabled Node is made here with drainsDisabled=%s: %s',
  async (drainsDisabled, end, left) => {
    const { role, time, addPod, pods, keyOf, changeNode } = await servedDrains(1, {
      policy: drainsDisabled === undefined ? {} : { drainsDisabled },
    });
    addPod('node-1', 'a');
    changeNode('node-1', cordoned(time.now(), 'disabled'));
    await time.advance(1000);
    expect(role.informers.some(({ id }) => id === 'persistentvolumes')).toBe(end === 'Drained');
    role.onLeading();
    await time.advance(30_000);
    expect([keyOf('node-1', 'disabled'), pods()]).toEqual([end, left]);
  },
);

test.each(
  [[{}, false], [{ localVolumes: 'evict' }, false], [{ localVolumes: 'keep' }, true]] as const,
)(
  'RS-11: with %j the pods with local data stay: %s',
  async (policy, stays) => {
    const { role, time, order, addPod, pods } = await servedDrains(1, { policy });
    addPod('node-1', 'db', { volumes: [{ name: 'disk', hostPath: { path: '/d' } }] });
    await time.advance(1000);
    expect(role.informers.some(({ id }) => id === 'persistentvolumeclaims')).toBe(stays);
    expect(role.ready()).toBeUndefined();
    role.onLeading();
    order('i1', ['node-1']);
    await time.advance(60_000);
    expect(pods()).toEqual(stays ? ['db'] : []);
  },
);

test('RS-11: a pod whose volume is not known stays until the volume turns out to be elsewhere', async () => {
  const { role, time, order, create, addPod, pods } = await servedDrains(1, {
    policy: { localVolumes: 'keep' },
  });
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  addPod('node-1', 'db', { volumes });
  await time.advance(1000);
  role.onLeading();
  order('i1', ['node-1']);
  await time.advance(30_000);
  expect(pods()).toEqual(['db']);
  const terms = { accessModes: ['ReadWriteOnce'] };
  create('/api/v1/persistentvolumes', {
    metadata: { name: 'pv' },
    spec: { ...terms, capacity: { storage: '1Gi' }, csi: { driver: 'csi', volumeHandle: 'h' } },
  });
  create('/api/v1/namespaces/default/persistentvolumeclaims', {
    metadata: { name: 'data' },
    spec: { ...terms, volumeName: 'pv', resources: { requests: { storage: '1Gi' } } },
  });
  await time.advance(30_000);
  expect(pods()).toEqual([]);
});

test('DR-24: the Event of the end names the volumes that are attached to the Node', async () => {
  const { role, time, order, create, notes } = await servedDrains(2);
  const attach = (name: string, nodeName: string) =>
    create('/apis/storage.k8s.io/v1/volumeattachments', {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttachment',
      metadata: { name },
      spec: { attacher: 'csi', nodeName, source: { persistentVolumeName: `pv-${name}` } },
    });
  attach('a', 'node-1');
  attach('b', 'node-2');
  await time.advance(1000);
  role.onLeading();
  order('i1', ['node-1']);
  await time.advance(30_000);
  expect(notes.at(-1)?.note).toMatch(/^Drained in \d+ s; still attached: pv-a$/u);
});

test('ER-74: with --via=eviction-requests the drain asks by request, until the lease is lost', async () => {
  const { role, time, order, addPod, pods, list, writes } = await servedDrains(1, {
    policy: { via: 'eviction-requests' },
  });
  addPod('node-1', 'a');
  expect(await role.start()).toEqual({ _tag: 'Started' });
  await time.advance(1000);
  expect(role.informers.map(({ id }) => id)).toContain('evictionrequests');
  role.onLeading();
  order('i1', ['node-1']);
  await time.advance(5000);
  const { length } = writes;
  role.onLeadershipLost();
  await time.advance(5000);
  expect(list('/apis/lifecycle.tidegate.dev/v1alpha1/namespaces/default/evictionrequests'))
    .toMatchObject([{ spec: { requesters: [{ name: 'reclaim.tidegate.dev' }] } }]);
  expect([pods(), writes.length]).toEqual([['a'], length]);
});
