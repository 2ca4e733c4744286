/** How far a Deployment may go in one step, and which pods a workload takes away first. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replicaPlan, templateHash } from '../src/controllers/replicas.ts';
import { leeway, rolloutStep } from '../src/controllers/rollout.ts';

describe('leeway', () => {
  test.each([
    [{}, 10, { surge: 3, unavailable: 2 }],
    [{ rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } }, 4, { surge: 0, unavailable: 1 }],
    [{ rollingUpdate: { maxSurge: '50%', maxUnavailable: 1 } }, 3, { surge: 2, unavailable: 1 }],
  ])('%j of %i', (strategy, replicas, wanted) => {
    expect(leeway(strategy, replicas)).toEqual(wanted);
  });
});

describe('rolloutStep', () => {
  test('a new set starts within the surge, and unavailable old pods are deleted first', () => {
    const step = rolloutStep({
      replicas: 4,
      strategy: {},
      next: undefined,
      old: [{ name: 'old', wanted: 4, available: 3 }],
    });
    expect(step.next).toBe(1);
    expect(step.old.get('old')).toBe(3);
  });
  test('Recreate waits until the old pods are gone', () => {
    const strategy = { type: 'Recreate' };
    const old = [{ name: 'old', wanted: 4, available: 4 }];
    expect(rolloutStep({ replicas: 4, strategy, next: undefined, old }).next).toBe(0);
    expect(rolloutStep({ replicas: 4, strategy, next: undefined, old: [] }).next).toBe(4);
  });
  test('never too many pods, never too few available, and it always ends', () => {
    const share = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constantFrom('0%', '25%', '60%'));
    fc.assert(fc.property(fc.integer({ min: 1, max: 20 }), share, share, (replicas, up, down) => {
      const strategy = { rollingUpdate: { maxSurge: up, maxUnavailable: down } };
      const { surge, unavailable } = leeway(strategy, replicas);
      let [next, old] = [0, replicas];
      for (let step = 0; step < 200 && (next < replicas || old > 0); step += 1) {
        const facts = {
          replicas,
          strategy,
          next: { name: 'next', wanted: next, available: next },
          old: [{ name: 'old', wanted: old, available: old }],
        };
        const wanted = rolloutStep(facts);
        const shrunk = wanted.old.get('old') ?? 0;
        expect(wanted.next + old).toBeLessThanOrEqual(replicas + surge);
        expect(next + shrunk).toBeGreaterThanOrEqual(Math.min(replicas - unavailable, next + old));
        [next, old] = [wanted.next, shrunk];
      }
      expect([next, old]).toEqual([replicas, 0]);
    }));
  });
});

describe('replicaPlan', () => {
  const pod = (name: string, node: string, ready: boolean) => ({
    metadata: { name, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: node === '' ? {} : { nodeName: node },
    status: {
      phase: ready ? 'Running' : 'Pending',
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  });
  test('pods without a node are deleted first, then pods that do not run', () => {
    const pods = [pod('a', 'n', true), pod('b', 'n', false), pod('c', '', false)];
    const { toMake, toRemove } = replicaPlan(1, pods);
    expect([toMake, toRemove]).toEqual([0, [pods[2], pods[1]]]);
  });
  test('pods that are leaving are replaced at once', () => {
    const leaving = { ...pod('a', 'n', true), metadata: { name: 'a', deletionTimestamp: 'now' } };
    expect(replicaPlan(2, [leaving, pod('b', 'n', true)])).toEqual({ toMake: 1, toRemove: [] });
  });
});

describe('templateHash', () => {
  test('equal templates have equal names, whatever the order of their fields', () => {
    expect(templateHash({ a: 1, b: { c: [1], d: 2 } }))
      .toBe(templateHash({ b: { d: 2, c: [1] }, a: 1 }));
    expect(templateHash({ a: 1 })).not.toBe(templateHash({ a: 2 }));
  });
});
