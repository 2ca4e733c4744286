/** Drains that wait for each other through budgets, and who yields. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maintenanceOwner } from '../../../../src/domain/drain/cordon.ts';
import {
  crossings,
  type DrainParty,
  type DrainWait,
} from '../../../../src/domain/node-maintenance/crossed-drains.ts';
import { type Draw, drawBelow, drawOne, drawsFrom } from '../../../support/draws.ts';
import {
  type CrossedApp,
  CrossedCluster,
  type CrossedMaintenance,
  type CrossedPlan,
} from '../../../support/node-maintenance/crossed-cluster.ts';

const party = (name: string, more: Partial<DrainParty> = {}): DrainParty => ({
  id: name,
  owner: maintenanceOwner(name),
  name: `NodeMaintenance "${name}"`,
  drainClass: 'Maintenance',
  createdMs: 0,
  uid: name,
  ...more,
});

const wait = (from: DrainParty, to: DrainParty): DrainWait => ({
  from,
  to,
  node: `node-${from.id}`,
  wantedNode: `node-${to.id}`,
  cause: { _tag: 'Budget', budget: `default/${from.id}`, pod: `default/${from.id}-1` },
});

const yielderIn = (waits: readonly DrainWait[]): string | undefined =>
  [...crossings(waits).values()][0]?.yields.to.id;

describe('NM-52: of drains that wait for each other, one yields', () => {
  const [a, b, c] = [party('a'), party('b'), party('c')];

  test('and none when nobody waits in a circle', () => {
    expect(crossings([wait(a, b), wait(b, c), wait(a, c)]).size).toBe(0);
    expect(crossings([wait(a, a)]).size).toBe(0);
  });

  test('the youngest, then the last by UID', () => {
    const young = party('a', { createdMs: 5 });
    expect(yielderIn([wait(young, b), wait(b, young)])).toBe('a');
    expect(yielderIn([wait(a, b), wait(b, a)])).toBe('b');
    expect(yielderIn([wait(a, c), wait(c, b), wait(b, a)])).toBe('c');
  });

  test('one of the lowest class before a younger one', () => {
    const reclaim = party('r', { drainClass: 'Reclaim', owner: 'reclaim', createdMs: 9 });
    expect(yielderIn([wait(a, reclaim), wait(reclaim, a)])).toBe('a');
  });

  test('but a reclaim never does', () => {
    const [first, second] = ['r1', 'r2'].map((id) => party(id, { drainClass: 'Reclaim' }));
    if (first === undefined || second === undefined) throw new Error('unreachable');
    expect(crossings([wait(first, second), wait(second, first)]).size).toBe(0);
  });

  test('at most one in each circle, which waits, and never the first of it', () => {
    const parties = Array.from(
      { length: 6 },
      (_, index) => party(`p${index}`, { createdMs: index }),
    );
    const index = fc.integer({ min: 0, max: 5 });
    fc.assert(fc.property(fc.array(fc.tuple(index, index), { maxLength: 14 }), (pairs) => {
      const waits = pairs.flatMap(([from, to]) => {
        const [left, right] = [parties[from], parties[to]];
        return left === undefined || right === undefined ? [] : [wait(left, right)];
      });
      const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
        waits.some((one) =>
          one.from.id === from && one.from.id !== one.to.id && !seen.has(one.to.id) &&
          (one.to.id === to || reaches(one.to.id, to, seen.add(one.to.id)))
        );
      const found = crossings(waits);
      for (const { id } of parties) {
        const crossing = found.get(id);
        expect(crossing !== undefined, `${id} waits for itself`).toBe(reaches(id, id));
        if (crossing === undefined) continue;
        const { to, from } = crossing.yields;
        expect(reaches(id, to.id) && reaches(to.id, id), 'in its circle').toBe(true);
        expect(to.createdMs, 'the youngest').toBeGreaterThan(from.createdMs);
        expect(crossing.wait.from.id).toBe(id);
      }
    }));
  });
});

/** Rounds after which a crossing has lasted for long. */
const GRACE = 3;
const ROUNDS_MAX = 2000;

const drainAll = (plan: CrossedPlan, draw: Draw): CrossedCluster => {
  const cluster = new CrossedCluster(plan, draw);
  for (let round = 1; round <= ROUNDS_MAX && !cluster.isOver; round += 1) {
    cluster.step(round % GRACE !== 0);
    if (draw() < 0.3) cluster.complete();
  }
  return cluster;
};

