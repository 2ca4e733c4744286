/**
 * Regression: the backoff of a refusal grows to five minutes and ignored the deadline, so that a
 * policy that changed its mind minutes before the deadline was never asked again.
 */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
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
});
