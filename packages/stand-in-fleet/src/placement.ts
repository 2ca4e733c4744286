/** Chooses the kind of a need's next machine: even spread first, then lowest price. */
import type { Claim } from './claims.ts';
import type { MachineKind } from './machine-kind.ts';
import { type AcceptedNeed, hardSpread } from './needs.ts';

/** The label value that machines with `Same` must share. */
export const domainOf = ({ labels }: MachineKind, keys: readonly string[]): string =>
  keys.map((key) => labels[key] ?? '').join('\u0000');

/** A need and its machines. */
export interface Placed {
  readonly claim: Claim;
  readonly total: ReadonlyMap<string, bigint>;
  /** One entry per machine. */
  readonly kinds: readonly MachineKind[];
}

/** How many machines of a kind would cover the remainder. */
const machinesNeeded = (need: AcceptedNeed, { total }: Placed, kind: MachineKind): number => {
  let most = 1;
  for (const [resource, wanted] of need.aggregate) {
    const missing = wanted - (total.get(resource) ?? 0n);
    const each = kind.amounts.get(resource) ?? 0n;
    if (missing <= 0n) continue;
    if (each === 0n) return Number.POSITIVE_INFINITY;
    most = Math.max(most, Number((missing + each - 1n) / each));
  }
  return most;
};

/** The current and possible values of a spread label. */
interface Lie {
  readonly placed: readonly MachineKind[];
  readonly eligible: readonly MachineKind[];
}

/** The skew over one label after adding a machine of this kind; 0 is the emptiest value. */
const tilt = (
  kind: MachineKind,
  key: string,
  { placed, eligible }: Lie,
): number => {
  const counts = new Map(eligible.map(({ labels }) => [labels[key], 0]));
  for (const { labels } of placed) counts.set(labels[key], (counts.get(labels[key]) ?? 0) + 1);
  return (counts.get(kind.labels[key]) ?? 0) - Math.min(...counts.values());
};

/**
 * The kind of the next machine, out of `open`; `eligible` are all kinds that suit the need, over
 * whose labels it spreads. Undefined when none would satisfy the spread.
 */
export const nextKind = (
  placed: Placed,
  open: readonly MachineKind[],
  eligible: readonly MachineKind[],
): MachineKind | undefined => {
  const { need } = placed.claim;
  const spread = hardSpread(need);
  const lie = { placed: placed.kinds, eligible };
  const tiltOf = (kind: MachineKind): number =>
    spread.reduce(
      (sum, { topologyKey }) => sum + tilt(kind, topologyKey, lie),
      0,
    );
  const keepsSpread = (kind: MachineKind): boolean =>
    spread.every(({ topologyKey, maxSkew }) => tilt(kind, topologyKey, lie) < maxSkew);
  return open
    .filter((kind) => keepsSpread(kind))
    .map((kind) => ({
      kind,
      tilt: tiltOf(kind),
      cost: machinesNeeded(need, placed, kind) * kind.costPerHour,
    }))
    .sort((left, right) =>
      left.tilt - right.tilt || left.cost - right.cost ||
      (left.kind.key < right.kind.key ? -1 : 1)
    )[0]?.kind;
};
