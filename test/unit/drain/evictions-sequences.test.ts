/**
 * Random sequences: answers that are lost, refused or late, budgets that change, pods that come and
 * go. Whatever happens, no call breaks a rule, and when the trouble is over every pod leaves.
 */
import { Effect } from 'effect';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AnswerLost, type KubeAnswer, NotSent } from '../../../src/effects/kube-api.ts';
import type { WriteFault } from '../../../src/effects/writes.ts';
import { evictionRig } from '../../support/drains/eviction-rig.ts';
import { refusal } from '../../support/drains/eviction-refusals.ts';

const NODES = ['n0', 'n1', 'n2'];
const APPS = ['a0', 'a1'];

/** The answer of the API server instead of serving the next call. */
const TROUBLES: Readonly<Record<string, Effect.Effect<KubeAnswer, WriteFault>>> = {
  lost: Effect.fail(new AnswerLost({ why: 'cut' })),
  hang: Effect.andThen(Effect.sleep(30_000), Effect.fail(new AnswerLost({ why: 'hang' }))),
  unsent: Effect.fail(new NotSent({ why: 'connection refused' })),
  conflict: Effect.succeed(refusal(409, 'the object has been modified')),
  internal: Effect.succeed(refusal(500, 'etcdserver: leader changed')),
  gateway: Effect.succeed(refusal(504, 'timeout')),
  webhook: Effect.succeed(refusal(403, 'admission webhook "guard" denied the request')),
  limit: Effect.succeed({ ...refusal(429, 'too many requests'), retryAfterSeconds: 3 }),
  stranger: Effect.succeed(refusal(401, 'Unauthorized')),
  exhausted: Effect.succeed(refusal(429, 'no', { cause: 'DisruptionBudget' })),
};

type Disturbance =
  | { readonly _tag: 'Trouble'; readonly kind: string; readonly calls: number }
  | { readonly _tag: 'Budget'; readonly app: string; readonly unavailable: number }
  | { readonly _tag: 'Unready'; readonly pod: number }
  | { readonly _tag: 'Healed'; readonly pod: number }
  | { readonly _tag: 'Drop'; readonly pod: number }
  | { readonly _tag: 'Pause'; readonly node: string }
  | { readonly _tag: 'Kubelet'; readonly node: string; readonly ready: 'True' | 'Unknown' }
  | { readonly _tag: 'Second'; readonly app: string };

const disturbances: fc.Arbitrary<Disturbance> = fc.oneof(
  fc.record({
    _tag: fc.constant('Trouble' as const),
    kind: fc.constantFrom(...Object.keys(TROUBLES)),
    calls: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({
    _tag: fc.constant('Budget' as const),
    app: fc.constantFrom(...APPS),
    unavailable: fc.integer({ min: 0, max: 3 }),
  }),
  fc.record({ _tag: fc.constant('Unready' as const), pod: fc.nat(11) }),
  fc.record({ _tag: fc.constant('Healed' as const), pod: fc.nat(11) }),
  fc.record({ _tag: fc.constant('Drop' as const), pod: fc.nat(11) }),
  fc.record({ _tag: fc.constant('Pause' as const), node: fc.constantFrom(...NODES) }),
  fc.record({
    _tag: fc.constant('Kubelet' as const),
    node: fc.constantFrom(...NODES),
    ready: fc.constantFrom('True' as const, 'Unknown' as const),
  }),
  fc.record({ _tag: fc.constant('Second' as const), app: fc.constantFrom(...APPS) }),
);

const leaving = fc.record({
  watchMs: fc.integer({ min: 0, max: 400 }),
  /** Writes are scarce in some runs: requests are sent late. */
  qps: fc.constantFrom(Infinity, 20, 4),
  steps: fc.array(fc.tuple(disturbances, fc.integer({ min: 0, max: 5000 })), { maxLength: 16 }),
});

type Rig = ReturnType<typeof evictionRig>;

const disturb = (rig: Rig, disturbance: Disturbance): void => {
  const { cluster } = rig;
  switch (disturbance._tag) {
    case 'Trouble': {
      let left = disturbance.calls;
      const trouble = TROUBLES[disturbance.kind] ?? Effect.fail(new NotSent({ why: '' }));
      cluster.intercept(() =>
        Effect.suspend((): Effect.Effect<KubeAnswer | undefined, WriteFault> => {
          left -= 1;
          return left < 0 ? Effect.succeed(undefined) : trouble;
        })
      );
      return;
    }
    case 'Budget':
      return cluster.changeBudget(`b-${disturbance.app}`, {
        maxUnavailable: disturbance.unavailable,
      });
    case 'Unready':
      return cluster.change(`p${disturbance.pod}`, { ready: false });
    case 'Healed':
      return cluster.change(`p${disturbance.pod}`, { ready: true });
    case 'Drop':
      return cluster.drop(`p${disturbance.pod}`);
    case 'Pause':
      return rig.registry.release(disturbance.node, 'reclaim');
    case 'Kubelet':
      return cluster.node(disturbance.node, disturbance.ready);
    case 'Second':
      return cluster.addBudget({
        name: `second-${disturbance.app}`,
        app: disturbance.app,
        maxUnavailable: 1,
      });
  }
};

/** The faults are over: every pod is healthy, every budget is open, every node responds. */
const mend = ({ cluster }: Rig): void => {
  cluster.intercept(() => Effect.succeed(undefined));
  for (const app of APPS) {
    cluster.removeBudget(`second-${app}`);
    cluster.changeBudget(`b-${app}`, { maxUnavailable: 2 });
    cluster.settle(app);
  }
  for (let at = 0; at < 12; at += 1) cluster.change(`p${at}`, { ready: true });
  for (const node of NODES) cluster.node(node, 'True');
};

describe('random sequences', () => {
  test('evictions break no rule, and every pod leaves when the faults are over', async () => {
    await fc.assert(
      fc.asyncProperty(leaving, async ({ watchMs, qps, steps }) => {
        const rig = evictionRig({ timing: { watchMs, qps } });
        for (let at = 0; at < 12; at += 1) {
          const node = NODES[at % 3] ?? '';
          rig.cluster.addPod({ name: `p${at}`, node, app: APPS[at % 2] ?? '' });
        }
        for (const app of APPS) {
          rig.cluster.settle(app);
          rig.cluster.addBudget({ name: `b-${app}`, app, maxUnavailable: 1 });
        }
        await rig.time.advance(1500);
        NODES.forEach(rig.drain);
        for (const [disturbance, ms] of steps) {
          disturb(rig, disturbance);
          await rig.time.advance(ms);
        }
        mend(rig);
        await rig.time.advance(1000);
        NODES.forEach(rig.drain);
        for (let minute = 0; minute < 12; minute += 1) {
          rig.cluster.bookmark();
          await rig.time.advance(60_000);
        }
        const statuses = NODES.flatMap((node) =>
          rig.cluster.onNode(node).map(({ name }) => [name, rig.status(name)])
        );
        expect(statuses).toEqual([]);
        expect(rig.cluster.violations).toEqual([]);
        expect(rig.cluster.mostAtOnce()).toBeLessThanOrEqual(1);
        expect(rig.defects).toEqual([]);
        expect(Object.values(rig.registry.counts()).every((count) => count === 0)).toBe(true);
        await rig.stop();
      }),
      { numRuns: 60, seed: 7 },
    );
  });
});
