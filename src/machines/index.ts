/** The catalogue of statecharts: the source of docs, page, command line and model tests. */
import type { AnyStateMachine } from 'xstate';
import type { MachineName } from '../api/machine-names.ts';
import { actorRestart } from './actor-restart.ts';
import { availableCapacity } from './available-capacity.ts';
import { budget } from './budget.ts';
import { demandSync } from './demand-sync.ts';
import { drainBlocker } from './drain-blocker.ts';
import { evictionCircuit } from './eviction-circuit.ts';
import { evictionRequest } from './eviction-request.ts';
import { evictionRequester } from './eviction-requester.ts';
import { fleetSession } from './fleet-session.ts';
import { leadership } from './leadership.ts';
import { listWatch } from './list-watch.ts';
import { nodeAvailability } from './node-availability.ts';
import { nodeDrain } from './node-drain.ts';
import { nodeMaintenance } from './node-maintenance.ts';
import { operator } from './operator.ts';
import { podDemand } from './pod-demand.ts';
import { podEviction } from './pod-eviction.ts';
import { reclaimInstruction } from './reclaim-instruction.ts';
import { reclaimRecovery } from './reclaim-recovery.ts';
import { servingGate } from './serving-gate.ts';
import { upcomingNode } from './upcoming-node.ts';

/** All statecharts, by name. */
export const MACHINES = {
  actorRestart,
  availableCapacity,
  budget,
  demandSync,
  drainBlocker,
  evictionCircuit,
  evictionRequest,
  evictionRequester,
  fleetSession,
  leadership,
  listWatch,
  nodeAvailability,
  nodeDrain,
  nodeMaintenance,
  operator,
  podDemand,
  podEviction,
  reclaimInstruction,
  reclaimRecovery,
  servingGate,
  upcomingNode,
} as const satisfies Readonly<Record<MachineName, AnyStateMachine>>;
