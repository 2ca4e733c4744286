/**
 * One row of a roll-up: all the capacity that is wanted on the same terms.
 *
 * Everything in it is canonical: two needs with equal `key` have equal terms, and a need whose
 * requests did not change is the same object in the next roll-up.
 */
import type { PenaltyBucket } from '../penalty.ts';
import type { Requirement, ResourceMap } from '../resources.ts';
import type { TopologySpread } from '../profile.ts';

/** Capacity that is wanted on one set of terms. */
export interface Need {
  /** The aggregation key: unique in a roll-up, stable over time, and what needs are ordered by. */
  readonly key: string;
  /** In canonical order; ends with the `Same` requirement when the need is co-located. */
  readonly requirements: readonly Requirement[];
  /** Exact sums in Kubernetes' canonical form. */
  readonly aggregateResources: ResourceMap;
  /** The largest single request, resource by resource. */
  readonly minUnit: ResourceMap;
  readonly priority: number;
  /** Only `DoNotSchedule`: a wish (`ScheduleAnyway`) binds nobody and is dropped. */
  readonly spread: readonly TopologySpread[];
  readonly interruptionBucket: PenaltyBucket;
  readonly reclamationBucket: PenaltyBucket;
  /** Opaque co-location identity; empty for a plain need. */
  readonly group: string;
  /** How many CapacityRequests are in it. Not sent; for logs and for finding what made it big. */
  readonly requests: number;
}
