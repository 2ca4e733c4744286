/**
 * One row of a roll-up: all capacity requested on the same terms.
 *
 * Everything in it is canonical: needs with equal `key` have equal terms, and an unchanged need is
 * the same object in the next roll-up.
 */
import type { PenaltyBucket } from '../penalty.ts';
import type { Requirement, ResourceMap } from '../resources.ts';
import type { TopologySpread } from '../profile.ts';

/** Capacity requested on one set of terms. */
export interface Need {
  /** The aggregation key: unique in a roll-up, stable over time, and the sort key of needs. */
  readonly key: string;
  /** In canonical order; ends with the `Same` requirement when the need is co-located. */
  readonly requirements: readonly Requirement[];
  /** Exact sums in Kubernetes' canonical form. */
  readonly aggregateResources: ResourceMap;
  /** The largest single request, resource by resource. */
  readonly minUnit: ResourceMap;
  readonly priority: number;
  /** Only `DoNotSchedule`: `ScheduleAnyway` is a preference and is dropped. */
  readonly spread: readonly TopologySpread[];
  readonly interruptionBucket: PenaltyBucket;
  readonly reclamationBucket: PenaltyBucket;
  /** Opaque co-location identity; empty for a plain need. */
  readonly group: string;
  /** The number of CapacityRequests in it. Not sent; for logs and diagnosis. */
  readonly requests: number;
}
