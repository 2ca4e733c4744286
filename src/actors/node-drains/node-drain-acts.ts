/** The `nodeDrain` statechart with its acts on the cluster and its voice to the registry. */
import { Effect, type ManagedRuntime } from 'effect';
import type { NodeWriteOutcome } from '../../domain/drain/node-write.ts';
import { Cordons, type NodeWritePurpose } from '../../effects/cordons.ts';
import { nodeDrain } from '../../machines/node-drain.ts';
import type {
  NodeDrainAct,
  NodeDrainContext,
  NodeDrainEnd,
} from '../../machines/node-drain-terms.ts';
import { fromEffect } from '../actor-logic.ts';

/** What the registry hears from its statecharts. */
export interface NodeDrainVoice {
  readonly requestSlot: (context: NodeDrainContext) => void;
  readonly tellStarted: (context: NodeDrainContext) => void;
  readonly tellDraining: (context: NodeDrainContext) => void;
  readonly tellCordonFailing: (context: NodeDrainContext) => void;
  readonly tellLeftAlone: (context: NodeDrainContext) => void;
  readonly askPodsToLeave: (context: NodeDrainContext) => void;
  readonly releasePods: (context: NodeDrainContext) => void;
  /** Resolves when the UpcomingNode shows the end, or there is none to show it. */
  readonly showEnd: (end: NodeDrainEnd) => Promise<void>;
}

type Guarded = (act: Effect.Effect<NodeWriteOutcome>) => Effect.Effect<NodeWriteOutcome>;

/** `guarded` wraps each write, so that the registry can count them and close the door. */
export const provideNodeDrain = (
  runtime: ManagedRuntime.ManagedRuntime<Cordons, never>,
  voice: NodeDrainVoice,
  guarded: Guarded = (act) => act,
): typeof nodeDrain => {
  const patch = (purpose: NodeWritePurpose) =>
    fromEffect(
      runtime,
      ({ node, body }: NodeDrainAct) =>
        Effect.flatMap(Cordons, (cordons) => guarded(cordons.patch({ node, purpose, body }))),
    );
  return nodeDrain.provide({
    actors: {
      cordonNode: patch('cordon'),
      markEnded: patch('end'),
      showEnd: fromEffect(
        runtime,
        (end: NodeDrainEnd) => Effect.promise(() => voice.showEnd(end)),
      ),
    },
    actions: {
      requestSlot: ({ context }) => voice.requestSlot(context),
      tellStarted: ({ context }) => voice.tellStarted(context),
      tellDraining: ({ context }) => voice.tellDraining(context),
      tellCordonFailing: ({ context }) => voice.tellCordonFailing(context),
      tellLeftAlone: ({ context }) => voice.tellLeftAlone(context),
      askPodsToLeave: ({ context }) => voice.askPodsToLeave(context),
      releasePods: ({ context }) => voice.releasePods(context),
    },
  });
};
