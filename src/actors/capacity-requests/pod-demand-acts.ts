/** The `podDemand` statechart with its acts on the API server and its voice to the registry. */
import { Effect, type ManagedRuntime } from 'effect';
import { PodRequests } from '../../effects/pod-requests.ts';
import type { PodDemandContext, PodRequestAct } from '../../machines/pod-demand-terms.ts';
import { podDemand } from '../../machines/pod-demand.ts';
import { fromEffect } from '../actor-logic.ts';
import type { WriteDoor } from '../write-door.ts';

/** What the registry hears from its statecharts. */
export interface PodDemandVoice {
  readonly askForTurn: (context: PodDemandContext) => void;
  readonly tellRefused: (context: PodDemandContext) => void;
  readonly tellFailing: (context: PodDemandContext) => void;
}

/** The statechart with its acts; `through` lets each write out while the door is open. */
export const providePodDemand = (
  runtime: ManagedRuntime.ManagedRuntime<PodRequests, never>,
  voice: PodDemandVoice,
  through: WriteDoor['through'],
): typeof podDemand => {
  const act = (verb: keyof PodRequests['Service']) =>
    fromEffect(runtime, (input: PodRequestAct) =>
      Effect.gen(function* () {
        const requests = yield* PodRequests;
        return yield* through(requests[verb](input));
      }));
  return podDemand.provide({
    actors: {
      createRequest: act('create'),
      updateRequest: act('update'),
      stampRequest: act('stamp'),
      deleteRequest: act('remove'),
    },
    actions: {
      askForTurn: ({ context }) => voice.askForTurn(context),
      tellRefused: ({ context }) => voice.tellRefused(context),
      tellFailing: ({ context }) => voice.tellFailing(context),
    },
  });
};
