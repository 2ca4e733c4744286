/**
 * The three paths of ARCHITECTURE.md: the trigger of each, its outputs, and its budget of calls.
 */
import type { Exchange } from './call-trace.ts';
import type { RecordedRun } from './recorded-run.ts';

/** Over its budget, a path fails the check. */
export const ENFORCED = true;

/** One path. */
export interface PathDefinition {
  readonly key: keyof RecordedRun;
  readonly title: string;
  /** The trigger, as the first arrow names it. */
  readonly trigger: string;
  readonly intro: readonly string[];
  readonly isTrigger: (exchange: Exchange) => boolean;
  /** Whether a message that leaves the process belongs to it. */
  readonly isGoal: (exchange: Exchange) => boolean;
  readonly filesMax: number | undefined;
  readonly callsMax: number | undefined;
}

const leaving = (pattern: RegExp) => ({ direction, message }: Exchange): boolean =>
  direction === 'out' && pattern.test(message);
const arriving = (pattern: RegExp) => ({ direction, message }: Exchange): boolean =>
  direction === 'in' && pattern.test(message);

export const PATHS: readonly PathDefinition[] = [
  {
    key: 'reclaim',
    title: 'From a ReclaimInstruction to a drained node',
    trigger: 'ReclaimInstruction',
    intro: [
      'The shard reclaims one machine; one pod runs on it, without a budget. The path ends when the',
      'Node shows `Drained`. It includes every write to the Node and its pod, and the ReclaimAck.',
    ],
    isTrigger: () => false,
    isGoal: leaving(/^(?:PATCH nodes|POST pods\/.*\/eviction|ReclaimAck)/),
    filesMax: 25,
    callsMax: 48,
  },
  {
    key: 'machine',
    title: 'From a NodeStateUpdate to an UpcomingNode',
    trigger: 'NodeStateUpdate',
    intro: [
      'The shard reports a machine that this process has not seen before. The path ends when its',
      'UpcomingNode has been created and shows its phase.',
    ],
    isTrigger: () => false,
    isGoal: leaving(/^\w+ upcomingnodes/),
    filesMax: 12,
    callsMax: undefined,
  },
  {
    key: 'demand',
    title: 'From a CapacityRequest to an acknowledged roll-up',
    trigger: 'CapacityRequest',
    intro: [
      'A user creates a CapacityRequest. Its need is added to the demand in memory; the next roll-up',
      'sends it to the shard. The path ends when the CapacityRequest shows `Acknowledged`.',
    ],
    isTrigger: arriving(/^watch capacityrequests/),
    isGoal: leaving(/^(?:Rollup|PATCH capacityrequests)/),
    filesMax: undefined,
    callsMax: undefined,
  },
];
