/**
 * Assigns machines to needs in one pure pass over demand and inventory.
 *
 * Promises: a need gets whole suitable machines until their sum covers its aggregate; a need with
 * `Same` gets all of them from one value of its label, or none; the need with the higher priority
 * chooses first and may preempt lower ones, but never takes a pinned machine; machines that a
 * cluster no longer needs are reclaimed.
 */
import { PenaltyBucket } from './gen/bigfleet/v1alpha1/capacity_pb.ts';
import { type AllocatableInventory, type Claim, claimKey } from './claims.ts';
import { domainOf, nextKind } from './placement.ts';
import type { FleetMachine } from './inventory.ts';
import type { MachineKind } from './machine-kind.ts';
import { suits } from './needs.ts';
import { addInto, covers } from './quantity.ts';

/** One action. */
export type Decision =
  | { readonly _tag: 'Bind'; readonly id: string; readonly claim: Claim }
  /** Provision it for a need. */
  | { readonly _tag: 'Order'; readonly id: string; readonly claim: Claim }
  /** Reassign it to another need of the same cluster. */
  | { readonly _tag: 'Reassign'; readonly id: string; readonly claim: Claim }
  /** Preempt a need of lower priority; the machine is reserved for this one. */
  | {
    readonly _tag: 'Preempt';
    readonly id: string;
    readonly claim: Claim;
    readonly graceSeconds: number;
  }
  | { readonly _tag: 'Reclaim'; readonly id: string; readonly graceSeconds: number }
  | { readonly _tag: 'Unpromise'; readonly id: string };

/** The outcome of a pass. */
export interface Allocation {
  readonly decisions: readonly Decision[];
  /** Keys of the claims whose machines, assigned ones included, cover them. */
  readonly satisfied: ReadonlySet<string>;
}

/** Grace of a reclaim that is not urgent (FLT-05). */
const VOLUNTARY_GRACE_SECONDS = 600;

/** Widest priority gap first. */
const PREEMPTION_GRACE = [
  { gap: 1_000_000, seconds: 10 },
  { gap: 100_000, seconds: 30 },
  { gap: 1000, seconds: 120 },
] as const;

/** The higher the preemptor's priority, the shorter the grace. */
export const preemptionGraceSeconds = (priority: number, victimPriority: number): number =>
  PREEMPTION_GRACE.find(({ gap }) => priority - victimPriority >= gap)?.seconds ??
    VOLUNTARY_GRACE_SECONDS;

/** A claim while machines are assigned to it. */
interface Filling {
  readonly claim: Claim;
  readonly key: string;
  readonly total: Map<string, bigint>;
  /** Kinds of its machines, one entry per machine. */
  readonly kinds: MachineKind[];
  /** Its surplus machines. */
  readonly surplus: FleetMachine[];
}

/** Sources of further machines: ids by kind, preferred source first. */
interface Source {
  readonly ids: (kind: MachineKind) => Iterable<string>;
  readonly count: (kind: MachineKind) => number;
  readonly decide: (id: string, claim: Claim) => Decision;
}

const covered = ({ total, claim }: Filling): boolean => covers(total, claim.need.aggregate);

const take = (filling: Filling, kind: MachineKind): void => {
  addInto(filling.total, kind.amounts);
  filling.kinds.push(kind);
};

/** Machines that cannot be reassigned count first, then as many of the others as are needed. */
const begin = (claim: Claim, inventory: AllocatableInventory): Filling => {
  const filling: Filling = {
    claim,
    key: claimKey(claim.cluster, claim.need.key),
    total: new Map(),
    kinds: [],
    surplus: [],
  };
  const serving = inventory.serving(claim.cluster, claim.need.key);
  for (const { state, kind } of serving) if (state === 'CONFIGURING') take(filling, kind);
  for (const machine of serving) {
    if (machine.state !== 'CONFIGURED') continue;
    if (covered(filling) && !machine.held) filling.surplus.push(machine);
    else take(filling, machine.kind);
  }
  return filling;
};

/** The state of one allocation pass. */
class Pass {
  readonly decisions: Decision[] = [];
  readonly #inventory: AllocatableInventory;
  readonly #kinds: readonly MachineKind[];
  readonly #taken = new Set<string>();
  readonly #surplus = new Map<string, FleetMachine[]>();

  constructor(inventory: AllocatableInventory) {
    this.#inventory = inventory;
    this.#kinds = [...inventory.kinds()];
  }

