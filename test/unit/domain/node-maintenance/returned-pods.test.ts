/** Pods that came back past the cordon of a drain that has ended. */
import { expect, test } from 'vitest';
import type { CordonAnnotation } from '../../../../src/domain/drain/cordon.ts';
import { returnedPods } from '../../../../src/domain/node-maintenance/returned-pods.ts';
import { podOfType } from '../../../support/node-maintenance/plan-runs.ts';

const SINCE = '2026-05-01T10:00:10.600Z';
const DRAINED: CordonAnnotation = {
  ids: ['kernel@1'],
  deadlineMs: null,
  graceSeconds: 0,
  sinceMs: Date.parse(SINCE),
  ended: 'Drained',
};
const TOLERATIONS = [{ operator: 'Exists' }];
const podAt = (created: string, deletion?: string) =>
  podOfType('DaemonSet', {
    tolerations: TOLERATIONS,
    created,
    ...(deletion === undefined ? {} : { deletion }),
  });

test('NM-55: a pod that was made after the drain began stays, in the same second as well', () => {
  const [sameSecond, minutesOn] = [podAt('2026-05-01T10:00:10Z'), podAt('2026-05-01T10:05:00Z')];
  expect(returnedPods([sameSecond], DRAINED)).toEqual([sameSecond]);
  expect(returnedPods([minutesOn], DRAINED)).toEqual([minutesOn]);
});

test('NM-55: one from before, one that terminates and one that tolerates no cordon leave', () => {
  expect(returnedPods([podAt('2026-05-01T09:00:00Z')], DRAINED)).toEqual([]);
  expect(returnedPods([podAt('2026-05-01T10:05:00Z', '2026-05-01T10:06:00Z')], DRAINED))
    .toEqual([]);
  const intolerant = podOfType('DaemonSet', { created: '2026-05-01T10:05:00Z' });
  expect(returnedPods([intolerant], DRAINED)).toEqual([]);
});

test('NM-55: nothing came back past a drain that has not ended, or failed', () => {
  const pod = podAt('2026-05-01T10:05:00Z');
  for (const ended of [null, 'Failed', 'Cancelled'] as const) {
    expect(returnedPods([pod], { ...DRAINED, ended })).toEqual([]);
  }
  expect(returnedPods([pod], undefined)).toEqual([]);
});
