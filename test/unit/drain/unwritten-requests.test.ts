/**
 * EvictionRequests that cannot be written, as behind an admission webhook that is down. The bound
 * of one minute was that of their controller only: the drain waited for ever, and nothing showed
 * it.
 */
import { expect, test } from 'vitest';
import { evictionsOfTest, podsAsked } from '../../support/drains/eviction-test-rig.ts';

const WHY = '500 failed calling webhook "policy.example.com"';

/** A drain of one pod that it asks for; its writes fail. */
const failing = async () => {
  const made = evictionsOfTest({ mode: 'eviction-requests' });
  made.cluster.addPod({ name: 'p1', node: 'n1', app: 'p1' });
  made.requests.fail(WHY);
  await made.ready();
  made.drain('n1');
  return made;
};

test('a drain evicts without asking when its request was not written for a minute', async () => {
  const made = await failing();
  await made.time.advance(59_000);
  expect([podsAsked(made), made.notes]).toEqual([[], []]);
  await made.time.advance(3000);
  expect(podsAsked(made)).toEqual(['p1']);
  expect(made.notes.map(({ reason }) => reason)).toEqual(['EvictionRequestUnavailable']);
  expect(made.notes[0]?.note).toContain(`its EvictionRequest was not written for 60 s: ${WHY}`);
  expect(made.unasked).toEqual([{ by: 1, cause: 'Unanswered' }]);
});

test('ER-74: a drain asks when its request is written within the minute', async () => {
  const made = await failing();
  await made.time.advance(25_000);
  made.requests.fail('');
  await made.time.advance(30_000);
  expect(made.requests.of('p1')?.requesters).toEqual(['reclaim.tidegate.dev']);
  await made.time.advance(25_000);
  expect([podsAsked(made), made.notes]).toEqual([[], []]);
});

test('ER-74: a drain that ended asks no more, and evicts nothing', async () => {
  const made = await failing();
  await made.time.advance(25_000);
  made.registry.release('n1', 'reclaim');
  await made.time.advance(120_000);
  expect([podsAsked(made), made.notes]).toEqual([[], []]);
});
