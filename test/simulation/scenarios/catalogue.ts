/** Every scenario, in the order of execution. */
import {
  apiServerAway,
  apiServerAwayShortly,
  slowFirstList,
  unseenChanges,
} from './api-server-away.ts';
import { demandGone, demandRemoved } from './demand-removed.ts';
import { drainCancelled } from './drain-cancelled.ts';
import { drainFloor } from './drain-floor.ts';
import {
  drainHostile,
  drainNamesake,
  drainUnanswered,
  drainWithoutRights,
} from './drain-hostile.ts';
import { drainHundredInstructions, drainHundredNodes } from './drain-hundred-nodes.ts';
import { drainClockJump, drainFaults, drainOutage } from './drain-network.ts';
import {
  drainKilled,
  drainKilledBlocked,
  drainKilledStandby,
  drainStopped,
} from './drain-stopped.ts';
import { drainTiers, drainTwentyNodes } from './drain-tiers.ts';
import {
  drainCompacted,
  drainTightBudget,
  drainTwoBudgets,
  drainUnreadyPods,
} from './drain-tight-budget.ts';
import { fleetKilled, fleetKilledReplaced } from './fleet-killed.ts';
import { machineBought, machinesCome } from './machines-come.ts';
import { nodeMaintenanceCrowd, nodeMaintenanceKilled } from './node-maintenance-killed.ts';
import {
  operatorKilled,
  twoMachinesSuspended,
  twoOperatorsKilled,
  twoOperatorsStopped,
  twoOperatorsSuspended,
} from './operator-killed.ts';
import type { Scenario } from './scenario.ts';
import {
  clocksSkewed,
  clockStepsBack,
  clockStepsForward,
  machineSuspended,
} from './wrong-clocks.ts';
import { stopInBurst, stopWhileAway } from './stop.ts';

export const SCENARIOS: readonly Scenario[] = [
  drainFloor,
  drainTightBudget,
  drainCompacted,
  drainUnreadyPods,
  drainTwoBudgets,
  drainTiers,
  drainTwentyNodes,
  drainCancelled,
  drainHostile,
  drainNamesake,
  drainUnanswered,
  drainWithoutRights,
  drainStopped,
  drainKilled,
  drainKilledStandby,
  drainKilledBlocked,
  drainFaults,
  drainOutage,
  drainClockJump,
  drainHundredNodes,
  drainHundredInstructions,
  machinesCome,
  machineBought,
  demandRemoved,
  demandGone,
  fleetKilled,
  fleetKilledReplaced,
  operatorKilled,
  twoOperatorsStopped,
  twoOperatorsKilled,
  twoOperatorsSuspended,
  twoMachinesSuspended,
  clocksSkewed,
  clockStepsForward,
  machineSuspended,
  clockStepsBack,
  apiServerAway,
  apiServerAwayShortly,
  slowFirstList,
  unseenChanges,
  stopInBurst,
  stopWhileAway,
  nodeMaintenanceKilled,
  nodeMaintenanceCrowd,
];
