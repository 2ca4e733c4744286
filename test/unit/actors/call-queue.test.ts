/** The queue for the way to the write budget: who comes first, and how many are under way. */
import { describe, expect, test } from 'vitest';
import { callQueue } from '../../../src/actors/pod-evictions/call-queue.ts';
import type { Petition } from '../../../src/domain/drain/queue.ts';
import { uid } from '../../../src/domain/ids.ts';

const petition = (pod: string, node: string, podsLeft: number): Petition => ({
  pod: uid(pod),
  podName: pod,
  priority: 0,
  node,
  drainClass: 'reclaim',
  deadlineMs: 1e9,
  drainSinceMs: 0,
  place: 0,
  podsLeft,
});

/** A queue of pods `p<n>` on nodes that have `podsLeft`; `sent` tells who went. */
const rig = (nodes: Readonly<Record<string, number>>, podsPerNode: number) => {
  const queue = callQueue(() => 0);
  const sent: string[] = [];
  const waiting = new Set<string>();
  for (const [node, podsLeft] of Object.entries(nodes)) {
    for (let at = 0; at < podsPerNode; at += 1) {
      const pod = `${node}-p${at}`;
      waiting.add(pod);
      queue.add(pod, node, {
        petition: () => waiting.has(pod) ? petition(pod, node, podsLeft) : undefined,
        go: () => {
          waiting.delete(pod);
          sent.push(pod);
        },
      });
    }
  }
  return { queue, sent, waiting };
};

describe('the queue of calls', () => {
  test('DR-34: calls leave node by node, fewest pods left first', () => {
    const { queue, sent } = rig({ a: 9, b: 3 }, 2);
    queue.sendMany(() => true);
    expect(sent).toEqual(['b-p0', 'b-p1', 'a-p0', 'a-p1']);
  });

  test('DR-34: few are on their way at once, and each that left makes room', () => {
    const { queue, sent } = rig({ a: 1 }, 20);
    queue.sendMany(() => true);
    const before = sent.length;
    expect(before).toBeLessThan(20);
    queue.left('a-p0');
    queue.sendMany(() => true);
    expect(sent.length).toBe(before + 1);
  });

  test('DR-34: who has gone away or was taken back is passed over', () => {
    const { queue, sent, waiting } = rig({ a: 1 }, 3);
    waiting.delete('a-p0');
    queue.remove('a-p1');
    queue.sendMany(() => true);
    expect(sent).toEqual(['a-p2']);
    expect(queue.sendOne()).toBe(false);
  });

  test('DR-37: nobody goes any more once it may not', () => {
    const { queue, sent } = rig({ a: 1 }, 3);
    queue.sendMany(() => sent.length < 1);
    expect(sent).toEqual(['a-p0']);
  });

  test('DR-34: a free slot is handed out when the call of its taker comes first', () => {
    const { queue, sent } = rig({ a: 3, b: 9 }, 1);
    queue.offer('ns/db', {
      first: () => petition('c-p0', 'c', 5),
      hand: () => {
        sent.push('slot of c-p0');
        return uid('c-p0');
      },
    });
    queue.sendMany(() => true);
    expect(sent).toEqual(['a-p0', 'slot of c-p0', 'b-p0']);
    queue.add('c-p0', 'c', { petition: () => undefined, go: () => sent.push('c-p0') });
    expect(sent.at(-1)).toBe('c-p0');
  });

  test('DR-34: an offer that nobody takes lets the next one go', () => {
    const { queue, sent } = rig({ a: 9 }, 1);
    queue.offer('ns/db', { first: () => petition('c-p0', 'c', 1), hand: () => undefined });
    queue.sendMany(() => true);
    expect(sent).toEqual(['a-p0']);
    expect(queue.sendOne()).toBe(false);
  });
});
