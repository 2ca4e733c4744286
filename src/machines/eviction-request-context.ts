/** The types of the `evictionRequest` statechart: input, context and events. */
import type { EvictionProgress } from '../domain/eviction-requests/imperative-report.ts';
import type { ObservedRequest } from '../domain/eviction-requests/observed-request.ts';
import type {
  RequestFacts,
  RequestStep,
  StepOptions,
} from '../domain/eviction-requests/request-phase.ts';
import type { RequestWrite } from '../domain/eviction-requests/request-writes.ts';
import type { TargetPod } from '../domain/eviction-requests/target-pod.ts';
import type { ResourceVersion } from '../domain/ids.ts';
import type { WriteOutcome } from '../domain/object-write.ts';
import type { Seed } from '../domain/random.ts';
import type { ObjectWriterContext } from './object-writer.ts';

/** The answer to a write. */
export type EvictionRequestAnswer = WriteOutcome<ObservedRequest> & {
  /** The time of day at which it came; absent when the write threw. */
  readonly nowMs?: number;
};

/** A write: the request as it is, and what is written to it. */
export interface EvictionRequestAct {
  readonly request: ObservedRequest;
  readonly write: RequestWrite;
}

export interface EvictionRequestInput extends Omit<StepOptions, 'nowMs'> {
  readonly request: ObservedRequest;
  readonly pod: TargetPod | null;
  readonly progress: EvictionProgress;
  /** From the final condition to the deletion; null: never. */
  readonly ttlMs: number | null;
  /** The time of day. */
  readonly nowMs: number;
  readonly seed: Seed;
}

export interface EvictionRequestContext
  extends
    Pick<EvictionRequestInput, 'timing' | 'ttlMs' | 'progress' | 'nowMs'>,
    ObjectWriterContext<RequestWrite> {
  readonly facts: RequestFacts;
  readonly step: RequestStep;
  /** When time alone changes the step or the write; null when it never does. */
  readonly checkAtMs: number | null;
  /** What the running timer was set from and to. */
  readonly timer: { readonly fromMs: number; readonly toMs: number } | null;
  /** Refused evictions before those that `progress` counts. */
  readonly refusedBefore: number;
  /** When this process last wrote a report of the imperative eviction. */
  readonly reportedMs: number | null;
  /** When this process last wrote the status, reports included. */
  readonly statusWrittenMs: number | null;
  /** The request was deleted. */
  readonly vanished: boolean;
  /** The request of the write in flight, as it was at its start. */
  readonly base: ResourceVersion | null;
  /** The last write that was sent, also when another one is wanted by now. */
  readonly sentWrite: RequestWrite | null;
}

interface Observed {
  /** The time of day of the observation. */
  readonly nowMs: number;
}

export type EvictionRequestEvent =
  | { readonly type: 'request.observed'; readonly request: ObservedRequest } & Observed
  | { readonly type: 'request.vanished' }
  /** Null when there is no pod of that name. */
  | { readonly type: 'pod.observed'; readonly pod: TargetPod | null } & Observed
  | { readonly type: 'eviction.observed'; readonly progress: EvictionProgress } & Observed
  | { readonly type: 'slot.acquired' };
