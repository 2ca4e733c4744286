/**
 * Regression: the backoff of a refusal grows to five minutes and ignored the deadline, so that a
 * policy that changed its mind minutes before the deadline was never asked again. Nor did it end
 * when a second owner came with a deadline that was nearer than the end of that backoff.
 */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import type { DrainOwner } from '../../../src/domain/drain/cordon.ts';
import { refusal } from '../../support/drains/eviction-refusals.ts';
import { evictionsOfTest, podsAsked } from '../../support/drains/eviction-test-rig.ts';

/** When a refused pod is asked, in milliseconds before its deadline. */
const triesBeforeDeadline = async (graceMs: number): Promise<readonly number[]> => {
  const made = evictionsOfTest({ graceMs });
  made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
  made.cluster.settle('a');
  await made.ready();
  const deadlineMs = made.time.monotonic() + graceMs;
  const tries: number[] = [];
  made.cluster.intercept(() => {
    tries.push(deadlineMs - made.time.monotonic());
    return Effect.succeed(refusal(403, 'admission webhook "guard" denied the request: no'));
  });
  made.drain('n1');
  await made.time.advance(graceMs);
  return tries;
};

const MAINTENANCE = 'maintenance-0123456789ab';

/**
 * When the pod of a maintenance without a deadline is asked, in seconds since a second owner wants
 * it to leave: within 100 s, when it was refused six times before.
 */
const triesForSecondOwner = async (
  owner: DrainOwner,
  graceMs: number | null,
): Promise<readonly number[]> => {
  const made = evictionsOfTest();
  const { cluster, time } = made;
  cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
  cluster.settle('a');
  await made.ready();
  const askedMs: number[] = [];
  cluster.intercept(() => {
    askedMs.push(time.monotonic());
    return Effect.succeed(refusal(403, 'admission webhook "guard" denied the request: no'));
  });
  const want = (by: DrainOwner, deadlineMonotonicMs: number | null): void => {
    for (const pod of cluster.onNode('n1')) {
      made.registry.want(pod, {
        node: 'n1',
        owner: by,
        deadlineMonotonicMs,
        drainSinceMs: time.monotonic(),
        podsLeft: () => 1,
      });
    }
  };
  want(MAINTENANCE, null);
  await time.advance(320_000);
  expect(askedMs).toHaveLength(6);
  const joinedMs = time.monotonic();
  want(owner, graceMs === null ? null : joinedMs + graceMs);
  await time.advance(100_000);
  return askedMs.slice(6).map((ms) => Math.round((ms - joinedMs) / 1000));
};

describe('a refused eviction', () => {
  test('is tried again 30 s and 5 s before the deadline, whatever its backoff', async () => {
    const tries = (await triesBeforeDeadline(600_000)).map((ms) => Math.round(ms / 1000));
    expect(tries).toEqual([600, 590, 570, 530, 450, 290, 30, 5]);
  });

  test('keeps its backoff while that ends sooner', async () => {
    const tries = (await triesBeforeDeadline(25_000)).map((ms) => Math.round(ms / 1000));
    expect(tries).toEqual([25, 15, 5]);
  });

  test('is tried at once when a joined instruction brings its deadline forward', async () => {
    const made = evictionsOfTest();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    made.cluster.settle('a');
    await made.ready();
    made.cluster.intercept(() =>
      Effect.succeed(refusal(403, 'admission webhook "guard" denied the request: no'))
    );
    made.drain('n1');
    await made.time.advance(400_000);
    const before = podsAsked(made).length;
    made.cluster.intercept(() => Effect.succeed(undefined));
    made.registry.bringForward('n1', 'reclaim', made.time.monotonic() + 20_000);
    await made.time.advance(1000);
    expect(podsAsked(made).slice(before)).toEqual(['p1']);
  });

  test('is tried at once, and before the deadline, when a second owner brings a nearer one', async () => {
    expect(await triesForSecondOwner('reclaim', 90_000)).toEqual([0, 60, 85]);
  });

  test('keeps its backoff when a second owner brings no deadline', async () => {
    expect(await triesForSecondOwner('disabled', null)).toEqual([]);
  });
});
