/** Admissions, cursors and counts of maintenances, from one look at the cluster to the next. */
import { describe, expect, test } from 'vitest';
import type { DrainPod } from '../../../../src/domain/drain/pod.ts';
import {
  type MaintainedNodeFacts,
  maintenanceProgress,
  NO_PROGRESS,
  type NodesProgress,
  type ProgressMemory,
} from '../../../../src/domain/node-maintenance/maintenance-progress.ts';
import { holdsNode, storedTargets } from '../../../../src/domain/node-maintenance/node-status.ts';
import type { ObservedMaintenance } from '../../../../src/domain/node-maintenance/observed-maintenance.ts';
import { maintenanceOf } from '../../../support/node-maintenance/maintenance-fixture.ts';
import { podOfType } from '../../../support/node-maintenance/plan-runs.ts';

const node = (name: string, more: Partial<MaintainedNodeFacts> = {}): MaintainedNodeFacts => ({
  name,
  labels: {},
  bootId: 'boot-1',
  doneFor: '',
  createdMs: 0,
  ...more,
});

const NO_CROSSINGS = { cordoned: [], budgets: [], unschedulable: [] } as const;

/** One maintenance that drains, and a cluster that cordons what it holds. */
const scene = (names: readonly string[], spec: object = {}, isBehind = false) => {
  let [begins, drains] = [true, true];
  const uncordoned = new Set<string>();
  const underway = new Set<string>();
  let maintenance: ObservedMaintenance = maintenanceOf('1', {
    stage: 'Drain',
    isProtected: true,
    spec,
  });
  let memory: ProgressMemory = NO_PROGRESS;
  const nodes = new Map(names.map((name) => [name, node(name)]));
  const pods = new Map<string, readonly DrainPod[]>();
  const keys = new Set<string>();
  const isHeld = (name: string): boolean => keys.has(name) || holdsNode(maintenance, name);
  const isCordoned = (name: string): boolean => isHeld(name) && !uncordoned.has(name);
  const look = (): NodesProgress => {
    const progress = maintenanceProgress(
      [{ maintenance, nodes: [...nodes.values()], drains, begins, yields: false }],
      [maintenance],
      {
        before: memory,
        facts: {
          podsOn: (name) => pods.get(name) ?? [],
          isCordoned,
          hasEnded: (name) => isCordoned(name) && !underway.has(name),
          isHeld,
          isBehind,
          ...NO_CROSSINGS,
        },
      },
    );
    memory = progress;
    const reported = progress.reported.get(maintenance.uid) ??
      { nodes: [], waves: [], drained: false, progress: '', crossing: null, yieldedBy: '' };
    const { nodes: nodeStatuses, waves } = reported;
    maintenance = { ...maintenance, status: { ...maintenance.status, nodes: nodeStatuses, waves } };
    return reported;
  };
  return {
    look,
    /** Looks until nothing changes. */
    settle: (): NodesProgress => {
      let before = look();
      for (;;) {
        const after = look();
        if (JSON.stringify(after) === JSON.stringify(before)) return after;
        before = after;
      }
    },
    put: (name: string, ...all: readonly DrainPod[]) => void pods.set(name, all),
    change: (name: string, more: Partial<MaintainedNodeFacts>) =>
      void nodes.set(name, node(name, more)),
    /** The key of a Node stays, or leaves with the work on it. */
    keepKey: (name: string, stays: boolean) => void (stays ? keys.add(name) : keys.delete(name)),
    held: () => names.filter((name) => holdsNode(maintenance, name)),
    targets: (name: string) => storedTargets(maintenance, name),
    /** Somebody makes the node schedulable, until it is cordoned again. */
    uncordon: (name: string) => void uncordoned.add(name),
    /** The drain of the Node is under way, whatever pods it has. */
    keepDrain: (name: string, lasts: boolean) =>
      void (lasts ? underway.add(name) : underway.delete(name)),
    /** The window opens or closes. */
    open: (isOpen: boolean) => {
      begins = isOpen;
    },
    /** The stage is Drain, or before it Cordon. */
    drain: (isDraining: boolean) => {
      drains = isDraining;
    },
    /** Another process goes on from the status. */
    restart: () => {
      memory = NO_PROGRESS;
    },
  };
};

const states = ({ nodes }: NodesProgress) => nodes.map(({ name, state }) => `${name} ${state}`);

