/** The types of the `podDemand` statechart: input, context and events. */
import type { ResourceVersion, Uid } from '../domain/ids.ts';
import type { DemandFacts, PendingRequestWrite } from '../domain/pod-demand/demand-facts.ts';
import type { OwnedRequest, RequestedPod } from '../domain/pod-demand/owned-request.ts';
import type { RequestText } from '../domain/pod-demand/request-text.ts';
import type { Seed } from '../domain/random.ts';
import type { ObjectWriterContext } from './object-writer.ts';

/** A write: its pod, the wanted text, and the request. */
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
  /** UIDs of deleted requests: observations of them are echoes. */
  readonly gone: readonly Uid[];
  /** The request of the write in flight, as it was at its start. */
  readonly base: { readonly uid: Uid; readonly resourceVersion: ResourceVersion } | null;
}

export type PodDemandEvent =
  /** The wanted state and text of the pod's requests. */
  | {
    readonly type: 'pod.observed';
    /** The statechart itself decides when a deleted pod is overdue. */
    readonly status: Exclude<DemandFacts['status'], 'Overdue'>;
    readonly text: RequestText;
  }
  | { readonly type: 'request.observed'; readonly request: OwnedRequest }
  | { readonly type: 'request.vanished'; readonly uid: Uid }
  | { readonly type: 'slot.acquired' };
