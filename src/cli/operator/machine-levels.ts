/**
 * The kinds of actors, and the log level of each statechart: `info` where transitions are rare and
 * important, `debug` elsewhere.
 */
import type { MachineName } from '../../api/machine-names.ts';
import type { LogLevel } from '../../api/telemetry.ts';

/** The log level of a statechart's transitions. */
export const MACHINE_LEVELS: Readonly<Record<MachineName, LogLevel>> = {
  actorRestart: 'debug',
  availableCapacity: 'debug',
  budget: 'debug',
  demandSync: 'info',
  drainBlocker: 'debug',
  evictionCircuit: 'debug',
  evictionRequest: 'debug',
  evictionRequester: 'debug',
  fleetSession: 'debug',
  leadership: 'debug',
  listWatch: 'debug',
  nodeAvailability: 'debug',
  nodeDrain: 'debug',
  nodeMaintenance: 'debug',
  operator: 'info',
  podDemand: 'debug',
  podEviction: 'debug',
  reclaimInstruction: 'info',
  reclaimRecovery: 'debug',
  servingGate: 'debug',
  upcomingNode: 'debug',
};

/** The machines of the catalogue, by name. */
export const KINDS: ReadonlySet<string> = new Set(Object.keys(MACHINE_LEVELS));
