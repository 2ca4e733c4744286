/** The `upcomingNode` statechart with its acts on the API server and its voice to the registry. */
import { Effect, type ManagedRuntime } from 'effect';
import type { WriteOutcome } from '../domain/object-write.ts';
import type { UpcomingNodeProjection } from '../domain/upcoming-node.ts';
import { UpcomingNodes } from '../effects/upcoming-nodes.ts';
import {
  upcomingNode,
  type UpcomingNodeAct,
  type UpcomingNodeContext,
} from '../machines/upcoming-node.ts';
import { fromEffect } from './seams.ts';

/** What the registry hears from its statecharts. */
export interface UpcomingNodeVoice {
  readonly askForTurn: (context: UpcomingNodeContext) => void;
  readonly tellNodeReady: (context: UpcomingNodeContext) => void;
  readonly tellRefused: (context: UpcomingNodeContext) => void;
  readonly tellFailing: (context: UpcomingNodeContext) => void;
}

type Outcome = WriteOutcome<UpcomingNodeProjection>;
type Guarded = (act: Effect.Effect<Outcome>) => Effect.Effect<Outcome>;

/** `guarded` wraps each write, so that the registry can count them and close the door. */
export const provideUpcomingNode = (
  runtime: ManagedRuntime.ManagedRuntime<UpcomingNodes, never>,
  voice: UpcomingNodeVoice,
  guarded: Guarded = (act) => act,
): typeof upcomingNode => {
  const act = (verb: keyof UpcomingNodes['Service']) =>
    fromEffect(runtime, (input: UpcomingNodeAct) =>
      Effect.gen(function* () {
        const upcomingNodes = yield* UpcomingNodes;
        return yield* guarded(upcomingNodes[verb](input));
      }));
  return upcomingNode.provide({
    actors: {
      createObject: act('create'),
      patchStatus: act('patchStatus'),
      patchSpec: act('patchSpec'),
      deleteObject: act('remove'),
    },
    actions: {
      askForTurn: ({ context }) => voice.askForTurn(context),
      tellNodeReady: ({ context }) => voice.tellNodeReady(context),
      tellRefused: ({ context }) => voice.tellRefused(context),
      tellFailing: ({ context }) => voice.tellFailing(context),
    },
  });
};
