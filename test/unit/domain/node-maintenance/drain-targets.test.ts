/** The drain targets of nodes with one maintenance or several, in the examples of KEP-4212. */
import { describe, expect, test } from 'vitest';
import {
  type DrainScene,
  drainScene,
  entryOf,
  podOfType,
  runOf,
} from '../../../support/node-maintenance/plan-runs.ts';
import { isTargetedBy } from '../../../../src/domain/node-maintenance/node-status.ts';
import type { NeighbourRule } from '../../../../src/domain/node-maintenance/drain-progress.ts';

/** Pods of the priorities 4000 to 20000 on each node. */
const withPods = (scene: DrainScene, ...nodes: readonly string[]): void =>
  nodes.forEach((node) =>
    scene.start(
      node,
      ...[2000, 4000, 9000, 14_000, 20_000].map((priority) =>
        podOfType('Default', { node, priority })
      ),
    )
  );

const A = 'maintenance-a';
const B = 'maintenance-b';
const C = 'maintenance-c';

/** A has the nodes one and two, B one and three. */
const twoMaintenances = (rule?: NeighbourRule): DrainScene => {
  const scene = drainScene(rule);
  withPods(scene, 'one', 'two', 'three', 'four');
  scene.add(runOf(A, ['one', 'two'], [entryOf(5000), entryOf(15_000), entryOf(3000, 'DaemonSet')]));
  scene.add(
    runOf(B, ['one', 'three'], [entryOf(10_000), entryOf(15_000), entryOf(4000, 'DaemonSet')]),
  );
  return scene;
};

