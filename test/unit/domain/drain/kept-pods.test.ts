/** Pods that drains keep for their data, and what a person acknowledged. */
import { expect, test } from 'vitest';
import { acknowledgingStep } from '../../../../src/domain/drain/acknowledging-step.ts';
import {
  ACKNOWLEDGED_KEY,
  acknowledgedPods,
  isStateful,
  keptData,
  readAcknowledgement,
} from '../../../../src/domain/drain/kept-pods.ts';
import { textAt } from '../../../../src/domain/json.ts';
import {
  projectVolume,
  projectVolumeClaim,
  volumeLookup,
} from '../../../../src/domain/node-availability/local-volumes.ts';
import { printCordon } from '../../../../src/domain/drain/cordon.ts';
import { projectDrainedNode } from '../../../../src/domain/drain/drained-node.ts';
import { podOf, type PodTraits } from '../../../support/drains/drain-facts.ts';

const claim = (name: string, volumeName: string, accessModes = ['ReadWriteOnce']): object => ({
  metadata: { name, namespace: 'ns', uid: `uid-${name}`, resourceVersion: '1' },
  spec: { volumeName, accessModes },
});
const volume = (name: string, spec: object): object => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: '1' },
  spec,
});
const LOOKUP = volumeLookup(
  [
    claim('disk', 'pv-local'),
    claim('net', 'pv-net'),
    claim('shared', 'pv-net', ['ReadWriteMany']),
    claim('late', ''),
  ].flatMap((raw) => projectVolumeClaim(raw) ?? []),
  [volume('pv-local', { local: { path: '/d' } }), volume('pv-net', { nfs: {} })]
    .flatMap((raw) => projectVolume(raw) ?? []),
);
const claimed = (claimName: string) => ({ name: 'v', persistentVolumeClaim: { claimName } });
const dataOf = (traits: PodTraits) => keptData(podOf(traits), LOOKUP);

test.each<{ readonly what: string; readonly pod: PodTraits; readonly data: readonly string[] }>([
  { what: 'without volumes', pod: {}, data: [] },
  { what: 'of a StatefulSet', pod: { controller: { kind: 'StatefulSet', name: 'db' } }, data: [] },
  { what: 'with an emptyDir', pod: { volumes: [{ name: 'tmp', emptyDir: {} }] }, data: [] },
  { what: 'with a network volume', pod: { volumes: [claimed('net')] }, data: [] },
  {
    what: 'with a hostPath',
    pod: { volumes: [{ name: 'data', hostPath: { path: '/d' } }] },
    data: ['volume "data"'],
  },
  {
    what: 'with an emptyDir that must be kept',
    pod: {
      annotations: { 'tidegate.dev/keep-volumes': 'cache' },
      volumes: [{ name: 'cache', emptyDir: {} }, { name: 'tmp', emptyDir: {} }],
    },
    data: ['volume "cache"'],
  },
  { what: 'with a local volume', pod: { volumes: [claimed('disk')] }, data: ['claim "disk"'] },
  {
    what: 'with a claim that is not bound',
    pod: { volumes: [claimed('late')] },
    data: ['claim "late", whose volume is not known'],
  },
  {
    what: 'with a claim that is not known',
    pod: { volumes: [claimed('other')] },
    data: ['claim "other", whose volume is not known'],
  },
])('RS-11: a pod $what is kept for its data on the node only', ({ pod, data }) => {
  expect(dataOf(pod)).toEqual(data);
});

test('RS-31: pods of StatefulSets, without controller and with their own volume are stateful', () => {
  const classOf = (traits: PodTraits) => isStateful(podOf(traits), LOOKUP);
  expect(classOf({})).toBe(false);
  expect(classOf({ volumes: [claimed('shared')] })).toBe(false);
  expect(classOf({ volumes: [claimed('net')] })).toBe(true);
  expect(classOf({ volumes: [{ name: 'd', hostPath: {} }] })).toBe(true);
  expect(classOf({ controller: null })).toBe(true);
  expect(classOf({ controller: { kind: 'StatefulSet', name: 'db' } })).toBe(true);
});

const SINCE_MS = 60_000;
const cordon = (more: { readonly sinceMs?: number; readonly ended?: 'Drained' } = {}): string =>
  printCordon({
    ids: ['i'],
    deadlineMs: null,
    graceSeconds: 0,
    sinceMs: SINCE_MS,
    ended: null,
    ...more,
  });
