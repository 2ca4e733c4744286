/**
 * The `podDemand` statechart with its writes to the API server, its Events on pods and its log
 * lines.
 */
import { Effect, type ManagedRuntime } from 'effect';
import type { EventNote, RecordEvent } from '../../api/event-note.ts';
import type { Telemetry } from '../../api/telemetry.ts';
import { problemsInWords } from '../../domain/demand/reading.ts';
import type { Uid } from '../../domain/ids.ts';
import type { RequestedPod } from '../../domain/pod-demand/owned-request.ts';
import type { PodWarning } from '../../domain/pod-demand/pod-ask.ts';
import type { Time } from '../../domain/time.ts';
import { PodRequests } from '../../effects/pod-requests.ts';
import type { PodDemandContext, PodRequestAct } from '../../machines/pod-demand-terms.ts';
import { podDemand } from '../../machines/pod-demand.ts';
import { fromEffect, type WriteInFlight } from '../actor-logic.ts';
import { warningAggregator } from '../warning-aggregator.ts';

/** The actions of the statechart. */
export interface PodDemandActions {
  readonly requestSlot: (context: PodDemandContext) => void;
  readonly recordRefused: (context: PodDemandContext) => void;
  readonly recordFailing: (context: PodDemandContext) => void;
}

/** The statechart, provided once for all pods. */
export const providePodDemand = (
  runtime: ManagedRuntime.ManagedRuntime<PodRequests, never>,
  actions: PodDemandActions,
  inFlight: WriteInFlight,
): typeof podDemand => {
  const write = (verb: keyof PodRequests['Service']) =>
    fromEffect(runtime, (input: PodRequestAct) =>
      Effect.gen(function* () {
        const requests = yield* PodRequests;
        return yield* inFlight(requests[verb](input));
      }));
  return podDemand.provide({
    actors: {
      createRequest: write('create'),
      updateRequest: write('update'),
      stampRequest: write('stamp'),
      deleteRequest: write('remove'),
    },
    actions: {
      requestSlot: ({ context }) => actions.requestSlot(context),
      recordRefused: ({ context }) => actions.recordRefused(context),
      recordFailing: ({ context }) => actions.recordFailing(context),
    },
  });
};

/** The Events of pods whose request is not written, or does not carry everything. */
export interface PodDemandEvents extends Omit<PodDemandActions, 'requestSlot'> {
  /** Records on the pod what its request leaves out; one Event for each reason. */
  readonly recordWarnings: (pod: RequestedPod, warnings: readonly PodWarning[]) => void;
}

const regarding = ({ namespace, name, uid }: RequestedPod): EventNote['regarding'] => ({
  apiVersion: 'v1',
  kind: 'Pod',
  namespace,
  name,
  uid,
});

/** Records the Events of pods; `onProblem` is called for pods whose request is not written. */
export const podDemandEvents = (
  { telemetry, time }: { readonly telemetry: Telemetry; readonly time: Time },
  record: RecordEvent,
  onProblem: (pod: Uid) => void,
): PodDemandEvents => {
  const warn = warningAggregator(telemetry, time, 'CapacityRequests of pods could not be written');
  const recordProblem =
    (reason: EventNote['reason']) => ({ pod, problem }: PodDemandContext): void => {
      onProblem(pod.uid);
      warn({ name: `${pod.namespace}/${pod.name}`, reason, problem });
      // A pod that is gone gets no Event.
      if (pod.name === '') return;
      const note = `Cannot write its CapacityRequest: ${problem}`;
      record({ regarding: regarding(pod), reason, note });
    };
  return {
    recordRefused: recordProblem('PodRequestRefused'),
    recordFailing: recordProblem('PodRequestFailing'),
    recordWarnings: (pod, warnings) => {
      for (const [reason, problems] of Map.groupBy(warnings, (warning) => warning.reason)) {
        record({ regarding: regarding(pod), reason, note: problemsInWords(problems) });
      }
    },
  };
};