describe('the nodes of a maintenance', () => {
  test('are admitted together, and worked on once the status has them', () => {
    const { look, held, settle } = scene(['a', 'b']);
    expect(held()).toEqual([]);
    const first = look();
    expect(states(first)).toEqual(['a Admitted', 'b Admitted']);
    expect(first.drained).toBe(false);
    expect(held()).toEqual(['a', 'b']);
    expect(settle().drained).toBe(true);
  });

  test('one at a time follow each other after their drains, and stay cordoned', () => {
    const { settle, put, held } = scene(['a', 'b'], { maxNodesAtOnce: 1, releaseWhen: 'Drained' });
    put('a', podOfType('Default'));
    const first = settle();
    expect(states(first)).toEqual(['a Admitted', 'b Waiting']);
    expect(held()).toEqual(['a']);
    put('a');
    put('b', podOfType('Default'));
    const second = settle();
    expect(states(second)).toEqual(['a Released', 'b Admitted']);
    expect(second.nodes.map(({ wave }) => wave)).toEqual([1, 2]);
    expect(second.drained).toBe(false);
    expect(held()).toEqual(['a', 'b']);
    put('b');
    expect(settle().drained).toBe(true);
  });

  /** A pod that was bound just before the cordon is still to appear. */
  test('NM-41: are not drained before their drains have ended', () => {
    const { settle, keepDrain } = scene(['a', 'b'], {
      maxNodesAtOnce: 1,
      releaseWhen: 'Drained',
    });
    keepDrain('a', true);
    const first = settle();
    expect(first.nodes[0]).toMatchObject({ state: 'Admitted', drainMessage: 'Evacuating' });
    expect([states(first), first.progress]).toEqual([['a Admitted', 'b Waiting'], '0/2']);
    keepDrain('a', false);
    keepDrain('b', true);
    const second = settle();
    expect([states(second), second.drained]).toEqual([['a Released', 'b Admitted'], false]);
    keepDrain('b', false);
    expect(settle()).toMatchObject({ drained: true, progress: '2/2' });
  });

  test('whose work is done are in service again, and another one follows', () => {
    const { settle, change, held } = scene(['a', 'b', 'c'], { maxNodesAtOnce: 1 });
    expect(states(settle())).toEqual(['a Admitted', 'b Waiting', 'c Waiting']);
    change('a', { bootId: 'boot-2' });
    expect(states(settle())).toEqual(['a Released', 'b Admitted', 'c Waiting']);
    expect(held()).toEqual(['b']);
    change('b', { doneFor: 'kernel' });
    expect(states(settle())).toEqual(['a Released', 'b Released', 'c Admitted']);
    expect(held()).toEqual(['c']);
  });

  test('whose work is done keep their slots until they are in service again', () => {
    const { settle, change, keepKey, uncordon } = scene(['a', 'b'], { maxNodesAtOnce: 1 });
    settle();
    keepKey('a', true);
    uncordon('a');
    change('a', { doneFor: 'kernel' });
    expect(states(settle())).toEqual(['a Released', 'b Waiting']);
    keepKey('a', false);
    expect(states(settle())).toEqual(['a Released', 'b Admitted']);
  });

  test('NM-38: a plan does not go on while the caches are behind', () => {
    const { settle } = scene(['a'], {}, true);
    expect(settle()).toMatchObject({ drained: false, waves: [{ number: 1, entriesDone: 0 }] });
  });

  test('NM-39: another process goes on with the targets and cursors of the status', () => {
    const plan = { drainPlan: [{ podPriority: 0 }, { podPriority: 10 }] };
    const { settle, put, restart, targets } = scene(['a'], plan);
    put('a', podOfType('Default', { priority: 10 }));
    const before = settle();
    expect(before.waves).toEqual([{ number: 1, entriesDone: 1 }]);
    expect(targets('a').map(({ podPriority }) => podPriority)).toEqual([10]);
    restart();
    expect(settle()).toEqual(before);
  });

  test('NM-40: counts the pods that must leave, by whether they are targeted', () => {
    const plan = { drainPlan: [{ podPriority: 0 }] };
    const { settle, put } = scene(['a'], plan);
    put('a', podOfType('Default'), podOfType('Default', { priority: 5 }), podOfType('Static'));
    expect(settle().nodes[0]).toMatchObject({
      drainMessage: 'Evacuating',
      podsEvacuating: 1,
      podsPendingEvacuation: 1,
    });
  });

  /** Its counts stayed as they were when a person gave it back half empty: for ever. */
  test('NM-40: a node that is in service again has no pods left', () => {
    const { settle, put, change } = scene(['a', 'b'], { maxNodesAtOnce: 1 });
    put('a', podOfType('Default'), podOfType('Static'));
    expect(settle().nodes[0]).toMatchObject({ state: 'Admitted', podsEvacuating: 1 });
    change('a', { doneFor: 'kernel' });
    expect(settle().nodes[0]).toMatchObject({
      state: 'Released',
      podsPendingEvacuation: 0,
      podsEvacuating: 0,
    });
  });

  test('NM-50: none is admitted while the window is closed, and those under way are finished', () => {
    const { settle, put, held, open } = scene(['a', 'b'], {
      maxNodesAtOnce: 1,
      releaseWhen: 'Drained',
    });
    open(false);
    expect(states(settle())).toEqual(['a Waiting', 'b Waiting']);
    expect(held()).toEqual([]);
    open(true);
    put('a', podOfType('Default'));
    expect(states(settle())).toEqual(['a Admitted', 'b Waiting']);
    open(false);
    expect(settle().nodes[0]).toMatchObject({ state: 'Admitted', podsEvacuating: 1 });
    put('a');
    const closed = settle();
    expect(states(closed)).toEqual(['a Released', 'b Waiting']);
    expect(closed.drained).toBe(false);
    open(true);
    put('b', podOfType('Default'));
    expect(states(settle())).toEqual(['a Released', 'b Admitted']);
  });

  test('NM-50: a drain does not begin after the window on a node that was cordoned in it', () => {
    const { settle, put, held, targets, open, drain } = scene(['a']);
    put('a', podOfType('Default'));
    drain(false);
    expect(states(settle())).toEqual(['a Admitted']);
    open(false);
    drain(true);
    const closed = settle();
    expect(closed).toMatchObject({
      drained: false,
      waves: [],
      nodes: [{ podsPendingEvacuation: 1, podsEvacuating: 0 }],
    });
    expect([held(), targets('a')]).toEqual([['a'], []]);
    put('a');
    expect(settle().drained, 'also without pods').toBe(false);
    open(true);
    expect(settle().drained).toBe(true);
  });

  test('NM-41: a node that somebody made schedulable counts as drained no more', () => {
    const { settle, uncordon } = scene(['a', 'b']);
    expect(settle()).toMatchObject({ drained: true, progress: '2/2' });
    uncordon('b');
    expect(settle()).toMatchObject({ drained: false, progress: '1/2' });
  });
});

