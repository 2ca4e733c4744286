/** The index of machines: what frames, drains, objects and Nodes leave in it. */
import { expect, test } from 'vitest';
import { machineIndex } from '../../../src/actors/upcoming-nodes/machine-index.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { projectNode } from '../../../src/domain/cluster-node.ts';
import { printCordon } from '../../../src/domain/drain/cordon.ts';
import type { MachineObservation, MachineState } from '../../../src/domain/frames.ts';
import { machineId } from '../../../src/domain/ids.ts';
import {
  projectUpcomingNode,
  type UpcomingNodeProjection,
} from '../../../src/domain/upcoming-node.ts';

const RECLAIM = 'cordon.tidegate.dev/reclaim';

/** The Node of a machine; `ended` is the end of its drain. */
const node = (name: string, id: string, { uid = `uid-${name}`, ended = false } = {}) => {
  const key = { ids: ['i'], deadlineMs: 1, graceSeconds: 1, sinceMs: 0, ended: 'Drained' } as const;
  const projected = projectNode({
    metadata: {
      name,
      uid,
      resourceVersion: '1',
      annotations: ended ? { [RECLAIM]: printCordon(key) } : {},
    },
    spec: { providerID: `host-${id}` },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
  if (projected === undefined) throw new Error('not a Node');
  return projected;
};

/** An object of machine `m1`, with the UID of the Node that it refers to. */
const objectOf = (nodeUid: string, phase = 'Ready'): UpcomingNodeProjection => {
  const projected = projectUpcomingNode({
    metadata: { name: 'un-m1', uid: 'u', resourceVersion: '1' },
    spec: {},
    status: {
      phase,
      providerID: 'host-m1',
      nodeRef: { kind: 'Node', name: 'n1', uid: nodeUid },
    },
  });
  if (projected === undefined) throw new Error('not an UpcomingNode');
  return projected;
};

/** What differs from a plain frame about `m1` on the first stream. */
interface FrameTraits extends Partial<MachineObservation> {
  readonly stream?: number;
  readonly id?: string;
}

const started = (object?: UpcomingNodeProjection) => {
  let counted = 0;
  const index = machineIndex({
    object: (key) => object?.key === key ? object : undefined,
    telemetry: {
      ...silentTelemetry,
      count: (name, by, ..._labels) => {
        if (name === 'tidegate_stale_machines_total') counted += by;
      },
    },
    intern: (text) => text,
  });
  const frame = (state: MachineState, { stream = 1, id = 'm1', ...more }: FrameTraits = {}) =>
    index.putFrame(
      {
        machineId: machineId(id),
        state,
        nodeName: '',
        providerId: `host-${id}`,
        lastError: '',
        labels: {},
        resources: {},
        taints: [],
        ...more,
      },
      stream,
      0,
    );
  return { index, frame, stale: () => counted };
};

test('wire resync: a machine that no replay has is not configured any more, and counted once', () => {
  const { index, frame, stale } = started();
  frame('Configured');
  frame('Configured', { stream: 2, id: 'm2' });
  expect(index.get('m1')).toMatchObject({ wasConfigured: true });
  expect(index.unbind(2).map(({ machineId: id }) => id)).toEqual(['m1']);
  expect(index.get('m1')).toMatchObject({ wasConfigured: false, reported: { phase: 'Gone' } });
  expect(index.get('m2')).toMatchObject({ wasConfigured: true });
  expect([index.unbind(2), stale()]).toEqual([[], 1]);
});

test('wire resync: a mention keeps a machine bound, and makes none', () => {
  const { index, frame } = started();
  frame('Configured');
  index.mention('m1', 2);
  index.mention('unknown', 2);
  expect([index.unbind(2), index.size()]).toEqual([[], 1]);
});

test('upcomingNodes: a machine was configured from CONFIGURED on, until it leaves', () => {
  const { index, frame } = started();
  const known = [];
  for (
    const state of ['Configuring', 'Configured', 'Draining', 'Idle', 'Configuring'] as const
  ) {
    frame(state);
    known.push(index.get('m1')?.wasConfigured);
  }
  expect(known).toEqual([false, true, true, false, false]);
});

test('DR-04: CONFIGURED after the end of a drain counts until the next drain begins', () => {
  const { index, frame } = started();
  const servesAgain = () => index.get('m1')?.reported?.servesAgain;
  index.putNode(node('n1', 'm1'));
  index.putDrain('m1', { _tag: 'Draining' });
  frame('Configured');
  expect(servesAgain()).toBe(false);
  index.putNode(node('n1', 'm1', { ended: true }));
  frame('Configured');
  expect(servesAgain()).toBe(true);
  // The watch may show the key before the drain reports it.
  index.putDrain('m1', { _tag: 'Drained' });
  expect(servesAgain()).toBe(true);
  index.putDrain('m1', { _tag: 'Draining' });
  expect(servesAgain()).toBe(false);
});

test('DR-40: a new lifecycle ends what its drain holds, and what that drain reports is ignored', () => {
  const { index, frame } = started();
  index.putDrain('m1', { _tag: 'Draining' });
  for (const state of ['Draining', 'Idle'] as const) frame(state);
  expect(index.get('m1')?.drain).toEqual({ _tag: 'Draining' });
  frame('Configuring');
  expect(index.get('m1')?.drain).toBeUndefined();
  expect(index.putDrain('m1', { _tag: 'Drained' })).toBe(index.get('m1'));
  expect(index.get('m1')?.drain, 'of the drain before').toBeUndefined();
  index.putDrain('m1', { _tag: 'Drained' });
  expect(index.get('m1')?.drain).toEqual({ _tag: 'Drained' });
  for (const state of ['Draining', 'Idle', 'Configuring'] as const) frame(state);
  index.putDrain('m1', { _tag: 'Drained' });
  expect(index.get('m1')?.drain, 'that drain had ended before').toEqual({ _tag: 'Drained' });
});

test('DR-40: a new lifecycle without a drain is like any other', () => {
  const { index, frame } = started();
  for (const state of ['Draining', 'Idle', 'Configuring'] as const) frame(state);
  expect(index.get('m1')).toMatchObject({ drain: undefined, outlivedDrain: false });
});

test('DR-40: only a drain that begins makes a machine known', () => {
  const { index } = started();
  for (const _tag of ['Drained', 'Cancelled'] as const) {
    expect(index.putDrain('m1', { _tag })).toBeUndefined();
  }
  expect(index.size()).toBe(0);
  index.putDrain('m1', { _tag: 'Draining' });
  expect(index.putDrain('m1', { _tag: 'Cancelled' })?.drain).toBeUndefined();
  expect(index.size()).toBe(1);
});

test('DR-40: the end of a drain is held until the object shows it and the Node has it', () => {
  const drainOf = (phase: string, { named = true, ended = false } = {}) => {
    const { index, frame } = started(objectOf('uid-n1', phase));
    if (named) index.putNode(node('n1', 'm1', { ended }));
    frame('Draining');
    index.putDrain('m1', { _tag: 'Drained' });
    const entry = index.get('m1');
    if (entry !== undefined) index.settleDrain(entry);
    return entry?.drain?._tag;
  };
  expect(drainOf('Draining', { ended: true }), 'not written').toBe('Drained');
  expect(drainOf('Drained'), 'the Node lacks it').toBe('Drained');
  expect(drainOf('Drained', { ended: true })).toBeUndefined();
  expect(drainOf('Drained', { named: false }), 'the Node is gone').toBeUndefined();
});

test('DR-40: an active drain is held although the object shows it', () => {
  const { index } = started(objectOf('uid-n1', 'Draining'));
  const entry = index.putDrain('m1', { _tag: 'Draining' });
  if (entry !== undefined) index.settleDrain(entry);
  expect(entry?.drain).toEqual({ _tag: 'Draining' });
});

test.each(
  [
    ['uid-n1', 'uid-n1'],
    ['another', ''],
  ] as const,
)(
  'upcomingNodes: a Ready Node is on record when the object has its UID: %s',
  (nodeUid, recorded) => {
    const object = objectOf(nodeUid);
    const nodeFirst = started(object).index;
    nodeFirst.putNode(node('n1', 'm1'));
    expect(nodeFirst.ownerOf(object)?.readyRecorded).toBe(recorded);
    const objectFirst = started(object).index;
    expect(objectFirst.ownerOf(object)?.readyRecorded).toBe('');
    objectFirst.putNode(node('n1', 'm1'));
    expect(objectFirst.get('m1')?.readyRecorded).toBe(recorded);
  },
);

test.each(
  [
    { state: 'Draining' },
    { providerId: 'another' },
    { state: 'Failed', lastError: 'planted' },
    { nodeName: 'n1' },
    { labels: { zone: 'a' } },
    { resources: { cpu: '2' } },
  ] as const,
)('upcomingNodes: a frame that changes nothing is not applied, one with %o is', (change) => {
  const { index, frame } = started();
  expect(frame('Configured')).toBe(index.get('m1'));
  expect(frame('Configured')).toBeUndefined();
  expect(frame('Configured', change)).toBe(index.get('m1'));
  expect(frame('Configured', change)).toBeUndefined();
});

test('upcomingNodes: only a change of a Node that matters concerns its machine', () => {
  const { index, frame } = started();
  frame('Configured');
  const concerned = (put: Parameters<typeof index.putNode>[0]) => index.putNode(put).length;
  const first = node('n1', 'm1');
  expect(concerned(first)).toBe(1);
  expect(concerned(node('n1', 'm1'))).toBe(0);
  expect(concerned({ ...first, ready: false })).toBe(1);
  expect(concerned({ ...first, ready: false, unschedulable: true })).toBe(1);
  expect(concerned({ ...first, ready: false })).toBe(1);
  expect(concerned(first)).toBe(1);
  expect(concerned(node('n1', 'm1', { uid: 'another' }))).toBe(1);
  expect(concerned(node('n1', 'm1', { uid: 'another', ended: true }))).toBe(1);
  expect(index.removeNode('n1').map(({ machineId: id }) => id)).toEqual(['m1']);
});

// Neither its Node nor a frame changed, so that the object had no nodeRef for good.
test('UPN-03: a label that kubelets may not write concerns its machine', () => {
  const { index, frame } = started();
  frame('Configured', { providerId: '' });
  const labelled = (name: string) => ({ ...node(name, 'other'), machineLabel: 'm1' });
  for (const name of ['n1', 'n2']) index.putNode(labelled(name));
  const entry = index.get('m1');
  expect(entry && index.node(entry), 'two Nodes have its label').toBeNull();
  const concerned = index.putNode({ ...labelled('n1'), isLabelRestricted: true });
  expect(concerned.map((one) => index.node(one)?.name)).toEqual(['n1']);
});

test('upcomingNodes: a machine is forgotten when it ended and has neither object nor drain', () => {
  const ended = started();
  const entry = ended.frame('Configured');
  if (entry === undefined) throw new Error('not applied');
  expect(ended.index.forget(entry), 'it is bound').toBe(false);
  ended.frame('Draining');
  ended.frame('Idle');
  ended.index.putDrain('m1', { _tag: 'Draining' });
  expect(ended.index.forget(entry), 'its drain is active').toBe(false);
  ended.index.putDrain('m1', { _tag: 'Drained' });
  expect([ended.index.forget(entry), ended.index.size()]).toEqual([true, 0]);
  const current = started(objectOf('uid-n1', 'Drained'));
  current.frame('Draining');
  const last = current.frame('Idle');
  expect(last && current.index.forget(last), 'its object exists').toBe(false);
});

test('upcomingNodes: a machine is found by its Node, and a Node by its machine or its name', () => {
  const { index, frame } = started();
  frame('Configured');
  index.putNode(node('n1', 'm1'));
  expect([index.machineOf('n1'), index.machineOf('n2')]).toEqual(['m1', undefined]);
  expect(index.nodeOf('m1')?.node?.name).toBe('n1');
  expect(index.nodeOf('unknown', 'n1')?.node?.name).toBe('n1');
  expect(index.nodeOf('unknown')?.node).toBeUndefined();
});
