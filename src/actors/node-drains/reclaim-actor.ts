/**
 * The actor of one reclaim instruction: the `reclaimInstruction` statechart with its ack and what
 * it asks of drains and of the Events.
 *
 * Promises: an instruction that crashes begins again from its order and from what Nodes show.
 */
import { Effect, type ManagedRuntime } from 'effect';
import {
  type ReclaimAck,
  reclaimInstruction,
  type ReclaimInstructionContext,
} from '../../machines/reclaim-instruction.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { fromEffect } from '../actor-logic.ts';
import { type ActorRegistry, actorRegistry, innermostState } from '../actor-registry.ts';
import type { ReclaimEntry } from '../../domain/drain/reclaim-entry.ts';
import type { InstructionEntry } from './reclaim-index.ts';

/** What the statechart of an instruction does outside of itself. */
export interface ReclaimActions {
  /** True when the outbox took it. */
  readonly queueAck: (ack: ReclaimAck) => Promise<boolean>;
  readonly releaseEvictions: (context: ReclaimInstructionContext) => void;
  readonly recordUnseen: (context: ReclaimInstructionContext) => void;
  readonly recordNeverSeen: (context: ReclaimInstructionContext) => void;
}

/** The statechart with its implementations. */
export const provideReclaim = <Services>(
  runtime: ManagedRuntime.ManagedRuntime<Services, never>,
  actions: ReclaimActions,
): typeof reclaimInstruction =>
  reclaimInstruction.provide({
    actors: {
      queueAck: fromEffect(runtime, (ack) => Effect.promise(() => actions.queueAck(ack))),
    },
    actions: {
      releaseEvictions: ({ context }) => actions.releaseEvictions(context),
      recordUnseen: ({ context }) => actions.recordUnseen(context),
      recordNeverSeen: ({ context }) => actions.recordNeverSeen(context),
    },
  });

export type ReclaimActors = ActorRegistry<typeof reclaimInstruction, InstructionEntry>;

/** What the actors of instructions work with. */
export interface ReclaimActorOptions extends ReclaimActions {
  /** The machines of the instruction with what their Nodes show. */
  readonly machinesNow: (entry: InstructionEntry) => readonly ReclaimEntry[];
  readonly onStart: (entry: InstructionEntry) => void;
}

/** The actors of all instructions. */
export const reclaimActors = <Services>(
  environment: ActorEnvironment<Services>,
  options: ReclaimActorOptions,
): ReclaimActors => {
  const registry: ReclaimActors = actorRegistry(environment, {
    name: 'reclaimInstruction',
    logic: provideReclaim(environment.runtime, options),
    keyOf: ({ id }: InstructionEntry) => id,
    input: (entry) => ({
      id: entry.id,
      entries: options.machinesNow(entry),
      ackPending: entry.ackPending,
      leftMs: entry.terms.deadlineMs - environment.time.now(),
    }),
    onStart: options.onStart,
    onSnapshot: (entry, { context, value }) => {
      entry.machines = context.entries;
      entry.ackPending = context.ackPending;
      if (innermostState(value) === 'settled') registry.remove(entry.id);
    },
    onCount: (state, count) => environment.telemetry.gauge('tidegate_reclaims', count, { state }),
    logFields: ({ id }) => ({ instruction: id }),
  });
  return registry;
};
