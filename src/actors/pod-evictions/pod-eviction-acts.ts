/** The `podEviction` statechart with its act on the API server and its voice to the registry. */
import { Effect, type ManagedRuntime } from 'effect';
import type { EvictionOutcome } from '../../domain/drain/answer.ts';
import { type EvictionCall, Evictions } from '../../effects/evictions.ts';
import {
  podEviction,
  type PodEvictionAct,
  type PodEvictionContext,
} from '../../machines/pod-eviction.ts';
import { fromEffect } from '../actor-logic.ts';

/** What the registry hears from its statecharts. */
export interface PodEvictionVoice {
  readonly joinQueue: (context: PodEvictionContext) => void;
  readonly leaveQueue: (context: PodEvictionContext) => void;
  readonly askToCall: (context: PodEvictionContext) => void;
  readonly leaveCalls: (context: PodEvictionContext) => void;
  readonly tellAnswer: (context: PodEvictionContext) => void;
  /** What is sent for the pod, and whether it still may be. */
  readonly callOf: (act: PodEvictionAct) => EvictionCall;
  /** Wraps each call, so that the registry knows how many are outside. */
  readonly guarded: <Services>(
    act: Effect.Effect<EvictionOutcome, never, Services>,
  ) => Effect.Effect<EvictionOutcome, never, Services>;
}

/** The statechart as it lives. */
export const providePodEviction = (
  runtime: ManagedRuntime.ManagedRuntime<Evictions, never>,
  voice: PodEvictionVoice,
): typeof podEviction =>
  podEviction.provide({
    actors: {
      evictPod: fromEffect(
        runtime,
        (act) =>
          voice.guarded(
            Effect.flatMap(Evictions, (evictions) => evictions.evict(voice.callOf(act))),
          ),
      ),
    },
    actions: {
      joinQueue: ({ context }) => voice.joinQueue(context),
      leaveQueue: ({ context }) => voice.leaveQueue(context),
      askToCall: ({ context }) => voice.askToCall(context),
      leaveCalls: ({ context }) => voice.leaveCalls(context),
      tellAnswer: ({ context }) => voice.tellAnswer(context),
    },
  });