const spread = (name: string, places: readonly string[]): CrossedApp => ({
  name,
  minAvailable: places.length - 1,
  places,
  replicas: [...places],
});

describe('crossed drains', () => {
  test('NM-52: of two maintenances name each other and end; the younger one yields', () => {
    const cluster = drainAll({
      nodes: ['n1', 'n2'],
      apps: [spread('x', ['n1', 'n2']), spread('y', ['n1', 'n2'])],
      maintenances: [
        { name: 'older', nodes: ['n1'], first: 'x' },
        { name: 'younger', nodes: ['n2'], first: 'y' },
      ],
    }, drawsFrom(1));
    expect(cluster.isOver, cluster.text()).toBe(true);
    expect(cluster.isViolated).toBe(false);
    expect(cluster.ended).toEqual(['older', 'younger']);
    expect(cluster.yielded).toEqual(['n2']);
    expect(cluster.texts).toEqual([
      'Node "n1" waits for budget "default/y": its pod "default/y-1" could run on node "n2" of ' +
      'NodeMaintenance "younger", and that one waits for this maintenance; ' +
      'NodeMaintenance "younger" yields node "n2"',
      'Node "n2" waits for budget "default/x": its pod "default/x-0" could run on node "n1" of ' +
      'NodeMaintenance "older", and that one waits for this maintenance; ' +
      'NodeMaintenance "younger" yields node "n2"',
    ]);
  });

  test('NM-52: of three maintenances in a circle end; the youngest yields', () => {
    const cluster = drainAll({
      nodes: ['n1', 'n2', 'n3'],
      apps: [spread('x', ['n1', 'n2']), spread('y', ['n2', 'n3']), spread('z', ['n1', 'n3'])],
      maintenances: [
        { name: 'a', nodes: ['n1'], first: 'x' },
        { name: 'b', nodes: ['n2'], first: 'y' },
        { name: 'c', nodes: ['n3'], first: 'z' },
      ],
    }, drawsFrom(1));
    expect(cluster.isOver, cluster.text()).toBe(true);
    expect(cluster.isViolated).toBe(false);
    expect(cluster.yielded[0]).toBe('n3');
  });
});

const NODES = ['n1', 'n2', 'n3', 'n4', 'n5'];

/** Every app may run on a node that a maintenance leaves alone, and its budget allows one. */
const drawPlan = (draw: Draw, isShared: boolean): CrossedPlan => {
  const count = 2 + drawBelow(draw, 3);
  const nodesOf = NODES.map((name) => ({ name, of: drawBelow(draw, count + 1) }));
  const apps = ['x', 'y', 'z', 'w'].slice(0, 2 + drawBelow(draw, 3));
  const maintenances = Array.from({ length: count }, (_, index): CrossedMaintenance => {
    const first = draw() < 0.7 ? drawOne(draw, apps) : undefined;
    const own = nodesOf.filter(({ of }) => of === index || (isShared && draw() < 0.25));
    return {
      name: `m${index}`,
      nodes: own.map(({ name }) => name),
      ...(first === undefined ? {} : { first }),
    };
  });
  const drawApp = (name: string): CrossedApp => {
    const isMovable = (places: readonly string[]): boolean =>
      maintenances.every(({ nodes }) => places.some((one) => !nodes.includes(one)));
    const chosen = NODES.filter(() => draw() < 0.5);
    const places = isMovable(chosen) ? chosen : NODES;
    const replicas = Array.from(
      { length: 1 + drawBelow(draw, 4) },
      () => drawOne(draw, places) ?? null,
    );
    return { name, places, replicas, minAvailable: drawBelow(draw, replicas.length) };
  };
  const left = maintenances.map((one) => ({
    ...one,
    nodes: one.nodes.slice(0, NODES.length - 1),
  }));
  return { nodes: NODES, apps: apps.map(drawApp), maintenances: left };
};

const seeds = fc.integer({ min: 1, max: 2 ** 31 - 1 });

test.each([['of their own', false, 300], ['that they share', true, 150]])(
  'NM-52: random maintenances on nodes %s end, and violate no budget',
  (_, isShared, numRuns) => {
    let crossed = 0;
    fc.assert(
      fc.property(seeds, (seed) => {
        const draw = drawsFrom(seed);
        const cluster = drainAll(drawPlan(draw, isShared), draw);
        crossed += cluster.yielded.length;
        if (!cluster.isOver || cluster.isViolated) expect(cluster.text()).toBe('');
      }),
      { numRuns },
    );
    expect(crossed, 'crossed drains occur').toBeGreaterThan(10);
  },
);
