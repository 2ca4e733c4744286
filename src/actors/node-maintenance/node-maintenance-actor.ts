/**
 * The `nodeMaintenance` statechart with its writes to the API server and its Events.
 *
 * Promises: what may be done to the Nodes of a maintenance follows from its statechart only.
 */
import { fromPromise } from 'xstate';
import type { EventNote, RecordEvent } from '../../api/event-note.ts';
import { LIFECYCLE_GROUP_VERSION } from '../../domain/api-group.ts';
import { maintenanceOwner } from '../../domain/drain/cordon.ts';
import type { ObservedNodes } from '../../domain/node-maintenance/maintenance-step.ts';
import type { DrainTargets } from '../../domain/node-maintenance/drain-targets.ts';
import type { ObservedMaintenance } from '../../domain/node-maintenance/observed-maintenance.ts';
import type { WriteOutcome } from '../../domain/object-write.ts';
import { closedWindowText } from '../../domain/node-maintenance/window.ts';
import { NodeMaintenances } from '../../effects/node-maintenance.ts';
import { nodeMaintenance } from '../../machines/node-maintenance.ts';
import type {
  NodeMaintenanceAct,
  NodeMaintenanceContext,
} from '../../machines/node-maintenance-context.ts';
import { warningAggregator } from '../../streams/warning-aggregator.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type EffectRuntime, type WriteInFlight, WRITES_STOPPED } from '../actor-logic.ts';
import { type ActorRegistry, actorRegistry, innermostState } from '../actor-registry.ts';

/** The actions of the statechart. */
export interface NodeMaintenanceActions {
  readonly requestSlot: (context: NodeMaintenanceContext) => void;
  readonly recordRefused: (context: NodeMaintenanceContext) => void;
  readonly recordFailing: (context: NodeMaintenanceContext) => void;
  readonly recordWindowClosed: (context: NodeMaintenanceContext) => void;
  readonly recordWindowMalformed: (context: NodeMaintenanceContext) => void;
  readonly recordCrossed: (context: NodeMaintenanceContext) => void;
  readonly recordYielding: (context: NodeMaintenanceContext) => void;
  readonly yieldNode: (context: NodeMaintenanceContext) => void;
  readonly drainAgain: (context: NodeMaintenanceContext) => void;
  readonly beginNodes: (context: NodeMaintenanceContext) => void;
  readonly withholdNodes: (context: NodeMaintenanceContext) => void;
  readonly requestWindow: (context: NodeMaintenanceContext) => void;
  readonly cordonNodes: (context: NodeMaintenanceContext) => void;
  readonly drainNodes: (context: NodeMaintenanceContext) => void;
  readonly releaseNodes: (context: NodeMaintenanceContext) => void;
  readonly requestPreview: (context: NodeMaintenanceContext) => void;
}

/** The statechart, provided once for all maintenances. */
export const provideNodeMaintenance = (
  runtime: EffectRuntime<NodeMaintenances>,
  actions: NodeMaintenanceActions,
  inFlight: WriteInFlight,
): typeof nodeMaintenance => {
  const write = fromPromise<WriteOutcome<ObservedMaintenance>, NodeMaintenanceAct>(
    ({ input, signal }) =>
      runtime.runPromise(
        NodeMaintenances.use((service) => inFlight(service.write(input.maintenance, input.write))),
        { signal },
      ),
  );
  return nodeMaintenance.provide({
    actors: {
      addFinalizer: write,
      completeStage: write,
      setStatus: write,
      removeFinalizer: write,
    },
    actions: {
      requestSlot: ({ context }) => actions.requestSlot(context),
      recordRefused: ({ context }) => actions.recordRefused(context),
      recordFailing: ({ context }) => actions.recordFailing(context),
      recordWindowClosed: ({ context }) => actions.recordWindowClosed(context),
      recordWindowMalformed: ({ context }) => actions.recordWindowMalformed(context),
      recordCrossed: ({ context }) => actions.recordCrossed(context),
      recordYielding: ({ context }) => actions.recordYielding(context),
      yieldNode: ({ context }) => actions.yieldNode(context),
      drainAgain: ({ context }) => actions.drainAgain(context),
      beginNodes: ({ context }) => actions.beginNodes(context),
      withholdNodes: ({ context }) => actions.withholdNodes(context),
      requestWindow: ({ context }) => actions.requestWindow(context),
      cordonNodes: ({ context }) => actions.cordonNodes(context),
      drainNodes: ({ context }) => actions.drainNodes(context),
      releaseNodes: ({ context }) => actions.releaseNodes(context),
      requestPreview: ({ context }) => actions.requestPreview(context),
    },
  });
};

/** The object that an Event is about. */
const regarding = (
  { name, uid }: Pick<ObservedMaintenance, 'name' | 'uid'>,
): EventNote['regarding'] => ({
  apiVersion: LIFECYCLE_GROUP_VERSION,
  kind: 'NodeMaintenance',
  name,
  uid,
});

