/** The recovery of lost reclaims, walked through every configuration. */
import { reclaimRecovery } from '../../src/machines/reclaim-recovery.ts';
import { follows } from './harness/step-invariants.ts';
import { describeModel } from './model.ts';

/** Whether the newest stream has replayed all machines, and whether lost ones were recovered. */
interface World {
  readonly replayed: boolean;
  readonly recovered: boolean;
}

const UNKNOWN: World = { replayed: false, recovered: false };

describeModel('reclaimRecovery', {
  machine: reclaimRecovery,
  inputs: [undefined],
  events: {},
  // Only a complete replay recovers, and only after its grace.
  stepInvariant: follows([
    { on: 'xstate.init', to: 'awaitingReplay' },
    { on: 'stream.opened', to: 'awaitingReplay' },
    { on: 'stream.ended', to: 'awaitingReplay' },
    { on: 'replay.completed', to: 'grace' },
    { on: 'after recoveryGrace', to: 'recovered', does: ['recoverReclaims'] },
  ]),
  crash: {
    world: UNKNOWN,
    record: (world: World, { event, actions }): World => {
      if (actions.includes('recoverReclaims')) return { ...world, recovered: true };
      if (event.type === 'replay.completed') return { replayed: true, recovered: false };
      return event.type.startsWith('stream.') ? UNKNOWN : world;
    },
    restart: ({ replayed, recovered }) => ({
      input: undefined,
      events: [
        ...(replayed ? [{ type: 'replay.completed' }] : []),
        ...(recovered ? [{ type: 'xstate.after.recoveryGrace.reclaimRecovery.grace' }] : []),
      ],
    }),
    obligations: (snapshot) => {
      if (snapshot.matches('awaitingReplay')) return 'a replay';
      return snapshot.matches('grace') ? 'a recovery' : 'nothing';
    },
  },
  forgets: 'stream.ended',
});
