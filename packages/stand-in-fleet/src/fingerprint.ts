/** Identifiers of a profile: its fingerprint and its `supersedes_key`. */
import type {
  CapacityNeed,
  NodeSelectorRequirement,
  TopologySpread,
} from './gen/bigfleet/v1alpha1/capacity_pb.ts';

/** The fields of a need that make up its profile. */
export type Profile = Pick<
  CapacityNeed,
  | 'requirements'
  | 'priority'
  | 'spread'
  | 'interruptionPenaltyBucket'
  | 'reclamationPenaltyBucket'
>;

const byText = (left: string, right: string): number => left < right ? -1 : left > right ? 1 : 0;

const requirementText = ({ key, operator, values }: NodeSelectorRequirement): string =>
  `${key}:${operator}:${values.toSorted(byText).join(',')};`;

const spreadText = ({ topologyKey, maxSkew, whenUnsatisfiable }: TopologySpread): string =>
  `${topologyKey}:${maxSkew}:${whenUnsatisfiable};`;

/** One line, equal for equal profiles, such as `p=0|ipb=1|rpb=0|reqs=zone:1:a,b;|spr=` (DEM-09). */
export const profileFingerprint = (profile: Profile): string => {
  const requirements = profile.requirements
    .toSorted((left, right) => byText(left.key, right.key) || left.operator - right.operator)
    .map(requirementText);
  const spread = profile.spread
    .toSorted((left, right) => byText(left.topologyKey, right.topologyKey))
    .map(spreadText);
  return `p=${profile.priority}|ipb=${profile.interruptionPenaltyBucket}` +
    `|rpb=${profile.reclamationPenaltyBucket}|reqs=${requirements.join('')}|spr=${spread.join('')}`;
};

/** `supersedes_key` of the `AvailableCapacityUpdate`s of a profile. */
export const availableKey = (fingerprint: string): string => `available:${fingerprint}`;
