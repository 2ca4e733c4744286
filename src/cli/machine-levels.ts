/** How loud each statechart is: `info` where moves are rare and matter, `debug` elsewhere. */
import type { LogLevel } from '../api/telemetry.ts';
import type { MACHINES } from '../machines/index.ts';

/** The level that moves of a statechart are logged at. */
export const MACHINE_LEVELS: Readonly<Record<keyof typeof MACHINES, LogLevel>> = {
  actorRestart: 'debug',
  availableCapacity: 'debug',
  budget: 'debug',
  evictionCircuit: 'debug',
  fleetSession: 'debug',
  initialRequests: 'info',
  leadership: 'debug',
  listWatch: 'debug',
  nodeDrain: 'debug',
  operator: 'info',
  podDemand: 'debug',
  podEviction: 'debug',
  reclaimInstruction: 'info',
  upcomingNode: 'debug',
};
