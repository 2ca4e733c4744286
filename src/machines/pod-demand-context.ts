/** What the `podDemand` statechart is given, knows and observes. */
import type { ResourceVersion, Uid } from '../domain/ids.ts';
import type { DemandFacts, PendingRequestWrite } from '../domain/pod-demand/demand-facts.ts';
import type { OwnedRequest, RequestedPod } from '../domain/pod-demand/owned-request.ts';
import type { RequestText } from '../domain/pod-demand/request-text.ts';
import type { Seed } from '../domain/random.ts';
import type { ObjectWriterContext } from './object-writer.ts';

/** A write: for which pod, to say what, and which request it is about. */
export interface PodRequestAct {
  readonly pod: RequestedPod;
  readonly text: RequestText;
  /** Null for a creation. */
  readonly request: OwnedRequest | null;
}

export interface PodDemandInput {
  readonly pod: RequestedPod;
  readonly facts: DemandFacts;
  readonly seed: Seed;
}

export interface PodDemandContext extends PodDemandInput, ObjectWriterContext<PendingRequestWrite> {
  /** UIDs of requests that are known to be gone: what still shows them is an echo. */
  readonly gone: readonly Uid[];
  /** The request that the write under way is about, as it was then. */
  readonly base: { readonly uid: Uid; readonly resourceVersion: ResourceVersion } | null;
}

export type PodDemandEvent =
  /** What is to become of the pod's requests, and what they are to say. */
  | {
    readonly type: 'pod.observed';
    /** Whether a pod that is gone is overdue is decided by the statechart. */
    readonly status: Exclude<DemandFacts['status'], 'Overdue'>;
    readonly text: RequestText;
  }
  | { readonly type: 'request.observed'; readonly request: OwnedRequest }
  | { readonly type: 'request.vanished'; readonly uid: Uid }
  | { readonly type: 'slot.acquired' };