/** The Events of maintenances. */
export const maintenanceEvents = (
  { telemetry, time }: Pick<ActorEnvironment<never>, 'telemetry' | 'time'>,
  record: RecordEvent,
) => {
  const warn = warningAggregator(telemetry, time, 'Cannot write NodeMaintenances');
  const recordProblem =
    (reason: EventNote['reason']) => ({ maintenance, problem }: NodeMaintenanceContext): void => {
      warn({ name: maintenance.name, reason, problem });
      record({ regarding: regarding(maintenance), reason, note: `Cannot write it: ${problem}` });
    };
  return {
    recordRefused: recordProblem('NodeMaintenanceRefused'),
    recordFailing: recordProblem('NodeMaintenanceFailing'),
    recordWindowClosed: (context: NodeMaintenanceContext): void =>
      record({
        regarding: regarding(context.maintenance),
        reason: 'MaintenanceWindowClosed',
        note: `No Node begins, those under way are finished. ${closedWindowText(context)}`,
      }),
    recordWindowMalformed: (context: NodeMaintenanceContext): void =>
      record({
        regarding: regarding(context.maintenance),
        reason: 'MaintenanceWindowMalformed',
        note: `No Node begins. ${closedWindowText(context)}`,
      }),
    recordCrossed: ({ maintenance, observed }: NodeMaintenanceContext): void =>
      record({
        regarding: regarding(maintenance),
        reason: 'MaintenanceCrossed',
        note: observed.crossing?.text ?? '',
      }),
    recordYielding: ({ maintenance, observed }: NodeMaintenanceContext): void => {
      const node = observed.nodes.find(({ state }) => state === 'Yielding');
      record({
        regarding: regarding(maintenance),
        reason: 'MaintenanceYielding',
        note: `Node "${node?.name ?? ''}": ${node?.drainMessage ?? ''}`,
      });
    },
    recordTooManyNodes: (maintenance: ObservedMaintenance, note: string): void =>
      record({ regarding: regarding(maintenance), reason: 'MaintenanceTooManyNodes', note }),
    recordUncordoned: (maintenance: ObservedMaintenance, node: string, times: number): void =>
      record({
        regarding: regarding(maintenance),
        reason: 'MaintenanceUncordoned',
        note: `Node "${node}" was made schedulable ${times} times in five minutes; ` +
          'it is cordoned again each time',
      }),
  };
};

/** What may be done to the Nodes of a maintenance. */
export type NodeMode = 'None' | 'Cordon' | 'Drain' | 'Release';

/** A maintenance that exists. */
export interface MaintenanceEntry {
  /** A later object of the same name is another one. */
  readonly uid: string;
  readonly owner: ReturnType<typeof maintenanceOwner>;
  maintenance: ObservedMaintenance;
  mode: NodeMode;
  /** Nodes that wait may begin. */
  begins: boolean;
  /** It was crossed with other drains for long enough. */
  yields: boolean;
  /** Its window is to be read. */
  wantsWindow: boolean;
  /** Its preview may be renewed. */
  wantsPreview: boolean;
  /** What its last preview was computed from; empty before the first one. */
  previewedFacts: string;
  /** When facts of its Nodes were last sent to its actor, in monotonic milliseconds. */
  sentMs: number;
  /** The newest order of each Node. */
  readonly orders: Map<string, string>;
  /** The targets that its drains last got, by Node. */
  readonly sentTargets: Map<string, DrainTargets>;
  /** Nodes that were cordoned for it. */
  readonly cordoned: Set<string>;
}

/** A maintenance of which nothing is done yet. */
export const maintenanceEntry = (maintenance: ObservedMaintenance): MaintenanceEntry => ({
  uid: maintenance.uid,
  owner: maintenanceOwner(maintenance.uid),
  maintenance,
  mode: 'None',
  begins: false,
  yields: false,
  wantsWindow: false,
  wantsPreview: false,
  previewedFacts: '',
  sentMs: Number.NEGATIVE_INFINITY,
  orders: new Map(),
  sentTargets: new Map(),
  cordoned: new Set(),
});

/** What the actors read and do. */
export interface NodeMaintenanceActorsOptions {
  readonly observedOf: (entry: MaintenanceEntry) => ObservedNodes;
  readonly actions: NodeMaintenanceActions;
  readonly onSnapshot: (entry: MaintenanceEntry, context: NodeMaintenanceContext) => void;
}

export type NodeMaintenanceActors = ActorRegistry<typeof nodeMaintenance, MaintenanceEntry>;

/** The actors of all maintenances. */
export const nodeMaintenanceActors = (
  environment: ActorEnvironment<NodeMaintenances>,
  { observedOf, actions, onSnapshot }: NodeMaintenanceActorsOptions,
): NodeMaintenanceActors => {
  const { telemetry, time, runtime } = environment;
  const registry: NodeMaintenanceActors = actorRegistry(environment, {
    name: 'nodeMaintenance',
    logic: provideNodeMaintenance(
      runtime,
      actions,
      (write) => registry.inFlight(write, WRITES_STOPPED),
    ),
    keyOf: ({ uid }: MaintenanceEntry) => uid,
    labelOf: ({ maintenance }) => maintenance.name,
    input: (entry, seed) => ({
      maintenance: entry.maintenance,
      observed: observedOf(entry),
      nowMs: time.now(),
      seed,
    }),
    observe: ({ maintenance }, actor) =>
      actor.send({ type: 'maintenance.observed', maintenance, nowMs: time.now() }),
    stateOf: ({ value }) => innermostState(value.work),
    onSnapshot: (entry, { context }) => onSnapshot(entry, context),
    onCount: (state, count) => telemetry.gauge('tidegate_node_maintenances', count, { state }),
    logFields: ({ maintenance }) => ({ nodeMaintenance: maintenance.name }),
  });
  return registry;
};