const nodeWith = (annotations: Readonly<Record<string, string>>, unschedulable = true) => {
  const metadata = { name: 'n1', uid: 'u', resourceVersion: '7', annotations };
  const node = projectDrainedNode({ metadata, spec: { unschedulable } });
  if (node === undefined) throw new Error('No Node');
  return node;
};
const DISABLED = { 'cordon.tidegate.dev/disabled': cordon() };
const KEPT = podOf({ name: 'db-0', volumes: [claimed('disk')] });
const step = (annotations: Readonly<Record<string, string>>, pods = [KEPT, podOf()]) =>
  acknowledgingStep(nodeWith(annotations), pods, { lookup: LOOKUP, why: 'they stay' });

test('RS-12: an acknowledgement names the pods of now and the drains of now', () => {
  const made = step(DISABLED);
  if (made._tag !== 'Patch') throw new Error(made._tag);
  expect(made.pods).toEqual([
    { namespace: 'ns', name: 'db-0', uid: 'uid-db-0', data: ['claim "disk"'] },
  ]);
  expect(textAt(made.body, 'metadata', 'resourceVersion')).toBe('7');
  const text = textAt(made.body, 'metadata', 'annotations', ACKNOWLEDGED_KEY) ?? '';
  const written = { ...DISABLED, [ACKNOWLEDGED_KEY]: text };
  expect([...acknowledgedPods(nodeWith(written), 'disabled')]).toEqual(['uid-db-0']);
  expect(readAcknowledgement(text)?.why).toBe('they stay');
  expect(step(written)._tag).toBe('Unchanged');
  const newPod = podOf({ name: 'db-1', volumes: [claimed('disk')] });
  expect(step(written, [KEPT, newPod])._tag).toBe('Patch');
  const otherDrain = { ...written, 'cordon.tidegate.dev/disabled': cordon({ sinceMs: 90_000 }) };
  expect([...acknowledgedPods(nodeWith(otherDrain), 'disabled')]).toEqual([]);
  const further = { ...written, 'cordon.tidegate.dev/reclaim': cordon() };
  expect([...acknowledgedPods(nodeWith(further), 'reclaim')]).toEqual([]);
  expect(step(further)._tag).toBe('Patch');
});

/** The first drain began again, and asked for the same acknowledgement once more. */
test('RS-12: an acknowledgement for another drain leaves the one before valid', () => {
  const [first, second] = ['maintenance-a', 'maintenance-b'] as const;
  const acknowledge = (annotations: Readonly<Record<string, string>>) => {
    const made = step(annotations);
    if (made._tag !== 'Patch') throw new Error(made._tag);
    const text = textAt(made.body, 'metadata', 'annotations', ACKNOWLEDGED_KEY) ?? '';
    return { ...annotations, [ACKNOWLEDGED_KEY]: text };
  };
  const before = acknowledge({ [`cordon.tidegate.dev/${first}`]: cordon() });
  const both = {
    ...before,
    [`cordon.tidegate.dev/${first}`]: cordon({ ended: 'Drained' }),
    [`cordon.tidegate.dev/${second}`]: cordon(),
  };
  const node = nodeWith(acknowledge(both));
  for (const owner of [first, second]) {
    expect([...acknowledgedPods(node, owner)], owner).toEqual(['uid-db-0']);
  }
  const again = {
    ...both,
    [`cordon.tidegate.dev/${first}`]: cordon({ sinceMs: 0, ended: 'Drained' }),
  };
  expect([...acknowledgedPods(nodeWith(acknowledge(again)), first)], 'not a drain since').toEqual(
    [],
  );
});

test('RS-12: a node that does not drain, or whose drain keeps no pod, has none to acknowledge', () => {
  expect(step({})._tag).toBe('NotDraining');
  expect(step({ 'cordon.tidegate.dev/disabled': cordon({ ended: 'Drained' }) })._tag)
    .toBe('NotDraining');
  const open = acknowledgingStep(nodeWith(DISABLED, false), [KEPT], { lookup: LOOKUP, why: '' });
  expect(open._tag).toBe('NotDraining');
  expect(step(DISABLED, [podOf()])._tag).toBe('NothingKept');
});

test.each(['', 'x', '{"v":2,"pods":["a"]}', '[]', `{"v":1,"pods":"${'x'.repeat(40_000)}"}`])(
  'RS-12: the annotation %.20s acknowledges nothing',
  (text) => {
    const node = nodeWith({ ...DISABLED, [ACKNOWLEDGED_KEY]: text });
    expect([...acknowledgedPods(node, 'disabled')]).toEqual([]);
  },
);
