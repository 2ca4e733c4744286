/**
 * The demand of a pod before the defaults of its PriorityClass: a CapacityRequest's spec without
 * the penalties, and what it cannot express.
 *
 * Promises: total; plain data, equal for all pods of one workload, so that they share one copy.
 */
import { child, type Field, find, items, type Problem } from '../demand/field.ts';
import { asNumber, textAt, valueAt } from '../json.ts';
import type { TopologySpread } from '../profile.ts';
import type { ResourceMap } from '../resources.ts';
import { annotatedPenalties, type Penalties } from './penalties.ts';
import {
  type PodCoLocation,
  podCoLocation,
  podSpread,
  type RequirementFields,
  requirementFields,
} from './pod-placement.ts';
import { podRequirements } from './pod-requirements.ts';
import { podResources } from './pod-resources.ts';

/** A part of a pod that its CapacityRequest cannot express. */
export interface PodWarning extends Problem {
  readonly reason: 'DemandLeftOut' | 'PenaltyUnreadable';
}

/** The demand of a pod. */
export interface PodAsk {
  readonly requirements: readonly RequirementFields[];
  readonly resources: ResourceMap;
  readonly priority: number;
  /** The class of its defaults; empty without one. */
  readonly priorityClass: string;
  readonly topologySpread: readonly TopologySpread[];
  readonly coLocation: PodCoLocation | null;
  /** The penalties in its annotations. */
  readonly penalties: Penalties;
  readonly warnings: readonly PodWarning[];
}

const warningsOf = (
  reason: PodWarning['reason'],
  findings: readonly Problem[],
): readonly PodWarning[] => findings.map((finding) => ({ reason, ...finding }));

/** The devices of dynamic resource allocation: no resource of a CapacityRequest. */
const findDeviceClaims = (spec: Field): void => {
  const claims = child(spec, 'resourceClaims');
  if (items(claims).length === 0) return;
  find(
    claims,
    'claims devices, which a CapacityRequest cannot express: ignored',
    'Select machines with such devices by a nodeSelector',
  );
};

/** The demand of the pod `raw`. */
export const podAsk = (raw: unknown): PodAsk => {
  const findings: Problem[] = [];
  const badPenalties: Problem[] = [];
  const spec: Field = { path: 'spec', value: valueAt(raw, 'spec'), findings };
  const namespace = textAt(raw, 'metadata', 'namespace') ?? '';
  findDeviceClaims(spec);
  return {
    requirements: podRequirements(spec).map(requirementFields),
    resources: podResources(raw),
    priority: asNumber(valueAt(raw, 'spec', 'priority')) ?? 0,
    priorityClass: textAt(raw, 'spec', 'priorityClassName') ?? '',
    topologySpread: podSpread(spec),
    coLocation: podCoLocation(spec, namespace) ?? null,
    penalties: annotatedPenalties(raw, badPenalties),
    warnings: [
      ...warningsOf('DemandLeftOut', findings),
      ...warningsOf('PenaltyUnreadable', badPenalties),
    ],
  };
};
