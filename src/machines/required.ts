/** Declared, not implemented: what a statechart needs done, which `src/actors/` provides. */
import {
  type EventObject,
  fromEventObservable,
  fromPromise,
  type ObservableActorLogic,
  type PromiseActorLogic,
} from 'xstate';

/** Logic that fails by name until somebody provides it. */
export const required = <Output, Input>(name: string): PromiseActorLogic<Output, Input> =>
  fromPromise<Output, Input>(() => Promise.reject(new Error(`Actor "${name}" is not provided`)));

/** A stream of events that fails by name until it is provided. */
export const requiredStream = <Event extends EventObject>(
  name: string,
): ObservableActorLogic<Event, Record<string, unknown>> =>
  fromEventObservable<Event, Record<string, unknown>>(() => {
    throw new Error(`Actor "${name}" is not provided`);
  });
