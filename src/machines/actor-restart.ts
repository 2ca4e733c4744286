/**
 * The restart of one crashed actor.
 *
 * Promises: repeated crashes wait longer each time, at most half a minute; the actor restarts from
 * the current cluster state, not from its old context.
 */
import { setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import { backoffMs } from '../domain/backoff.ts';
import type { Seed } from '../domain/random.ts';

const RESTART = { firstMs: 1000, lastMs: 30_000 };

export interface ActorRestartInput {
  /** The id of the crashed actor, such as `nodeDrain/node-7`. */
  readonly actor: string;
  /** Consecutive crashes, this one included. */
  readonly crashes: number;
  readonly problem: string;
  readonly seed: Seed;
}

export interface ActorRestartContext extends ActorRestartInput {}

/** The statechart of a restart; `src/actors/actor-registry.ts` provides its action. */
export const actorRestart = setup({
  types: {
    context: {} as ActorRestartContext,
    input: {} as ActorRestartInput,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'settled',
  },
  actions: { startActor: () => {} },
  delays: {
    restartBackoff: ({ context }) => backoffMs(RESTART, context.crashes, context.seed),
  },
}).createMachine({
  id: 'actorRestart',
  description: 'Restarts one crashed actor.',
  context: ({ input }) => input,
  initial: 'backingOff',
  states: {
    backingOff: {
      description: 'Waiting before the restart.',
      meta: { reason: 'ActorCrashed' },
      tags: 'waiting',
      after: { restartBackoff: { target: 'restarted', actions: 'startActor' } },
    },
    restarted: {
      description: 'The actor was restarted from the cluster state.',
      type: 'final',
      tags: 'settled',
    },
  },
});
