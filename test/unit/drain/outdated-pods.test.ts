/** The drain of a node on which a rollout is in progress, on a small cluster in memory (RS-15). */
import { expect, test } from 'vitest';
import { evictionsOfTest, podsAsked } from '../../support/drains/eviction-test-rig.ts';

const NEW = { template: 'new', created: '2026-01-01T00:05:00Z' };
const OLD = { template: 'old', created: '2026-01-01T00:01:00Z' };

/** Two pods of the new revision, whose names come first, and two of the old one. */
const rollout = async (maxUnavailable: number | null) => {
  const made = evictionsOfTest({ timing: { qps: 10 } });
  const pods = [['a1', NEW], ['a2', NEW], ['b1', OLD], ['b2', OLD]] as const;
  for (const [name, of] of pods) {
    made.cluster.addPod({ name, node: 'n1', app: 'web', rollout: of });
  }
  for (let at = 0; at < 10; at += 1) {
    made.cluster.addPod({ name: `c${at}`, node: 'n1', app: 'other' });
  }
  made.cluster.settle('web');
  if (maxUnavailable !== null) made.cluster.addBudget({ name: 'db', app: 'web', maxUnavailable });
  await made.ready();
  made.drain('n1');
  await made.untilEmpty(['n1'], 120_000);
  return podsAsked(made).filter((name) => /^[ab]/.test(name));
};

test('RS-15: old revisions on a draining node take the slots of a budget first', async () => {
  expect(await rollout(1)).toEqual(['b1', 'b2', 'a1', 'a2']);
});

test('RS-15: old revisions on a draining node leave first without a budget', async () => {
  expect((await rollout(null)).slice(0, 2)).toEqual(['b1', 'b2']);
});

test('RS-15: a revision is old while watches or lists show pods of a younger one', async () => {
  const drained = async (current: 'watched' | 'gone' | 'listed'): Promise<readonly string[]> => {
    const made = evictionsOfTest({ timing: { qps: 10 } });
    const { cluster } = made;
    cluster.addPod({ name: 'young', node: 'n2', app: 'web', rollout: NEW });
    for (const name of ['c1', 'c2']) cluster.addPod({ name, node: 'n1', app: 'other' });
    cluster.addPod({ name: 'last', node: 'n1', app: 'web', rollout: OLD });
    await made.ready();
    const young = cluster.known('young');
    if (current !== 'watched') cluster.drop('young');
    await made.ready();
    if (current === 'listed' && young !== undefined) cluster.podCache.relist(young);
    made.drain('n1');
    await made.untilEmpty(['n1'], 60_000);
    return podsAsked(made);
  };
  expect(await drained('watched')).toEqual(['last', 'c1', 'c2']);
  expect(await drained('gone')).toEqual(['c1', 'c2', 'last']);
  expect(await drained('listed')).toEqual(['last', 'c1', 'c2']);
});