  begin(claim: Claim): Filling {
    const filling = begin(claim, this.#inventory);
    this.offer(claim.cluster, filling.surplus);
    for (const machine of this.#inventory.promised(filling.key)) {
      if (machine.state === 'CREATING' || machine.state === 'DRAINING') {
        take(filling, machine.kind);
      } else if (machine.state === 'IDLE' && claim.ready && !covered(filling)) {
        this.#bind(filling, machine.id, machine.kind);
      } else this.decisions.push({ _tag: 'Unpromise', id: machine.id });
    }
    return filling;
  }

  /** Machines of a cluster that none of its needs uses. */
  offer(cluster: string, machines: readonly FleetMachine[]): void {
    this.#surplus.set(cluster, [...this.#surplus.get(cluster) ?? [], ...machines]);
  }

  fill(filling: Filling, victims: () => readonly FleetMachine[]): void {
    const { claim } = filling;
    const suitable = this.#kinds.filter((kind) => suits(claim.need, kind));
    const sources = [
      this.#reassignable(claim.cluster),
      ...(claim.ready ? [this.#free('IDLE'), this.#free('SPECULATIVE')] : []),
    ];
    this.#attempt(filling, suitable, sources);
    if (covered(filling) || !claim.ready) return;
    this.#attempt(filling, suitable, [...sources, this.#preemptible(victims())]);
  }

  reclaimSurplus(): void {
    for (const machines of this.#surplus.values()) {
      for (const { id } of machines) {
        if (this.#taken.has(id)) continue;
        this.decisions.push({ _tag: 'Reclaim', id, graceSeconds: VOLUNTARY_GRACE_SECONDS });
      }
    }
  }

  #attempt(filling: Filling, kinds: readonly MachineKind[], sources: readonly Source[]): void {
    const allowed = this.#oneDomain(filling, kinds, sources);
    for (const source of sources) this.#draw(filling, allowed, source);
  }

  #bind(filling: Filling, id: string, kind: MachineKind): void {
    this.#taken.add(id);
    take(filling, kind);
    this.decisions.push({ _tag: 'Bind', id, claim: filling.claim });
  }

  /** For a need with `Same`, the kinds of one domain that can cover it, or none. */
  #oneDomain(
    filling: Filling,
    kinds: readonly MachineKind[],
    sources: readonly Source[],
  ): readonly MachineKind[] {
    const { sameKeys, aggregate } = filling.claim.need;
    if (sameKeys.length === 0) return kinds;
    const first = filling.kinds[0];
    const domains = first === undefined
      ? [...new Set(kinds.map((kind) => domainOf(kind, sameKeys)))].sort()
      : [domainOf(first, sameKeys)];
    for (const domain of domains) {
      const inside = kinds.filter((kind) => domainOf(kind, sameKeys) === domain);
      const potential = new Map(filling.total);
      for (const kind of inside) {
        const count = sources.reduce((sum, source) => sum + source.count(kind), 0);
        for (const [resource, amount] of kind.amounts) {
          potential.set(resource, (potential.get(resource) ?? 0n) + amount * BigInt(count));
        }
      }
      if (covers(potential, aggregate)) return inside;
    }
    return [];
  }

  #draw(filling: Filling, kinds: readonly MachineKind[], source: Source): void {
    const open = new Map(kinds.map((kind) => [kind, source.ids(kind)[Symbol.iterator]()]));
    while (!covered(filling) && open.size > 0) {
      const kind = nextKind(filling, [...open.keys()], kinds);
      const next = kind === undefined ? undefined : open.get(kind)?.next();
      if (kind === undefined || next === undefined) return;
      if (next.done) open.delete(kind);
      else if (!this.#taken.has(next.value)) {
        this.#taken.add(next.value);
        take(filling, kind);
        this.decisions.push(source.decide(next.value, filling.claim));
      }
    }
  }

  #among(machines: readonly FleetMachine[], decide: Source['decide']): Source {
    const left = (kind: MachineKind): readonly string[] =>
      machines.filter((machine) => machine.kind === kind && !this.#taken.has(machine.id))
        .map(({ id }) => id);
    return { ids: left, count: (kind) => left(kind).length, decide };
  }

  #reassignable(cluster: string): Source {
    return this.#among(
      this.#surplus.get(cluster) ?? [],
      (id, claim) => ({ _tag: 'Reassign', id, claim }),
    );
  }

  *#untaken(ids: Iterable<string>): Generator<string> {
    for (const id of ids) if (!this.#taken.has(id)) yield id;
  }

  #free(state: 'IDLE' | 'SPECULATIVE'): Source {
    const ids = (kind: MachineKind): Iterable<string> =>
      this.#untaken(this.#inventory.free(kind, state));
    const tag = state === 'IDLE' ? 'Bind' : 'Order';
    return {
      ids,
      count: (kind) => [...ids(kind)].length,
      decide: (id, claim) => ({ _tag: tag, id, claim }),
    };
  }

  #preemptible(victims: readonly FleetMachine[]): Source {
    return this.#among(victims, (id, claim) => ({
      _tag: 'Preempt',
      id,
      claim,
      graceSeconds: preemptionGraceSeconds(
        claim.need.wire.priority,
        this.#inventory.priorityOf(id) ?? 0,
      ),
    }));
  }
}

/** Machines that a claim may preempt, lowest priority first. */
const victimsOf = (
  claim: Claim,
  claims: readonly Claim[],
  inventory: AllocatableInventory,
): FleetMachine[] =>
  claims
    .filter(({ need: { wire } }) =>
      wire.priority < claim.need.wire.priority &&
      wire.interruptionPenaltyBucket !== PenaltyBucket.PENALTY_BUCKET_PINNED
    )
    .sort((left, right) =>
      left.need.wire.priority - right.need.wire.priority ||
      left.need.wire.interruptionPenaltyBucket - right.need.wire.interruptionPenaltyBucket
    )
    .flatMap(({ cluster, need }) => [...inventory.serving(cluster, need.key)])
    .filter(({ state, held }) => state === 'CONFIGURED' && !held);

/** Decides the actions for all claims. */
export const allocate = (claims: readonly Claim[], inventory: AllocatableInventory): Allocation => {
  const ordered = claims.toSorted((left, right) =>
    right.need.wire.priority - left.need.wire.priority
  );
  const pass = new Pass(inventory);
  const fillings = ordered.map((claim) => pass.begin(claim));
  for (const { cluster, machines } of inventory.unwanted()) pass.offer(cluster, machines);
  for (const filling of fillings) {
    if (covered(filling)) continue;
    pass.fill(filling, () => victimsOf(filling.claim, claims, inventory));
  }
  pass.reclaimSurplus();
  const satisfied = fillings.filter(covered).map(({ key }) => key);
  return { decisions: pass.decisions, satisfied: new Set(satisfied) };
};