/** A second maintenance of the node was drained at once, by what stays for the first one. */
test('NM-41: what may stay for one maintenance holds another one', () => {
  const pod = podOfType('Default');
  const statuses = new Map<string, ObservedMaintenance['status']>();
  const stays = new Set<string>(['maintenance-first']);
  let memory: ProgressMemory = NO_PROGRESS;
  const look = (names: readonly string[]) => {
    const all = names.map((name): ObservedMaintenance => {
      const one = maintenanceOf('1', { name, uid: name, stage: 'Drain', isProtected: true });
      return { ...one, status: statuses.get(name) ?? one.status };
    });
    const worked = { nodes: [node('a')], drains: true, begins: true, yields: false };
    const progress = maintenanceProgress(
      all.map((maintenance) => ({ ...worked, maintenance })),
      all,
      {
        before: memory,
        facts: {
          podsOn: (_, owner) => stays.has(owner) ? [] : [pod],
          isCordoned: () => true,
          hasEnded: () => true,
          isHeld: () => true,
          isBehind: false,
          ...NO_CROSSINGS,
        },
      },
    );
    memory = progress;
    return all.map(({ uid, status }) => {
      const { nodes = [], waves = [], drained } = progress.reported.get(uid) ?? {};
      statuses.set(uid, { ...status, nodes, waves });
      return drained;
    });
  };
  const settled = (...names: readonly string[]) => [1, 2, 3].map(() => look(names)).at(-1);
  expect(settled('first')).toEqual([true]);
  expect(settled('first', 'second')).toEqual([true, false]);
  stays.add('maintenance-second');
  expect(settled('first', 'second')).toEqual([true, true]);
});
