/**
 * The recovery of reclaims that were lost with a process (DR-14): the replay of a new stream shows
 * a machine as DRAINING, and its Node has no annotation, or has not joined.
 *
 * Promises: a replay counts once it has ended; the instruction has five seconds to arrive and its
 * cordon to land; a stream that ends before that recovers nothing.
 */
import { setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';

/** The instruction may still arrive, and its cordon may be landing. */
const GRACE_MS = 5000;

export type ReclaimRecoveryEvent =
  | { readonly type: 'stream.opened' }
  /** The replay has ended: its roll-up was acknowledged. */
  | { readonly type: 'replay.completed' }
  | { readonly type: 'stream.ended' };

/** The statechart of the recovery; `src/actors/node-drains` provides its action. */
export const reclaimRecovery = setup({
  types: {
    events: {} as ReclaimRecoveryEvent,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'settled',
  },
  actions: {
    /** Recovers the draining machines that no instruction names. */
    recoverReclaims: () => {},
  },
  delays: { recoveryGrace: GRACE_MS },
}).createMachine({
  id: 'reclaimRecovery',
  description: 'Finds reclaims that were lost with a process.',
  initial: 'awaitingReplay',
  on: { 'stream.opened': '.awaitingReplay', 'stream.ended': '.awaitingReplay' },
  states: {
    awaitingReplay: {
      description: 'Waiting for the replay of a stream to complete.',
      meta: { reason: 'WaitingForReplay' },
      tags: 'waiting',
      on: { 'replay.completed': 'grace' },
    },
    grace: {
      description: 'The instruction of a draining machine may still arrive.',
      meta: { reason: 'WaitingForInstruction' },
      tags: 'waiting',
      on: { 'replay.completed': { target: 'grace', reenter: true } },
      after: { recoveryGrace: { target: 'recovered', actions: 'recoverReclaims' } },
    },
    recovered: {
      description: 'Machines that drained in the replay without an instruction were recovered.',
      tags: 'settled',
      on: { 'replay.completed': 'grace' },
    },
  },
});
