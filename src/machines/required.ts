/** Placeholders for the logic that a statechart declares and `src/actors/` provides. */
import {
  type EventObject,
  fromEventObservable,
  fromPromise,
  type ObservableActorLogic,
  type PromiseActorLogic,
} from 'xstate';

/** Fails with its name until it is provided. */
export const required = <Output, Input>(name: string): PromiseActorLogic<Output, Input> =>
  fromPromise<Output, Input>(() => Promise.reject(new Error(`Actor "${name}" is not provided`)));

/** A stream of events that fails with its name until it is provided. */
export const requiredStream = <Event extends EventObject>(
  name: string,
): ObservableActorLogic<Event, Record<string, unknown>> =>
  fromEventObservable<Event, Record<string, unknown>>(() => {
    throw new Error(`Actor "${name}" is not provided`);
  });
