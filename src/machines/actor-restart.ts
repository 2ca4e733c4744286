/**
 * The restart of one crashed actor.
 *
 * Promises: an actor that crashes again and again waits longer each time, and never longer than
 * half a minute; it starts again from what the cluster shows by then, not from what it knew.
 */
import { setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import { backoffMs } from '../domain/backoff.ts';
import type { Seed } from '../domain/random.ts';

const RESTART = { firstMs: 1000, lastMs: 30_000 };

export interface ActorRestartInput {
  /** The id of the crashed actor, such as `nodeDrain/node-7`. */
  readonly actor: string;
  /** Crashes in a row, this one included. */
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
      description: 'Waiting before the crashed actor starts again.',
      meta: { reason: 'ActorCrashed' },
      tags: 'waiting',
      after: { restartBackoff: { target: 'restarted', actions: 'startActor' } },
    },
    restarted: {
      description: 'The actor was started again from what the cluster shows.',
      type: 'final',
      tags: 'settled',
    },
  },
});
