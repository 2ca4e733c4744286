/** All rules of the project, in the order of `docs/rules.md`. */
import { clusterChapters } from './cluster-rules.ts';
import { demandChapters } from './demand-rules.ts';
import { drainChapters } from './drain-rules.ts';
import { evictionRequestChapters } from './eviction-request-rules.ts';
import { fleetChapters } from './fleet-rules.ts';
import { machineChapters } from './machine-rules.ts';
import { nodeAvailabilityChapters } from './node-availability-rules.ts';
import { nodeMaintenanceChapters } from './node-maintenance-rules.ts';
import { podChapters } from './pod-rules.ts';
import type { RuleChapter } from './rule.ts';
import { streamChapters } from './stream-rules.ts';

/** Every chapter. */
export const CHAPTERS: readonly RuleChapter[] = [
  ...streamChapters,
  ...demandChapters,
  ...podChapters,
  ...machineChapters,
  ...clusterChapters,
  ...drainChapters,
  ...evictionRequestChapters,
  ...nodeMaintenanceChapters,
  ...nodeAvailabilityChapters,
  ...fleetChapters,
];
