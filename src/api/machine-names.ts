/**
 * The names of the statecharts, for those who name them without loading one: labels of metrics,
 * log levels.
 */

/** The names in `src/machines/index.ts`, whose catalogue must have exactly these. */
export const MACHINE_NAMES = [
  'actorRestart',
  'availableCapacity',
  'budget',
  'demandSync',
  'drainBlocker',
  'evictionCircuit',
  'evictionRequest',
  'evictionRequester',
  'fleetSession',
  'leadership',
  'listWatch',
  'nodeAvailability',
  'nodeDrain',
  'nodeMaintenance',
  'operator',
  'podDemand',
  'podEviction',
  'reclaimInstruction',
  'reclaimRecovery',
  'servingGate',
  'upcomingNode',
] as const;
export type MachineName = (typeof MACHINE_NAMES)[number];
