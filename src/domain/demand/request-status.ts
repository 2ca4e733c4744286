/**
 * The status of a CapacityRequest as it is written: its phase, and the condition `Acknowledged`,
 * which says the same to `kubectl wait`.
 *
 * Promises: both are in one merge patch. The condition is True with the generation that the
 * acknowledged roll-up had, Unknown while no acknowledgement is known, and False when the request
 * is left out of the demand until a person changes it. A request without a condition, as other
 * operators write it, lacks nothing: it gets one with its next phase.
 */
import { type Condition, conditionBody, type CurrentCondition } from '../condition.ts';
import type { Identity } from '../facts.ts';
import { rfc3339Seconds } from '../time.ts';
import { problemsText, type Reading } from './reading.ts';

/** The type of the condition. */
export const ACKNOWLEDGED = 'Acknowledged';

/** What a request shows of its acknowledgement. */
export interface RequestStatus {
  /** `metadata.generation`. */
  readonly generation: number;
  /** `status.phase`; empty when not set. */
  readonly phase: string;
  /** The condition `Acknowledged`; null without one. */
  readonly acknowledged: CurrentCondition | null;
}

/**
 * Whether the acknowledgement of a roll-up with this generation is still to be written: to a
 * request without it, or to one whose condition is about an earlier generation or phase.
 */
export const awaitsAcknowledgement = (
  { generation, phase, acknowledged }: RequestStatus,
): boolean => {
  if (phase === '' || phase === 'Pending') return true;
  return phase === 'Acknowledged' && acknowledged !== null &&
    (acknowledged.status !== 'True' || acknowledged.observedGeneration < generation);
};

/** The merge patch after an acknowledgement. `acknowledgedAt` is set once. */
export const acknowledgedPatch = (
  { generation, phase, acknowledged }: RequestStatus,
  nowMs: number,
): object => {
  const condition: Condition = {
    type: ACKNOWLEDGED,
    status: 'True',
    reason: 'Acknowledged',
    message: 'The fleet acknowledged the demand with this request',
    observedGeneration: generation,
  };
  const first = { phase: 'Acknowledged', acknowledgedAt: rfc3339Seconds(nowMs) };
  const conditions = [conditionBody(condition, acknowledged, nowMs)];
  return { status: { ...(phase === 'Acknowledged' ? {} : first), conditions } };
};

/** What is known of a request without a phase. */
export interface NewRequest extends Pick<Identity, 'uid' | 'resourceVersion'> {
  readonly generation: number;
  /** Absent for a request of our own making. */
  readonly reading?: Reading;
}

const pendingCondition = ({ generation, reading }: NewRequest): Condition => {
  const common = { type: ACKNOWLEDGED, observedGeneration: generation };
  if (reading?._tag !== 'Unreadable') {
    return {
      ...common,
      status: 'Unknown',
      reason: 'Pending',
      message: 'The fleet has not acknowledged the demand with this request yet',
    };
  }
  return {
    ...common,
    status: 'False',
    reason: reading.tooLarge ? 'CapacityRequestTooLarge' : 'InvalidCapacityRequest',
    message: `Left out of the demand: ${problemsText(reading.problems)}`,
  };
};

/** The merge patch to Pending, with a precondition against a concurrent acknowledgement. */
export const pendingPatch = (request: NewRequest, nowMs: number): object => {
  const { uid, resourceVersion } = request;
  // A status without a phase is invalid, so that there is no earlier condition.
  const conditions = [conditionBody(pendingCondition(request), null, nowMs)];
  return {
    metadata: { uid, resourceVersion },
    status: { phase: 'Pending', conditions },
  };
};