describe('drainTargets of the maintenances A and B on a shared node', () => {
  test('NM-33: a node that is not shared may be further', () => {
    const { targetsOf } = twoMaintenances();
    expect(targetsOf('three')).toEqual([entryOf(10_000)]);
    expect(targetsOf('one')).toEqual([entryOf(5000)]);
  });

  test('NM-32: the shared node has the lower target in both maintenances', () => {
    expect(twoMaintenances().table()).toEqual({
      'maintenance-a/one': '5000 Evacuating',
      'maintenance-a/two': '5000 Evacuating',
      'maintenance-b/one': '5000 Evacuating (limited by maintenance-a)',
      'maintenance-b/three': '10000 Evacuating',
    });
  });

  test('NM-31: a maintenance waits for all of its nodes', () => {
    const scene = twoMaintenances();
    scene.drain('three');
    expect(scene.table()).toEqual({
      'maintenance-a/one': '5000 Evacuating',
      'maintenance-a/two': '5000 Evacuating',
      'maintenance-b/one': '5000 Evacuating (limited by maintenance-a)',
      'maintenance-b/three': '10000 Waiting for node one.',
    });
    scene.drain('one');
    expect(scene.table()).toEqual({
      'maintenance-a/one': '5000 Waiting for node two.',
      'maintenance-a/two': '5000 Evacuating',
      'maintenance-b/one': '5000 Waiting for node two (maintenance-a).',
      'maintenance-b/three': '10000 Waiting for node two (maintenance-a).',
    });
    scene.drain('two');
    expect(scene.table()).toEqual({
      'maintenance-a/one': '10000 Evacuating (limited by maintenance-b)',
      'maintenance-a/two': '15000 Evacuating',
      'maintenance-b/one': '10000 Evacuating',
      'maintenance-b/three': '10000 Waiting for node one.',
    });
  });

  test('NM-34: a younger maintenance is fast-forwarded on the shared node only', () => {
    const scene = twoMaintenances();
    ['three', 'one', 'two'].forEach(scene.drain);
    scene.add(runOf(C, ['one', 'four'], [entryOf(2000), entryOf(15_000)]));
    expect(scene.table()).toEqual({
      'maintenance-a/one': '10000 Evacuating (limited by maintenance-b, maintenance-c)',
      'maintenance-a/two': '15000 Evacuating',
      'maintenance-b/one': '10000 Evacuating',
      'maintenance-b/three': '10000 Waiting for node one.',
      'maintenance-c/one': '10000 Evacuating (fast-forwarded by older maintenance-b)',
      'maintenance-c/four': '2000 Evacuating',
    });
  });

  test('NM-35: an entry waits for the nodes of a neighbour, too', () => {
    const strict = twoMaintenances();
    ['one', 'two'].forEach(strict.drain);
    expect(strict.table()).toMatchObject({
      'maintenance-a/one': '5000 Waiting for node three (maintenance-b).',
      'maintenance-a/two': '5000 Waiting for node three (maintenance-b).',
      'maintenance-b/one': '5000 Waiting for node three.',
    });
    const minimal = twoMaintenances('minimal');
    ['one', 'two'].forEach(minimal.drain);
    expect(minimal.table()).toMatchObject({
      'maintenance-a/one': '10000 Evacuating (limited by maintenance-b)',
      'maintenance-a/two': '15000 Evacuating',
    });
  });

  test('NM-34: the targets stay when the maintenance that was further ends', () => {
    const scene = twoMaintenances();
    ['three', 'one', 'two'].forEach(scene.drain);
    scene.add(runOf(C, ['one', 'four'], [entryOf(2000), entryOf(15_000)]));
    scene.end(A);
    scene.end(B);
    expect(scene.table()).toEqual({
      'maintenance-c/one': '10000 Evacuating (fast-forwarded)',
      'maintenance-c/four': '2000 Evacuating',
    });
  });

  test('a maintenance whose plan is over limits no other', () => {
    const scene = drainScene();
    scene.start('one', podOfType('DaemonSet', { node: 'one' }));
    const onlyDefault = runOf(A, ['one'], []).plan.filter(({ podType }) => podType === 'Default');
    scene.add({ ...runOf(A, ['one'], []), plan: onlyDefault });
    scene.add(runOf(B, ['one'], []));
    expect(scene.table()).toEqual({
      'maintenance-a/one': 'max; DaemonSet 1000000000 Evacuating',
      'maintenance-b/one': 'max; DaemonSet 1000000000 Evacuating',
    });
    scene.drain('one');
    expect(scene.table()).toEqual({
      'maintenance-a/one': 'max; DaemonSet max; Static max Drained',
      'maintenance-b/one': 'max; DaemonSet max; Static max Drained',
    });
  });
});

test('NM-37: targets show one item for each selector of the plan, at its highest priority', () => {
  const scene = drainScene();
  const pod = (priority: number, app: string, type: 'Default' | 'DaemonSet' = 'Default') =>
    podOfType(type, { node: 'five', priority, labels: { app } });
  scene.start(
    'five',
    ...[pod(500, 'web'), pod(1500, 'postgres'), pod(5000, 'web')],
    ...[pod(900, 'agent', 'DaemonSet'), pod(1200, 'agent', 'DaemonSet')],
  );
  const max = 2 ** 31 - 1;
  scene.add({
    ...runOf(A, ['five'], []),
    plan: [
      ...[entryOf(1000), entryOf(2000, 'Default', 'postgres'), entryOf(max)],
      ...[entryOf(1000, 'DaemonSet'), entryOf(max, 'DaemonSet'), entryOf(max, 'Static')],
    ],
  });
  const lines: string[] = [];
  for (let step = 0; step < 6; step += 1) {
    lines.push(scene.table()[`${A}/five`] ?? '');
    scene.drain('five');
  }
  expect(lines).toEqual([
    '1000; postgres 1000 Evacuating',
    '1000; postgres 2000 Evacuating',
    'max; postgres max Evacuating',
    'max; postgres max; DaemonSet 1000 Evacuating',
    'max; postgres max; DaemonSet max Evacuating',
    'max; postgres max; DaemonSet max; Static max Drained',
  ]);
});

