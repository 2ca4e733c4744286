/** The `availableCapacity` statechart with its acts on the API server and its voice. */
import { Effect } from 'effect';
import type { EventNote } from '../../api/event-note.ts';
import { AvailableCapacities } from '../../effects/available-capacities.ts';
import {
  availableCapacity,
  type AvailableCapacityAct,
  type AvailableCapacityContext,
} from '../../machines/available-capacity.ts';
import { fromEffect } from '../actor-logic.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { writeDoor } from '../write-door.ts';

/** The statechart with its acts on the API server. */
export const provideAvailableCapacity = (
  runtime: ActorEnvironment<AvailableCapacities>['runtime'],
  voice: {
    readonly askForTurn: (context: AvailableCapacityContext) => void;
    readonly complain: (reason: EventNote['reason'], context: AvailableCapacityContext) => void;
  },
  door = writeDoor(),
): typeof availableCapacity => {
  const act = (verb: keyof AvailableCapacities['Service']) =>
    fromEffect(runtime, (input: AvailableCapacityAct) =>
      Effect.gen(function* () {
        const capacities = yield* AvailableCapacities;
        return yield* door.through(capacities[verb](input));
      }));
  return availableCapacity.provide({
    actors: {
      createObject: act('create'),
      patchObject: act('patch'),
      deleteObject: act('remove'),
    },
    actions: {
      askForTurn: ({ context }) => voice.askForTurn(context),
      tellRefused: ({ context }) => voice.complain('WriteRefused', context),
      tellFailing: ({ context }) => voice.complain('WriteFailing', context),
    },
  });
};
