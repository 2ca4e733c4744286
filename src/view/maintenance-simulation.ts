/** What a simulated maintenance did: its nodes in order, what was unavailable, and what is left. */
import type { PreviewFinding } from '../domain/node-maintenance/preview.ts';

/** A node, in the order in which nodes were admitted. */
export interface SimulatedNode {
  readonly node: string;
  readonly wave: number;
  readonly beganSeconds: number;
  /** When its last pod that must leave had left; null: never. */
  readonly endedSeconds: number | null;
}

/** A workload or a budget that had fewer pods than at the start. */
export interface SimulatedShortfall {
  /** `Deployment ns/web`, `PodDisruptionBudget ns/web`. */
  readonly object: string;
  /** Ready pods at the start. */
  readonly ready: number;
  /** What its spec wants, or what the budget requires. */
  readonly wanted: number;
  readonly lowest: number;
  /** How long it had the lowest number. */
  readonly lowestSeconds: number;
  /** How long it had fewer than at the start. */
  readonly belowSeconds: number;
}

/** Pods of one owner that found no node for a while. */
export interface SimulatedUnplaced {
  readonly owner: string;
  readonly pods: number;
  /** Those that found none until the end. */
  readonly left: number;
  /** The longest wait. */
  readonly seconds: number;
  /** In the words of the scheduler. */
  readonly message: string;
}

/** The outcome of a simulation. */
export interface MaintenanceSimulationView {
  /** False: nothing moved any more. */
  readonly drained: boolean;
  readonly seconds: number;
  readonly podStartupSeconds: number;
  /** Null: the termination grace of each pod. */
  readonly podShutdownSeconds: number | null;
  readonly nodes: readonly SimulatedNode[];
  readonly shortfalls: readonly SimulatedShortfall[];
  readonly unplaced: readonly SimulatedUnplaced[];
  /** What held pods back at the end. */
  readonly blockers: readonly PreviewFinding[];
  /** What the simulation does not know. */
  readonly unknown: readonly string[];
}

/** Whether nothing stood in the way. */
export const isSmooth = ({ drained, unplaced }: MaintenanceSimulationView): boolean =>
  drained && unplaced.every(({ left }) => left === 0);
