/** The types of the `nodeMaintenance` statechart, and how facts and answers reach its context. */
import {
  type ComputedPreview,
  type MaintenanceFacts,
  type MaintenancePhase,
  maintenanceStep,
  type MaintenanceWrite,
  type ObservedNodes,
} from '../domain/node-maintenance/maintenance-step.ts';
import type { ObservedMaintenance } from '../domain/node-maintenance/observed-maintenance.ts';
import type { ObservedWindow } from '../domain/node-maintenance/window.ts';
import type { ResourceVersion } from '../domain/ids.ts';
import type { WriteOutcome } from '../domain/object-write.ts';
import type { Seed } from '../domain/random.ts';
import { isOlder } from '../domain/resource-versions.ts';
import { afterWrite, type ObjectWriterContext } from './object-writer.ts';

/** The answer to a write. */
export type MaintenanceOutcome = WriteOutcome<ObservedMaintenance>;

export interface NodeMaintenanceInput extends Omit<MaintenanceFacts, 'preview' | 'window'> {
  /** The time of day. */
  readonly nowMs: number;
  readonly seed: Seed;
}

export interface NodeMaintenanceContext
  extends MaintenanceFacts, ObjectWriterContext<MaintenanceWrite> {
  readonly nowMs: number;
  readonly phase: MaintenancePhase;
  /** The object was deleted. */
  readonly vanished: boolean;
  /** The object of the write in flight, as it was at its start. */
  readonly base: ResourceVersion | null;
}

/** A write: the object as it is, and what is written to it. */
export interface NodeMaintenanceAct {
  readonly maintenance: ObservedMaintenance;
  readonly write: MaintenanceWrite;
}

export type NodeMaintenanceEvent =
  | {
    readonly type: 'maintenance.observed';
    readonly maintenance: ObservedMaintenance;
    /** The time of day. */
    readonly nowMs: number;
  }
  | { readonly type: 'maintenance.vanished' }
  | { readonly type: 'nodes.observed'; readonly observed: ObservedNodes; readonly nowMs: number }
  | { readonly type: 'preview.computed'; readonly computed: ComputedPreview }
  /** The window of a spec, as it is now. */
  | { readonly type: 'window.observed'; readonly window: ObservedWindow }
  | { readonly type: 'slot.acquired' };

/** One kind of event. */
export type MaintenanceEvent<Type extends NodeMaintenanceEvent['type']> = Extract<
  NodeMaintenanceEvent,
  { readonly type: Type }
>;

/** What follows from the facts. */
export const derived = (context: NodeMaintenanceContext): NodeMaintenanceContext => {
  const { phase, write } = maintenanceStep(context, context.nowMs);
  return { ...context, phase, pendingWrite: context.vanished ? null : write };
};

/** The context after an observation; the write in flight may not be the wanted one any more. */
export const observed = (
  context: NodeMaintenanceContext,
  change: Partial<NodeMaintenanceContext>,
): NodeMaintenanceContext => {
  const nowMs = Math.max(context.nowMs, change.nowMs ?? 0);
  return { ...derived({ ...context, ...change, nowMs }), sent: null };
};

/** The context after an observation of the object; an older one changes nothing. */
export const withMaintenance = (
  context: NodeMaintenanceContext,
  { maintenance, nowMs }: MaintenanceEvent<'maintenance.observed'>,
): Partial<NodeMaintenanceContext> => {
  const known = context.maintenance.resourceVersion;
  return isOlder(maintenance.resourceVersion, known)
    ? {}
    : observed(context, { maintenance, nowMs });
};

/** The context after the answer to the write in flight. */
export const answered = (
  context: NodeMaintenanceContext,
  outcome: MaintenanceOutcome,
): NodeMaintenanceContext => {
  const { maintenance, base } = context;
  const isNewer = outcome._tag === 'Written' &&
    !isOlder(outcome.current.resourceVersion, maintenance.resourceVersion);
  const next = derived({
    ...context,
    maintenance: isNewer ? outcome.current : maintenance,
    vanished: context.vanished || outcome._tag === 'Absent',
  });
  const tries = afterWrite({ ...context, version: base }, outcome, next.pendingWrite);
  return { ...next, ...tries };
};
