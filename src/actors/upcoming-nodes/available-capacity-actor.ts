/** The `availableCapacity` statechart with its writes to the API server and its Events. */
import { Effect, type ManagedRuntime } from 'effect';
import type { EventNote, RecordEvent } from '../../api/event-note.ts';
import type { Telemetry } from '../../api/telemetry.ts';
import { AvailableCapacities } from '../../effects/available-capacities.ts';
import {
  availableCapacity,
  type AvailableCapacityAct,
  type AvailableCapacityContext,
} from '../../machines/available-capacity.ts';
import { fromEffect, type WriteInFlight } from '../actor-logic.ts';

/** The actions of the statechart. */
export interface AvailableCapacityActions {
  readonly requestSlot: (context: AvailableCapacityContext) => void;
  readonly recordRefused: (context: AvailableCapacityContext) => void;
  readonly recordFailing: (context: AvailableCapacityContext) => void;
}

/** The statechart, provided once for all profiles. */
export const provideAvailableCapacity = (
  runtime: ManagedRuntime.ManagedRuntime<AvailableCapacities, never>,
  actions: AvailableCapacityActions,
  inFlight: WriteInFlight,
): typeof availableCapacity => {
  const write = (verb: keyof AvailableCapacities['Service']) =>
    fromEffect(runtime, (input: AvailableCapacityAct) =>
      Effect.gen(function* () {
        const capacities = yield* AvailableCapacities;
        return yield* inFlight(capacities[verb](input));
      }));
  return availableCapacity.provide({
    actors: {
      createObject: write('create'),
      patchObject: write('patch'),
      deleteObject: write('remove'),
    },
    actions: {
      requestSlot: ({ context }) => actions.requestSlot(context),
      recordRefused: ({ context }) => actions.recordRefused(context),
      recordFailing: ({ context }) => actions.recordFailing(context),
    },
  });
};

/** Records the Events of AvailableCapacities. */
export const availableCapacityEvents = (
  { log }: Pick<Telemetry, 'log'>,
  record: RecordEvent,
): Omit<AvailableCapacityActions, 'requestSlot'> => {
  const recordProblem =
    (reason: EventNote['reason']) => ({ name, facts, problem }: AvailableCapacityContext): void => {
      log('warn', 'Cannot write AvailableCapacity', { name, reason, problem });
      record({
        regarding: {
          apiVersion: 'bigfleet.lucy.sh/v1alpha1',
          kind: 'AvailableCapacity',
          name,
          uid: facts.current?.uid ?? '',
        },
        reason,
        note: `Cannot write AvailableCapacity "${name}": ${problem}`,
      });
    };
  return {
    recordRefused: recordProblem('WriteRefused'),
    recordFailing: recordProblem('WriteFailing'),
  };
};
