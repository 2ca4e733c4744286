/**
 * Any sequence of pods, faults, foreign hands, late watches, crashes and terms of leadership ends
 * with exactly one request for each pod that is demand, and with none besides. The sequences are
 * drawn by fast-check; a failing one is printed shrunk, with its seed.
 */
import { Effect } from 'effect';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GC_GRACE_MS } from '../../../src/machines/pod-demand.ts';
import { textAt } from '../../../src/domain/json.ts';
import { OWNED_BY_POD } from '../../../src/domain/pod-demand/pod-request.ts';
import { NotSent } from '../../../src/effects/kube-api.ts';
import { podRig, podUid } from '../../support/demand/pod-rig.ts';

const pod = fc.constantFrom('a', 'b', 'c', 'd');
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(
      fc.constant('pod' as const),
      pod,
      fc.constantFrom('1', '2'),
      fc.constantFrom('Pending', 'Running', 'Running', 'Succeeded'),
    ),
  },
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom('gone' as const, 'recreated' as const), pod) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('wait' as const), fc.nat({ max: 4000 })) },
  fc.tuple(fc.constant('collected' as const), pod),
  fc.tuple(fc.constantFrom('created' as const, 'deleted' as const, 'changed' as const), pod),
  fc.tuple(fc.constantFrom('away' as const, 'back' as const, 'answers lost' as const)),
  fc.tuple(fc.constantFrom('lag' as const, 'catch up' as const, 'relist' as const)),
  fc.tuple(fc.constantFrom('crash' as const, 'lose the lease' as const, 'lead' as const)),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface Life {
  readonly life: number;
  readonly cpu: string;
  readonly phase: string;
}

const makeHarness = () => {
  const rig = podRig();
  const { requests } = rig;
  const alive = new Map<string, Life>();
  const lives = new Map<string, number>();
  const show = (name: string, life: Life): void => {
    alive.set(name, life);
    rig.pod(name, life);
  };
  const end = (name: string): void => {
    alive.delete(name);
    rig.pods.remove(name);
  };
  const lose = ({ method }: { readonly method: string }) =>
    method === 'GET' ? Effect.void : Effect.fail(new NotSent({ why: 'the answer was lost' }));
  const lifeOf = (name: string): number => alive.get(name)?.life ?? (lives.get(name) ?? 0) + 1;
  const born = (name: string, cpu: string, phase: string): void => {
    const life = lifeOf(name);
    lives.set(name, life);
    show(name, { life, cpu, phase });
  };
  const known = (name: string): string => rig.nameOf(name, lifeOf(name));
  const onPods = ([what, name, cpu = '1', phase = 'Pending']: readonly string[]): void => {
    switch (what) {
      case 'pod':
        // A finished pod does not start again.
        return born(
          name ?? '',
          cpu,
          alive.get(name ?? '')?.phase === 'Succeeded' ? 'Succeeded' : phase,
        );
      case 'gone':
        return end(name ?? '');
      case 'recreated':
        end(name ?? '');
        return born(name ?? '', cpu, phase);
      default:
        return requests.remove(rig.nameOf(name ?? '', (lives.get(name ?? '') ?? 1) - 1));
    }
  };
  let made = 0;
  /** A UID is never reused; an existing object keeps its own. */
  const uidOfOther = (target: string): string => {
    made += 1;
    return textAt(requests.get(target), 'metadata', 'uid') ?? `other-${made}`;
  };
  const byOthers = (what: 'created' | 'deleted' | 'changed', name: string): void => {
    if (what === 'deleted') return requests.remove(known(name));
    const target = what === 'changed' ? known(name) : `cr-pod-${name}-other`;
    if (what === 'changed' && requests.get(target) === undefined) return;
    const labels = { [OWNED_BY_POD]: podUid(name, lifeOf(name)) };
    if (what === 'created') {
      rig.putRequest(target, name, {
        metadata: {
          name: target,
          namespace: 'default',
          uid: uidOfOther(target),
          labels,
          ownerReferences: [{ kind: 'Pod', name, uid: podUid(name, lifeOf(name)) }],
        },
      });
    } else requests.put(target, { spec: { resources: { cpu: '64' }, priority: 9 } });
  };
  const play = async (scene: Step): Promise<void> => {
    switch (scene[0]) {
      case 'pod':
      case 'gone':
      case 'recreated':
      case 'collected':
        return onPods(scene.map(String));
      case 'wait':
        return await rig.time.advance(scene[1]);
      case 'created':
      case 'deleted':
      case 'changed':
        return byOthers(scene[0], scene[1]);
      case 'away':
        return requests.intercept(() => Effect.fail(new NotSent({ why: 'connection refused' })));
      case 'back':
        return requests.intercept(() => Effect.succeed(undefined));
      case 'answers lost':
        return requests.loseAnswers(lose);
      case 'lag':
        return requests.lag();
      case 'catch up':
        return requests.catchUp();
      case 'relist':
        requests.catchUp();
        requests.list();
        return rig.pods.list();
      case 'crash':
        requests.catchUp();
        return rig.crash();
      case 'lose the lease':
        return rig.registry().setLeading(false);
      case 'lead':
        return rig.registry().setLeading(true);
    }
  };
  return {
    play,
    /** All faults end, and time passes. */
    heal: async (): Promise<void> => {
      requests.intercept(() => Effect.succeed(undefined));
      requests.catchUp();
      rig.registry().setLeading(true);
      await rig.time.advance(GC_GRACE_MS + 120_000);
      await rig.settle();
    },
    current: () =>
      requests.names().map((name) => [
        textAt(requests.get(name), 'metadata', 'labels', OWNED_BY_POD),
        rig.cpuOf(name),
        (rig.phaseOf(name) ?? '') !== '',
      ]).sort(),
    wanted: () =>
      [...alive].filter(([, { phase }]) => phase !== 'Succeeded')
        .map(([name, { life, cpu }]) => [podUid(name, life), cpu, true]).sort(),
  };
};

test('pods: every sequence ends with exactly one request for each pod that counts as demand', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (sequence) => {
      const harness = makeHarness();
      for (const scene of sequence) await harness.play(scene);
      await harness.heal();
      expect(harness.current()).toEqual(harness.wanted());
    }),
    { numRuns: 300 },
  );
});
