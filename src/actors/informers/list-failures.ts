/** What is logged and reported of lists and watches that fail. */
import type { SnapshotFrom } from 'xstate';
import type { ReasonName } from '../../api/reasons.ts';
import type { KubeApi } from '../../effects/kube-api.ts';
import type { listWatch } from '../../machines/list-watch.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** Why a collection is not followed at present. */
export interface ListFailure {
  /** A refused one is retried, too, but a person must act. */
  readonly reason: Extract<ReasonName, 'CollectionRefused' | 'CollectionFailing'>;
  /** The answer of the API server, or why there was none. */
  readonly problem: string;
}

/** Receives the incidents in which the API server refuses a collection. */
export interface RefusalSink {
  /** Once per incident, with the answer of the API server. */
  readonly onRefused: (resource: string, problem: string) => void;
  /** The end of an incident: a watch delivers again. */
  readonly onAccepted: (resource: string) => void;
}

/** Receives failures of one collection. */
export interface ListFailureSink {
  /** Each failure. */
  readonly onFailure: () => void;
  /** The API server answered after a failure. */
  readonly onAnswer: () => void;
  readonly refusals?: RefusalSink | undefined;
}

/** For Events and readiness. */
export const failureNote = (resource: string, problem: string): string =>
  `Cannot list or watch "${resource}": ${problem}`;

type ListWatchSnapshot = SnapshotFrom<typeof listWatch>;

/** The failure in this state; what waits for the outcome of a retry still has the one before. */
const failureIn = (
  snapshot: ListWatchSnapshot,
  before: ListFailure | undefined,
): ListFailure | undefined => {
  const { attempt, problem } = snapshot.context;
  if (attempt === 0) return undefined;
  if (snapshot.matches('refused')) return { reason: 'CollectionRefused', problem };
  return snapshot.matches('backingOff') ? { reason: 'CollectionFailing', problem } : before;
};

/**
 * Logs the first failure, a refusal that follows other failures, and the recovery, not every retry
 * between them; reports each of both.
 */
export const listFailures = (
  { telemetry }: ActorEnvironment<KubeApi>,
  resource: string,
  { onFailure, onAnswer, refusals }: ListFailureSink,
) => {
  let before = { attempt: 0, problem: '' };
  let failure: ListFailure | undefined;
  let isRefused = false;
  const logFailure = (problem: string): void =>
    telemetry.log('warn', 'Cannot list or watch a collection', { resource, problem });
  /** Faults between two refusals end no incident. */
  const reportRefusals = (attempt: number): void => {
    if (failure?.reason === 'CollectionRefused' && !isRefused) {
      isRefused = true;
      // Else the log has only the cause of the failure before it.
      if (attempt > 1) logFailure(failure.problem);
      refusals?.onRefused(resource, failure.problem);
    } else if (attempt === 0 && isRefused) {
      isRefused = false;
      refusals?.onAccepted(resource);
    }
  };
  return {
    /** Undefined once a watch has delivered something. */
    current: (): ListFailure | undefined => failure,
    onSnapshot: (snapshot: ListWatchSnapshot): void => {
      const { attempt, problem } = snapshot.context;
      const { attempt: attemptBefore, problem: problemBefore } = before;
      before = { attempt, problem };
      failure = failureIn(snapshot, failure);
      if (attempt > attemptBefore) onFailure();
      if (problem === '' && problemBefore !== '') onAnswer();
      reportRefusals(attempt);
      if (attempt > 0 && attemptBefore === 0) {
        logFailure(problem);
      } else if (attempt === 0 && attemptBefore > 0) {
        telemetry.log('info', 'List and watch recovered', { resource });
      }
    },
  };
};
