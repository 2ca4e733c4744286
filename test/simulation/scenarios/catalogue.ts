/** Every scenario, in the order in which they are told. */
import { drainCancelled } from './drain-cancelled.ts';
import { drainFloor } from './drain-floor.ts';
import {
  drainHostile,
  drainNamesake,
  drainUnanswered,
  drainWithoutRights,
} from './drain-hostile.ts';
import { drainClockJump, drainFaults, drainOutage } from './drain-network.ts';
import { drainKilled, drainKilledStandby, drainStopped } from './drain-stopped.ts';
import { drainTiers, drainTwentyNodes } from './drain-tiers.ts';
import { drainTightBudget, drainTwoBudgets, drainUnreadyPods } from './drain-tight-budget.ts';
import type { Scenario } from './scenario.ts';

export const SCENARIOS: readonly Scenario[] = [
  drainFloor,
  drainTightBudget,
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
  drainFaults,
  drainOutage,
  drainClockJump,
];
