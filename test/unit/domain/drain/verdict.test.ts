/** Which of several blockers a drain is told by. */
import { expect, test } from 'vitest';
import type { BlockedPods, BlockerReason } from '../../../../src/domain/drain/blocker.ts';
import { chiefVerdict } from '../../../../src/domain/drain/verdict.ts';

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
