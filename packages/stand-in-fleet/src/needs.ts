/**
 * Parses roll-ups, all or nothing, and guards against vanishing demand.
 *
 * Promises: one unparseable quantity or one unknown bucket rejects the whole roll-up; a drop from
 * many rows to hardly any is accepted only after several consecutive roll-ups.
 */
import {
  type CapacityNeed,
  type ClusterCapacityNeeds,
  NodeSelectorRequirement_Operator as Operator,
  PenaltyBucket,
  TopologySpread_WhenUnsatisfiable as WhenUnsatisfiable,
} from './gen/bigfleet/v1alpha1/capacity_pb.ts';
import { profileFingerprint } from './fingerprint.ts';
import type { MachineKind } from './machine-kind.ts';
import { type Amounts, covers, isUnreadable, readAmounts } from './quantity.ts';

/** A valid need. */
export interface AcceptedNeed {
  /** Profile and group: identify the need across roll-ups. */
  readonly key: string;
  readonly fingerprint: string;
  readonly wire: CapacityNeed;
  readonly aggregate: Amounts;
  readonly minUnit: Amounts;
  /** Labels for which all its machines must share one value. */
  readonly sameKeys: readonly string[];
  /** Wall-clock milliseconds. */
  readonly arrivedAt: number;
}

/** The result of parsing a roll-up. */
export type RollupReading =
  | { readonly _tag: 'Good'; readonly needs: readonly AcceptedNeed[] }
  | { readonly _tag: 'Rejected'; readonly why: string };

const inRange = (bucket: PenaltyBucket): boolean =>
  bucket >= 0 && bucket <= PenaltyBucket.PENALTY_BUCKET_PINNED;

const readNeed = (wire: CapacityNeed, arrivedAt: number): AcceptedNeed | string => {
  const aggregate = readAmounts(wire.aggregateResources);
  if (isUnreadable(aggregate)) {
    return `aggregate_resources[${aggregate.resource}] "${aggregate.text}" is no quantity`;
  }
  const minUnit = readAmounts(wire.minUnit);
  if (isUnreadable(minUnit)) {
    return `min_unit[${minUnit.resource}] "${minUnit.text}" is no quantity`;
  }
  for (const bucket of [wire.interruptionPenaltyBucket, wire.reclamationPenaltyBucket]) {
    if (!inRange(bucket)) return `penalty bucket ${bucket} does not exist`;
  }
  const fingerprint = profileFingerprint(wire);
  return {
    key: `${fingerprint}\u0000${wire.group}`,
    fingerprint,
    wire,
    aggregate,
    minUnit,
    sameKeys: wire.requirements
      .filter(({ operator }) => operator === Operator.SAME)
      .map(({ key }) => key),
    arrivedAt,
  };
};

/** Parses a roll-up that arrived at `arrivedAt` from the cluster whose Hello named `clusterId`. */
export const readRollup = (
  rollup: ClusterCapacityNeeds,
  clusterId: string,
  arrivedAt: number,
): RollupReading => {
  if (rollup.clusterId !== clusterId) {
    return { _tag: 'Rejected', why: `it is for cluster "${rollup.clusterId}"` };
  }
  const needs: AcceptedNeed[] = [];
  for (const [index, wire] of rollup.needs.entries()) {
    const need = readNeed(wire, arrivedAt);
    if (typeof need === 'string') return { _tag: 'Rejected', why: `need ${index}: ${need}` };
    needs.push(need);
  }
  return { _tag: 'Good', needs };
};

const matchesOne = (
  labels: Readonly<Record<string, string>>,
  { key, operator, values }: CapacityNeed['requirements'][number],
): boolean => {
  const value = labels[key];
  switch (operator) {
    case Operator.IN:
      return value !== undefined && values.includes(value);
    case Operator.NOT_IN:
      return value === undefined || !values.includes(value);
    case Operator.EXISTS:
    case Operator.SAME:
      return value !== undefined;
    case Operator.DOES_NOT_EXIST:
      return value === undefined;
    default:
      return false;
  }
};

/** Whether machines of a kind suit a need: labels match and the largest unit fits on one. */
export const suits = (need: AcceptedNeed, kind: MachineKind): boolean =>
  covers(kind.amounts, need.minUnit) &&
  need.wire.requirements.every((requirement) => matchesOne(kind.labels, requirement)) &&
  hardSpread(need).every(({ topologyKey }) => kind.labels[topologyKey] !== undefined);

/** The spread constraints that must hold. */
export const hardSpread = (need: AcceptedNeed): CapacityNeed['spread'] =>
  need.wire.spread.filter(({ whenUnsatisfiable }) =>
    whenUnsatisfiable === WhenUnsatisfiable.DO_NOT_SCHEDULE
  );

/** Demand of at least this many rows is guarded. */
export const GUARDED_ROWS = 10;
/** A drop below one in this many is doubted. */
export const GUARD_FACTOR = 10;
/** This many consecutive doubtful roll-ups are accepted. */
export const GUARD_STREAK = 3;

/** The guard's verdict on a roll-up. */
export interface GuardVerdict {
  readonly apply: boolean;
  /** Consecutive doubtful roll-ups, this one included. */
  readonly streak: number;
}

/** Judges a roll-up of `rows` needs after an accepted one of `acceptedRows`. */
export const guard = (acceptedRows: number, rows: number, streak: number): GuardVerdict => {
  if (acceptedRows < GUARDED_ROWS || rows * GUARD_FACTOR >= acceptedRows) {
    return { apply: true, streak: 0 };
  }
  return streak + 1 >= GUARD_STREAK
    ? { apply: true, streak: 0 }
    : { apply: false, streak: streak + 1 };
};
