/** How the Event of an ended drain reads. */
import { expect, test } from 'vitest';
import { endNote, endReason } from '../../../src/actors/node-drains/ended-drain.ts';
import { endedDrain } from '../../support/drains/ended-drains.ts';

test.each(
  [
    [{}, 'DrainFinished', 'Drained in 12 s'],
    [
      { tolerating: ['ns/a'], volumes: ['v'] },
      'DrainFinished',
      'Drained in 12 s; stays, because it tolerates the cordon: ns/a; still attached: v',
    ],
    [
      { tolerating: ['ns/a', 'ns/b'] },
      'DrainFinished',
      'Drained in 12 s; stay, because they tolerate the cordon: ns/a, ns/b',
    ],
    [{ lostPods: 1 }, 'NodeDeleted', 'The Node was deleted after 12 s with 1 pod on it'],
    [{ lostPods: 2 }, 'NodeDeleted', 'The Node was deleted after 12 s with 2 pods on it'],
    [
      { end: 'Failed', lastError: '1 pod remains', lostPods: 2 },
      'DeadlinePassed',
      'Cannot drain the node within 12 s: 1 pod remains',
    ],
    [
      { end: 'Failed', lastError: 'forbidden', forbidden: true, volumes: ['v', 'w'] },
      'EvictionForbidden',
      'Cannot drain the node within 12 s: forbidden; still attached: v, w',
    ],
    [
      { end: 'Cancelled', forbidden: true },
      'DrainCancelled',
      'Cancelled after 12 s: the node was uncordoned, or the annotation was removed',
    ],
  ] as const,
)('DR-42: the Event of the end %j is %s: %s', (traits, reason, note) => {
  expect([endReason(endedDrain(traits)), endNote(endedDrain(traits))]).toEqual([reason, note]);
});
