/**
 * A profile: the terms of requested capacity, without the amounts. Requests with equal profiles
 * form one need; the fleet names free capacity by the same text.
 */
import type { PenaltyBucket } from './penalty.ts';
import { compareText, escapeSeparators, requirementText } from './requirements.ts';
import type { Requirement } from './resources.ts';

/** How evenly the machines of a need must be spread. */
export interface TopologySpread {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
}

/** The terms of requested capacity; lists are in canonical order. */
export interface Profile {
  readonly requirements: readonly Requirement[];
  readonly priority: number;
  readonly spread: readonly TopologySpread[];
  readonly interruptionBucket: PenaltyBucket;
  readonly reclamationBucket: PenaltyBucket;
}

const SPREAD_NUMBERS = { DoNotSchedule: 1, ScheduleAnyway: 2 } as const;

/** `key:maxSkew:when;`: one spread in a profile's fingerprint. */
const spreadText = ({ topologyKey, maxSkew, whenUnsatisfiable }: TopologySpread): string =>
  `${escapeSeparators(topologyKey)}:${maxSkew}:${SPREAD_NUMBERS[whenUnsatisfiable]};`;

/** The spreads, deduplicated, by key and then by skew. */
export const canonicalSpread = (
  spread: readonly TopologySpread[],
): readonly TopologySpread[] =>
  [...new Map(spread.map((one) => [spreadText(one), one])).values()].sort((left, right) =>
    compareText(left.topologyKey, right.topologyKey) || left.maxSkew - right.maxSkew ||
    compareText(left.whenUnsatisfiable, right.whenUnsatisfiable)
  );

/** The text that equal profiles share (DEM-09). */
export const profileFingerprint = (profile: Profile): string =>
  `p=${profile.priority}|ipb=${profile.interruptionBucket}|rpb=${profile.reclamationBucket}` +
  `|reqs=${profile.requirements.map(requirementText).join('')}` +
  `|spr=${profile.spread.map(spreadText).join('')}`;
