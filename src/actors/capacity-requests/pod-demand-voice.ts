/** What the actors of pods' requests have to say to people: Events on pods and log lines. */
import type { EventNote, RecordEvent } from '../../api/event-note.ts';
import type { Telemetry } from '../../api/telemetry.ts';
import { problemsInWords } from '../../domain/demand/reading.ts';
import type { Uid } from '../../domain/ids.ts';
import type { RequestedPod } from '../../domain/pod-demand/owned-request.ts';
import type { PodWarning } from '../../domain/pod-demand/pod-ask.ts';
import type { Time } from '../../domain/time.ts';
import type { PodDemandContext } from '../../machines/pod-demand-terms.ts';
import type { PodDemandVoice } from './pod-demand-acts.ts';
import { warningAggregator } from '../warning-aggregator.ts';

/** The voice of all pods. */
export interface PodDemandWords extends Pick<PodDemandVoice, 'tellRefused' | 'tellFailing'> {
  /** Says on the pod what its request does not say; one Event for each reason. */
  readonly warn: (pod: RequestedPod, warnings: readonly PodWarning[]) => void;
}

const about = ({ namespace, name, uid }: RequestedPod): EventNote['regarding'] => ({
  apiVersion: 'v1',
  kind: 'Pod',
  namespace,
  name,
  uid,
});

/** Speaks of what a person can mend; `troubled` hears of pods whose request is not written. */
export const podDemandVoice = (
  { telemetry, time }: { readonly telemetry: Telemetry; readonly time: Time },
  record: RecordEvent,
  troubled: (pod: Uid) => void,
): PodDemandWords => {
  const tell = warningAggregator(telemetry, time, 'CapacityRequests of pods could not be written');
  const complain = (reason: EventNote['reason']) => ({ pod, problem }: PodDemandContext): void => {
    troubled(pod.uid);
    tell({ name: `${pod.namespace}/${pod.name}`, reason, problem });
    // A pod that is gone hears nothing any more.
    if (pod.name === '') return;
    record({ regarding: about(pod), reason, note: `Cannot write its CapacityRequest: ${problem}` });
  };
  return {
    tellRefused: complain('PodRequestRefused'),
    tellFailing: complain('PodRequestFailing'),
    warn: (pod, warnings) => {
      for (const [reason, problems] of Map.groupBy(warnings, (warning) => warning.reason)) {
        record({ regarding: about(pod), reason, note: problemsInWords(problems) });
      }
    },
  };
};
