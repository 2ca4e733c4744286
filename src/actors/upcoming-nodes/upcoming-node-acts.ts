/** The `upcomingNode` statechart with its acts on the API server and its voice to the registry. */
import { Effect, type ManagedRuntime } from 'effect';
import type { NodeLink } from '../../domain/node-link.ts';
import type { WriteOutcome } from '../../domain/object-write.ts';
import type { UpcomingNodeProjection } from '../../domain/upcoming-node.ts';
import type { Cordons } from '../../effects/cordons.ts';
import { UpcomingNodes } from '../../effects/upcoming-nodes.ts';
import type { UpcomingNodeAct, UpcomingNodeContext } from '../../machines/upcoming-node-terms.ts';
import { upcomingNode } from '../../machines/upcoming-node.ts';
import { fromEffect } from '../actor-logic.ts';
import type { WriteDoor } from '../write-door.ts';

/** What the registry hears from its statecharts. */
export interface UpcomingNodeVoice {
  readonly askForTurn: (context: UpcomingNodeContext) => void;
  readonly tellNodeReady: (context: UpcomingNodeContext) => void;
  readonly tellRefused: (context: UpcomingNodeContext) => void;
  readonly tellFailing: (context: UpcomingNodeContext) => void;
}

/** Takes the `reclaim` key off the Node of that name, if that is still owed. */
export type ReleaseNode = (node: string) => Effect.Effect<WriteOutcome<NodeLink>, never, Cordons>;

type Outcome = WriteOutcome<UpcomingNodeProjection>;
type Guarded = WriteDoor['through'];

/** How the statechart writes: `through` lets each write out while the registry's door is open. */
export interface UpcomingNodeDoings {
  readonly through: Guarded;
  readonly releaseNode: ReleaseNode;
}

/** The statechart with its acts. */
export const provideUpcomingNode = (
  runtime: ManagedRuntime.ManagedRuntime<UpcomingNodes | Cordons, never>,
  voice: UpcomingNodeVoice,
  { through, releaseNode }: UpcomingNodeDoings,
): typeof upcomingNode => {
  const act = (verb: keyof UpcomingNodes['Service']) =>
    fromEffect(runtime, (input: UpcomingNodeAct) =>
      Effect.gen(function* () {
        const upcomingNodes = yield* UpcomingNodes;
        return yield* through(upcomingNodes[verb](input));
      }));
  return upcomingNode.provide({
    actors: {
      createObject: act('create'),
      patchStatus: act('patchStatus'),
      patchSpec: act('patchSpec'),
      deleteObject: act('remove'),
      releaseNode: fromEffect(
        runtime,
        ({ facts }) => through(releaseNode(facts.node?.name ?? '')),
      ),
    },
    actions: {
      askForTurn: ({ context }) => voice.askForTurn(context),
      tellNodeReady: ({ context }) => voice.tellNodeReady(context),
      tellRefused: ({ context }) => voice.tellRefused(context),
      tellFailing: ({ context }) => voice.tellFailing(context),
    },
  });
};
