/** The inputs of an allocation pass: claims and machines. */
import type { FleetMachine } from './inventory.ts';
import type { MachineKind } from './machine-kind.ts';
import type { AcceptedNeed } from './needs.ts';

/** A need of a cluster. */
export interface Claim {
  readonly cluster: string;
  readonly need: AcceptedNeed;
  /** False while its cluster is disconnected or after a failed pull: it gets no machines. */
  readonly ready: boolean;
}

/** Unique among the claims of all clusters. */
export const claimKey = (cluster: string, need: string): string => `${cluster}\u0000${need}`;

/** The machines as an allocation pass sees them. */
export interface AllocatableInventory {
  readonly kinds: () => Iterable<MachineKind>;
  /** Free, unreserved machines. */
  readonly free: (kind: MachineKind, state: 'IDLE' | 'SPECULATIVE') => Iterable<string>;
  /** Machines bound to a need, in the order of their ids. */
  readonly serving: (cluster: string, need: string) => readonly FleetMachine[];
  /** Machines assigned to a claim but not running yet. */
  readonly promised: (claim: string) => readonly FleetMachine[];
  /** Running machines whose need is gone, by cluster. */
  readonly unwanted: () => Iterable<
    { readonly cluster: string; readonly machines: readonly FleetMachine[] }
  >;
  /** The priority of the need that a machine serves. */
  readonly priorityOf: (id: string) => number | undefined;
}