test('NM-38: entries without pods are passed at once', () => {
  const scene = drainScene();
  scene.start('one', podOfType('Default', { node: 'one', priority: 2_000_000_500 }));
  scene.add(runOf(A, ['one'], [entryOf(1), entryOf(2), entryOf(3)]));
  expect(scene.table()).toEqual({ 'maintenance-a/one': '2000001000 Evacuating' });
});

test('NM-36: two plans with different selectors of one priority drain side by side', () => {
  const scene = drainScene();
  const pod = (app: string) => podOfType('Default', { node: 'one', priority: 10, labels: { app } });
  scene.start('one', pod('postgres'), pod('redis'), pod('web'));
  scene.add(runOf(A, ['one'], [entryOf(1000, 'Default', 'postgres')]));
  scene.add(runOf(B, ['one'], [entryOf(1000, 'Default', 'redis')]));
  expect(scene.table()).toEqual({
    'maintenance-a/one': 'postgres 1000; redis 1000 Evacuating',
    'maintenance-b/one': 'postgres 1000; redis 1000 Evacuating',
  });
  scene.drain('one');
  expect(scene.table()[`${A}/one`]).toContain('1000000000; postgres 1000000000; redis');
});

test('a message names at most five nodes', () => {
  const scene = drainScene();
  const nodes = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7'];
  nodes.slice(1).forEach((node) => scene.start(node, podOfType('Default', { node })));
  scene.add(runOf(A, nodes, []));
  expect(scene.table()[`${A}/n1`])
    .toBe('1000000000 Waiting for nodes n2, n3, n4, n5, n6 and 1 more.');
});

/**
 * The targets of a node that these maintenances drain to the end, each with 31 entries with a
 * selector and a pod for each, and which of the pods each step selects.
 */
const drainedWithSelectors = (...names: readonly string[]) => {
  const scene = drainScene();
  const apps = (name: string) => Array.from({ length: 31 }, (_, index) => `${name}-${index}`);
  const pods = names.flatMap(apps).map((app) =>
    podOfType('Default', { name: app, node: 'one', priority: 1000, labels: { app } })
  );
  const web = podOfType('Default', { name: 'web', node: 'one' });
  const agent = podOfType('DaemonSet', { name: 'agent', node: 'one' });
  const all = [...pods, web, agent];
  scene.start('one', ...all);
  for (const name of names) {
    const plan = apps(name).map((app, index) => entryOf(1000 + index, 'Default', app));
    scene.add(runOf(name, ['one'], plan));
  }
  const lengths: number[] = [];
  const selected: (readonly string[])[] = [];
  for (let step = 0; step < 50; step += 1) {
    const targets = scene.targetsOf('one');
    lengths.push(targets.length);
    selected.push(all.filter((pod) => isTargetedBy(targets, pod)).map(({ name }) => name));
    scene.drain('one');
  }
  const messages = Object.values(scene.table()).map((text) => text.split(' ').at(-1));
  return { longest: Math.max(...lengths), selected, messages, pods: pods.map(({ name }) => name) };
};

/** The API server refused the statuses of both, so that no pod left any more. */
test('NM-34: targets that a status has no room for select what they selected', () => {
  const { longest, selected, messages } = drainedWithSelectors(A, B);
  expect(messages).toEqual(['Drained', 'Drained']);
  expect(longest).toBeLessThanOrEqual(64);
  selected.forEach((now, index) => {
    expect(now, `step ${index}`).toEqual(expect.arrayContaining([...selected[index - 1] ?? []]));
  });
});

test('NM-36: plans go on when more selectors are at work than a status has room for', () => {
  const { longest, selected, messages, pods } = drainedWithSelectors(A, B, C);
  expect(messages).toEqual(['Drained', 'Drained', 'Drained']);
  expect(longest).toBe(64);
  const before = selected.slice(0, selected.findIndex((now) => now.includes('web')));
  expect(new Set(before.flat()), 'each in its turn').toEqual(new Set(pods));
  expect(selected.at(-1), 'in the end all').toContain('web');
});
