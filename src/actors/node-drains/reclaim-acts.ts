/** The `reclaimInstruction` statechart with its one act, the ack, and its voice to the registry. */
import { Effect, type ManagedRuntime } from 'effect';
import {
  type ReclaimAck,
  reclaimInstruction,
  type ReclaimInstructionContext,
} from '../../machines/reclaim-instruction.ts';
import { fromEffect } from '../actor-logic.ts';

/** What the registry hears from its statecharts. */
export interface ReclaimVoice {
  /** True when the outbox took it. */
  readonly queueAck: (ack: ReclaimAck) => Promise<boolean>;
  readonly releaseEvictions: (context: ReclaimInstructionContext) => void;
  readonly tellUnseen: (context: ReclaimInstructionContext) => void;
  readonly tellNeverSeen: (context: ReclaimInstructionContext) => void;
}

/** The statechart as it lives. */
export const provideReclaim = <Services>(
  runtime: ManagedRuntime.ManagedRuntime<Services, never>,
  voice: ReclaimVoice,
): typeof reclaimInstruction =>
  reclaimInstruction.provide({
    actors: {
      queueAck: fromEffect(runtime, (ack) => Effect.promise(() => voice.queueAck(ack))),
    },
    actions: {
      releaseEvictions: ({ context }) => voice.releaseEvictions(context),
      tellUnseen: ({ context }) => voice.tellUnseen(context),
      tellNeverSeen: ({ context }) => voice.tellNeverSeen(context),
    },
  });
