/**
 * Regression: a drain that was resumed after its deadline ended before its pods had been looked at:
 * as Failed with "no pods remain" while pods ran, or as Failed on a node that was empty.
 */
import { Effect } from 'effect';
import { afterEach, describe, expect, test } from 'vitest';
import type { PodTraits } from '../../support/drains/drain-facts.ts';
import { drainRig, type DrainRigOptions } from '../../support/drains/drain-rig.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const OVERDUE = {
  metadata: {
    name: 'n1',
    uid: 'u1',
    annotations: {
      'cordon.tidegate.dev/reclaim': JSON.stringify({
        v: 1,
        ids: ['i1'],
        deadline: '2025-12-31T23:00:00Z',
        graceSeconds: 600,
        since: '2025-12-31T22:50:00Z',
      }),
    },
  },
  spec: { unschedulable: true },
};

/** A cordoned Node whose deadline passed an hour before the process starts. */
const overdueDrain = (
  pods: readonly PodTraits[],
  options: Pick<DrainRigOptions, 'whenNodesCurrent' | 'whenPodsCurrent'> = {},
) => {
  const rig = drainRig({ leads: false, ...options });
  stops.push(rig.stop);
  rig.node('n1', OVERDUE);
  for (const pod of pods) rig.pods.add({ node: 'n1', ...pod });
  return rig;
};

const errors = (
  { reported }: Pick<ReturnType<typeof drainRig>, 'reported'>,
): readonly string[] =>
  reported.flatMap(({ fact }) => fact._tag === 'Failed' ? fact.lastError : []);

describe('a drain that is resumed after its deadline', () => {
  test('DR-13: is Failed and names the pods that remain', async () => {
    const rig = overdueDrain([{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
    await rig.restart();
    await rig.time.advance(1000);
    expect(rig.annotation('n1')?.ended).toBe('Failed');
    expect(rig.phases('n1')).toEqual(['Failed']);
    expect(errors(rig)[0]).toMatch(/^3 pods remain: ns\/a .*ns\/b .*ns\/c /);
    expect(rig.notes.at(-1)).toMatchObject({ reason: 'DeadlinePassed' });
    expect(rig.notes.at(-1)?.note).toContain('3 pods remain');
    expect(rig.log.filter((line) => line.startsWith('evict'))).toEqual([]);
  });

  test('DR-13: is Drained when no pod that must leave is there', async () => {
    const rig = overdueDrain([]);
    await rig.restart();
    await rig.time.advance(1000);
    expect(rig.annotation('n1')?.ended).toBe('Drained');
    expect(rig.phases('n1')).toEqual(['Drained']);
    expect(rig.notes.map(({ reason }) => reason)).toEqual(['DrainFinished']);
  });

  test('DR-13: is Drained when only pods that stay are there', async () => {
    const rig = overdueDrain([{ name: 'agent', controller: { kind: 'DaemonSet', name: 'agent' } }]);
    await rig.restart();
    await rig.time.advance(1000);
    expect(rig.annotation('n1')?.ended).toBe('Drained');
  });

  // A process that had been cut off led with old pods: an empty node was Failed, and a pod that
  // had come since was left behind on a Drained one.
  const endBy = async (known: readonly string[], now: readonly string[]) => {
    const current = Promise.withResolvers<void>();
    const rig = overdueDrain(known.map((name) => ({ name })), {
      whenPodsCurrent: () => current.promise,
    });
    await rig.restart();
    await rig.time.advance(1000);
    const before = rig.annotation('n1')?.ended;
    for (const name of known) rig.pods.remove(name);
    for (const name of now) rig.pods.add({ node: 'n1', name });
    current.resolve();
    await rig.time.advance(1000);
    return [before, rig.annotation('n1')?.ended];
  };

  test('DR-13: a drain does not end by old pods', async () => {
    expect(await endBy(['a'], [])).toEqual([null, 'Drained']);
    expect(await endBy([], ['b'])).toEqual([null, 'Failed']);
  });

  // A process that had been cut off resumed a drain that was cancelled meanwhile: as Drained.
  test('DR-13: is not resumed from an old Node', async () => {
    const current = Promise.withResolvers<void>();
    const rig = overdueDrain([], { whenNodesCurrent: () => current.promise });
    await rig.restart();
    await rig.time.advance(1000);
    expect(rig.reported).toEqual([]);
    expect([...rig.reclaims().actors()]).toHaveLength(1);
    rig.node('n1', { metadata: { name: 'n1', uid: 'u1' }, spec: {} });
    current.resolve();
    await rig.time.advance(1000);
    expect([rig.reported, rig.annotation('n1')]).toEqual([[], undefined]);
    expect([...rig.reclaims().actors()], 'its instruction has ended').toEqual([]);
  });

  test('DR-13: ends at once', async () => {
    const rig = overdueDrain([{ name: 'a' }]);
    await rig.restart();
    expect(rig.annotation('n1')?.ended).toBe('Failed');
  });
});

describe('a drain whose deadline passes while its instruction holds evictions back', () => {
  test('DR-13: is Drained when its node is empty', async () => {
    const rig = drainRig();
    stops.push(rig.stop);
    rig.node('n1');
    rig.node('n2');
    // The barrier waits 2 s for the cordon of n2, which fails; the grace is 1 s.
    rig.intercept(({ path }) =>
      Effect.succeed(path.endsWith('n2') ? { status: 500, body: {} } : undefined)
    );
    rig.order('i1', ['n1', 'n2'], 1);
    await rig.time.advance(1500);
    expect(rig.annotation('n1')?.ended).toBe('Drained');
  });
});
