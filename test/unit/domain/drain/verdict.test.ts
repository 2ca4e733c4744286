/** Which of several blockers a drain is told by, and how they are written and read. */
import { expect, test } from 'vitest';
import {
  type BlockedPods,
  type BlockerReason,
  NOTE_CHARS_MAX,
} from '../../../../src/domain/drain/blocker.ts';
import {
  blockedVerdict,
  chiefVerdict,
  readBlockedText,
  verdictNote,
} from '../../../../src/domain/drain/verdict.ts';

const onPod = (reason: BlockerReason, pod: string): BlockedPods => ({
  blocker: { reason, text: 'why', subject: '' },
  pods: [pod],
});
const waits = onPod('WaitingForTurn', 'a');
const blocked = onPod('KubeletSilent', 'b');

test('a blocker that a person can act on comes before one that passes', () => {
  expect(chiefVerdict([waits, blocked])).toMatchObject({
    reason: 'KubeletSilent',
    severity: 'Blocked',
  });
  expect(chiefVerdict([waits])).toMatchObject({ reason: 'WaitingForTurn', severity: 'Waiting' });
});

test('DR-42: a note has who can act, as far as there is room', () => {
  const verdict = blockedVerdict(blocked);
  const room = NOTE_CHARS_MAX - verdictNote({ ...verdict, sentence: '' }).length;
  const fitting = 'x'.repeat(room);
  expect(verdictNote({ ...verdict, sentence: fitting })).toHaveLength(NOTE_CHARS_MAX);
  expect(verdictNote({ ...verdict, sentence: `${fitting}x` })).toBe(`${fitting}x`);
});

test('DR-43: a text that no operator wrote has no blockers', () => {
  expect(readBlockedText('by hand')).toEqual([]);
});
