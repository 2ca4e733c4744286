/**
 * What a pod asks for by itself, before defaults of its PriorityClass: a CapacityRequest's spec but
 * for the penalties, and what could not be put into it.
 *
 * Promises: total; plain data, the same for all pods of one workload, so that one copy serves them.
 */
import type { Field, Problem } from '../demand/field.ts';
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

/** Something about a pod that its CapacityRequest does not say. */
export interface PodWarning extends Problem {
  readonly reason: 'DemandLeftOut' | 'PenaltyUnreadable';
}

/** What a pod asks for. */
export interface PodAsk {
  readonly requirements: readonly RequirementFields[];
  readonly resources: ResourceMap;
  readonly priority: number;
  /** The class that its defaults come from; empty when it has none. */
  readonly priorityClass: string;
  readonly topologySpread: readonly TopologySpread[];
  readonly coLocation: PodCoLocation | null;
  /** What its annotations give. */
  readonly penalties: Penalties;
  readonly warnings: readonly PodWarning[];
}

const warningsOf = (
  reason: PodWarning['reason'],
  findings: readonly Problem[],
): readonly PodWarning[] => findings.map((finding) => ({ reason, ...finding }));

/** What the pod `raw` asks for. */
export const podAsk = (raw: unknown): PodAsk => {
  const findings: Problem[] = [];
  const badPenalties: Problem[] = [];
  const spec: Field = { path: 'spec', value: valueAt(raw, 'spec'), findings };
  const namespace = textAt(raw, 'metadata', 'namespace') ?? '';
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
