/**
 * The patches by which a Node shows its state, and by which a person confirms that it is gone.
 *
 * Promises: pure; taints are one list for the API server, so that a patch of them carries the
 * resourceVersion that it is based on; the conditions of the kubelet stay.
 */
import { goDuration } from '../go-duration.ts';
import { rfc3339Seconds } from '../time.ts';
import {
  AVAILABILITY_CONDITION,
  CONFIRMED_GONE_KEY,
  DEGRADED_TAINT,
  isTaint,
  OUT_OF_SERVICE_TAINT,
} from './available-node.ts';
import type { AvailabilityLabel, AvailableNode, Taint, WantedAvailability } from './node-state.ts';

const body = ({ key, value, effect, timeAdded }: Taint): object => ({
  key,
  effect,
  ...(value === '' ? {} : { value }),
  ...(timeAdded === '' ? {} : { timeAdded }),
});

type TaintedNode = Pick<AvailableNode, 'resourceVersion' | 'taints' | 'availability'>;

/** The merge patch of the taints; `undefined` when the Node has the wanted ones. */
export const taintsPatch = (
  { resourceVersion, taints, availability }: TaintedNode,
  { isTainted, endsConfirmation }: Pick<WantedAvailability, 'isTainted' | 'endsConfirmation'>,
): object | undefined => {
  if (availability.isTainted === isTainted && !endsConfirmation) return undefined;
  const kept = taints.filter((taint) =>
    !isTaint(taint, DEGRADED_TAINT) && !(endsConfirmation && isTaint(taint, OUT_OF_SERVICE_TAINT))
  );
  return {
    metadata: {
      resourceVersion,
      ...(endsConfirmation ? { annotations: { [CONFIRMED_GONE_KEY]: null } } : {}),
    },
    spec: { taints: [...kept.map(body), ...(isTainted ? [DEGRADED_TAINT] : [])] },
  };
};

const MESSAGES: Readonly<Record<AvailabilityLabel, string>> = {
  Active: 'New pods may be placed here',
  Degraded: 'A problem condition lasts; no new pods are placed here, and pods stay',
  Draining: 'The Node is cordoned for a drain; its pods leave',
  Disabled: 'A person disabled the Node; its pods leave',
  Offline: 'The Lease is not renewed and Ready is Unknown; stateless pods are replaced elsewhere',
  OfflineStorm: 'Many Nodes went offline together; no pod is deleted until the Node is back, or ' +
    'a person confirms that it is gone',
};

/** The strategic merge patch of the condition; `undefined` when the Node has it. */
export const conditionPatch = (
  { uid, availability }: Pick<AvailableNode, 'uid' | 'availability'>,
  { label }: Pick<WantedAvailability, 'label'>,
  nowMs: number,
): object | undefined => {
  if ((availability.label ?? 'Active') === label) return undefined;
  const isTransition = (availability.label ?? 'Active') === 'Active' || label === 'Active';
  return {
    metadata: { uid },
    status: {
      conditions: [{
        type: AVAILABILITY_CONDITION,
        status: label === 'Active' ? 'True' : 'False',
        reason: label,
        message: MESSAGES[label],
        // Another reason with the same status is no transition.
        ...(isTransition ? { lastTransitionTime: rfc3339Seconds(nowMs) } : {}),
      }],
    },
  };
};

/** The merge patch by which a person confirms that the machine of a Node is gone. */
export const confirmGonePatch = (
  { resourceVersion, taints }: Pick<AvailableNode, 'resourceVersion' | 'taints'>,
  nowMs: number,
): object => ({
  metadata: {
    resourceVersion,
    annotations: { [CONFIRMED_GONE_KEY]: rfc3339Seconds(nowMs) },
  },
  spec: {
    taints: [
      ...taints.filter((taint) => !isTaint(taint, OUT_OF_SERVICE_TAINT)).map(body),
      OUT_OF_SERVICE_TAINT,
    ],
  },
});

/** `No heartbeat for 1m0s`, for an Event. */
export const silenceText = (offlineAfterMs: number): string =>
  `Its Lease was not renewed for ${goDuration(offlineAfterMs)}, and its Ready condition is Unknown`;
