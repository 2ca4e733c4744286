/**
 * The actor of one reclaim instruction: the `reclaimInstruction` statechart with its effects.
 *
 * Promises: one that has settled is removed; one that crashed orders its drains again.
 */
import { type ActorRefFrom, fromPromise } from 'xstate';
import type { InstructionEntry } from '../../domain/drain/reclaim-index.ts';
import { type ReclaimAck, reclaimInstruction } from '../../machines/reclaim-instruction.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type ActorRegistry, actorRegistry, innermostState } from '../actor-registry.ts';
import type { ReclaimActions, ReclaimActorOptions } from './reclaims-options.ts';

export type ReclaimActor = ActorRefFrom<typeof reclaimInstruction>;

/** The statechart with its implementations. */
export const provideReclaim = (actions: ReclaimActions): typeof reclaimInstruction =>
  reclaimInstruction.provide({
    actors: { queueAck: fromPromise<boolean, ReclaimAck>(({ input }) => actions.queueAck(input)) },
    actions: {
      releaseEvictions: ({ context }) => actions.releaseEvictions(context),
      recordUnseen: ({ context }) => actions.recordUnseen(context),
      recordQueued: ({ context }) => actions.recordQueued(context),
      recordNeverStarted: ({ context }) => actions.recordNeverStarted(context),
    },
  });

export type ReclaimActors = ActorRegistry<typeof reclaimInstruction, InstructionEntry>;

/** The actors of all instructions. */
export const reclaimActors = <Services>(
  environment: ActorEnvironment<Services>,
  options: ReclaimActorOptions,
): ReclaimActors => {
  const registry: ReclaimActors = actorRegistry(environment, {
    name: 'reclaimInstruction',
    logic: provideReclaim(options),
    keyOf: ({ id }: InstructionEntry) => id,
    input: (entry) => ({
      id: entry.id,
      entries: options.machinesNow(entry),
      ackPending: entry.ackPending,
      leftMs: entry.terms.deadlineMs - environment.time.now(),
    }),
    onStart: (entry) => {
      if (entry.hasCrashed) options.onRestart(entry);
    },
    onSnapshot: (entry, { context, value }) => {
      entry.machines = context.entries;
      entry.ackPending = context.ackPending;
      if (innermostState(value) !== 'settled') return;
      registry.remove(entry.id);
      options.onSettled();
    },
    onCrash: (entry) => {
      entry.hasCrashed = true;
    },
    onCount: (state, count) => environment.telemetry.gauge('tidegate_reclaims', count, { state }),
    logFields: ({ id }) => ({ instruction: id }),
  });
  return registry;
};
