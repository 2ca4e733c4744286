/** The status of a CapacityRequest with its condition, over every phase. */
import { describe, expect, test } from 'vitest';
import { listOrEmptyAt } from '../../../../src/domain/json.ts';
import {
  acknowledgedPatch,
  awaitsAcknowledgement,
  pendingPatch,
} from '../../../../src/domain/demand/request-status.ts';
import { request, type RequestTraits } from '../../../support/demand/fed-requests.ts';

const NOW = '2026-01-01T00:00:00Z';
const BEFORE = '2025-12-31T00:00:00Z';

const condition = (status: string, observedGeneration?: number) => ({
  type: 'Acknowledged',
  status,
  reason: 'Any',
  message: '',
  lastTransitionTime: BEFORE,
  ...(observedGeneration === undefined ? {} : { observedGeneration }),
});

const conditionIn = (patch: object): unknown => listOrEmptyAt(patch, 'status', 'conditions')[0];

describe('the condition Acknowledged', () => {
  test.each<readonly [string, RequestTraits, boolean]>([
    ['without a status', {}, true],
    ['in phase Pending', { phase: 'Pending' }, true],
    ['in phase Pending, with a condition', {
      phase: 'Pending',
      conditions: [condition('True', 1)],
    }, true],
    ['without a condition', { phase: 'Acknowledged', generation: 5 }, false],
    ['of its generation', { phase: 'Acknowledged', conditions: [condition('True', 1)] }, false],
    ['of an earlier generation', {
      phase: 'Acknowledged',
      generation: 2,
      conditions: [condition('True', 1)],
    }, true],
    ['that is Unknown', { phase: 'Acknowledged', conditions: [condition('Unknown', 1)] }, true],
    ['that is False', { phase: 'Acknowledged', conditions: [condition('False', 1)] }, true],
    ['in a phase of another version', { phase: 'Other' }, false],
  ])('is awaited or not for a request %s', (_title, traits, isAwaited) => {
    expect(awaitsAcknowledgement(request('a', traits))).toBe(isAwaited);
  });

  test('is True with the generation of the roll-up', () => {
    expect(acknowledgedPatch(request('a', { generation: 4 }), Date.parse(NOW))).toEqual({
      status: {
        phase: 'Acknowledged',
        acknowledgedAt: NOW,
        conditions: [{
          type: 'Acknowledged',
          status: 'True',
          reason: 'Acknowledged',
          message: 'The fleet acknowledged the demand with this request',
          observedGeneration: 4,
          lastTransitionTime: NOW,
        }],
      },
    });
  });

  test.each([['True', BEFORE], ['Unknown', NOW], ['False', NOW]])(
    'that was %s is True since %s',
    (status, since) => {
      const traits = { phase: 'Pending', conditions: [condition(status, 1)] };
      expect(conditionIn(acknowledgedPatch(request('a', traits), Date.parse(NOW))))
        .toMatchObject({ status: 'True', lastTransitionTime: since });
    },
  );

  test('is Unknown in phase Pending, and False for a request that is left out', () => {
    const pending = (traits: RequestTraits) => pendingPatch(request('a', traits), Date.parse(NOW));
    expect(pending({ generation: 2 })).toEqual({
      metadata: { uid: 'uid-a', resourceVersion: '1' },
      status: {
        phase: 'Pending',
        conditions: [{
          type: 'Acknowledged',
          status: 'Unknown',
          reason: 'Pending',
          message: 'The fleet has not acknowledged the demand with this request yet',
          observedGeneration: 2,
          lastTransitionTime: NOW,
        }],
      },
    });
    expect(conditionIn(pending({ spec: { priority: 'high' } }))).toMatchObject({
      status: 'False',
      reason: 'InvalidCapacityRequest',
      message: expect.stringMatching(/^Left out of the demand: spec\.priority/),
    });
    const labels = Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`r${at}`, '1']));
    expect(conditionIn(pending({ spec: { resources: labels } }))).toMatchObject({
      status: 'False',
      reason: 'CapacityRequestTooLarge',
    });
  });
});
