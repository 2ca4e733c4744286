/** The reasons of reclaim instructions, a part of the registry in `reasons.ts`. */

/** Why an instruction is changed, refused, or waits. */
export const RECLAIM_REASONS = {
  GraceClamped: {
    type: 'Warning',
    action: 'DrainNode',
    sentence: 'The grace of the instruction exceeds the maximum and was reduced',
    canAct: 'provider',
    runbook: 'grace-clamped',
  },
  MachineWithoutNode: {
    type: 'Warning',
    action: 'CordonNode',
    sentence: 'The instruction names a machine without a known Node',
    canAct: 'provider',
    runbook: 'machine-without-node',
  },
  InstructionChanged: {
    type: 'Warning',
    action: 'DrainNode',
    sentence: 'The shard repeated an instruction id with another machine, which is not reclaimed',
    canAct: 'provider',
    runbook: 'instruction-changed',
  },
  ReclaimRefused: {
    type: 'Warning',
    action: 'ReclaimNode',
    sentence: 'An instruction names a Node that may not be reclaimed, so nothing is drained',
    canAct: 'provider',
    runbook: 'reclaim-refused',
  },
  DrainLimitReached: {
    type: 'Warning',
    action: 'DrainNode',
    sentence: 'As many Nodes drain as `--max-draining` allows; further drains wait',
    canAct: 'platform',
    runbook: 'drain-limit-reached',
  },
  ShardLimitReached: {
    type: 'Warning',
    action: 'ReadInstruction',
    sentence: 'An instruction exceeds a limit, and a part of it is left out',
    canAct: 'provider',
    runbook: 'shard-limit-reached',
  },
} as const;
