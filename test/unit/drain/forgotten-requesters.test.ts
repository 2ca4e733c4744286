/**
 * Regression: each pod that its drain asked for no more was followed by a look at those of all
 * drains, for whether it was the last of its Node, so that the end of 30,000 of them took minutes.
 */
import { describe, expect, test, vi } from 'vitest';
import { evictionsOfTest } from '../../support/drains/eviction-test-rig.ts';

const BACKUP = 'backup.db.example.com';

type Rig = ReturnType<typeof evictionsOfTest>;

/** Pods on the node `n1` that register an interceptor, and drains that ask by request. */
const withPods = async (names: readonly string[], finalizers: readonly string[] = []) => {
  const made = evictionsOfTest({ mode: 'auto' });
  const add = (name: string, kept: readonly string[] = []): void => {
    made.cluster.addPod({ name, node: 'n1', app: name, finalizers: [...kept] });
    made.requests.register(name, [BACKUP]);
  };
  for (const name of names) add(name, finalizers);
  await made.ready();
  return { ...made, add };
};

const reasonsOf = ({ notes }: Rig): readonly string[] => notes.map(({ reason }) => reason);

describe('a pod that a drain asks for no more', () => {
  test.each([2, 20])('is forgotten without a look at all others, of %i', async (count) => {
    const made = await withPods([...Array(count).keys()].map((at) => `p${at}`));
    made.drain('n1');
    await made.time.advance(1000);
    expect([...made.requesters.actors()]).toHaveLength(count);
    const looks = vi.spyOn(Map.prototype, 'values');
    made.requesters.onLeadershipLost();
    const { length } = looks.mock.calls;
    looks.mockRestore();
    expect([...made.requesters.actors()]).toEqual([]);
    expect(length).toBe(1);
  });

  test('leaves one Event for each cause on its Node, until it is the last of the Node', async () => {
    const made = await withPods(['p1', 'p2'], ['x.dev/keep']);
    const { cluster, requests, time } = made;
    requests.refuse('the API server refuses it');
    made.drain('n1');
    await time.advance(5000);
    expect(reasonsOf(made)).toEqual(['EvictionRequestUnavailable']);
    cluster.clearFinalizers('p1');
    await time.advance(5000);
    made.add('p3');
    await time.advance(1000);
    made.drain('n1');
    await time.advance(5000);
    expect([cluster.left('n1'), reasonsOf(made)]).toEqual([1, ['EvictionRequestUnavailable']]);
    cluster.clearFinalizers('p2');
    await time.advance(5000);
    made.add('p4');
    await time.advance(1000);
    made.drain('n1');
    await time.advance(5000);
    expect(reasonsOf(made)).toEqual(['EvictionRequestUnavailable', 'EvictionRequestUnavailable']);
  });
});
