/** What an allocation looks at: who wants what, and what there is. */
import type { FleetMachine } from './inventory.ts';
import type { MachineKind } from './machine-kind.ts';
import type { AcceptedNeed } from './needs.ts';

/** A need of a cluster. */
export interface Claim {
  readonly cluster: string;
  readonly need: AcceptedNeed;
  /** False while it gets no further machines: its cluster is away, or a pull has just failed. */
  readonly ready: boolean;
}

/** Names a claim among those of all clusters. */
export const claimKey = (cluster: string, need: string): string => `${cluster}\u0000${need}`;

/** The machines as an allocation sees them. */
export interface AllocatableInventory {
  readonly kinds: () => Iterable<MachineKind>;
  /** Free machines that are promised to nobody. */
  readonly free: (kind: MachineKind, state: 'IDLE' | 'SPECULATIVE') => Iterable<string>;
  /** Machines bound to a need, in the order of their ids. */
  readonly serving: (cluster: string, need: string) => readonly FleetMachine[];
  /** Machines on their way to a claim. */
  readonly promised: (claim: string) => readonly FleetMachine[];
  /** Running machines whose need is gone, by cluster. */
  readonly unwanted: () => Iterable<
    { readonly cluster: string; readonly machines: readonly FleetMachine[] }
  >;
  /** The priority of the need that a machine serves. */
  readonly priorityOf: (id: string) => number | undefined;
}
