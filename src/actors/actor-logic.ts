/**
 * Adapts Effect and RxJS to XState actor logic.
 *
 * `fromEffect` takes only effects that cannot fail: failures must be part of the outcome, so that
 * the compiler makes each statechart handle all of them. Leaving the state interrupts the fiber.
 */
import type { Effect, ManagedRuntime } from 'effect';
import type { Observable } from 'rxjs';
import {
  type EventObject,
  fromEventObservable,
  fromPromise,
  type ObservableActorLogic,
  type PromiseActorLogic,
} from 'xstate';

/** Runs an effect as an invoked actor; its output is the outcome. */
export const fromEffect = <Output, Input, Services>(
  runtime: ManagedRuntime.ManagedRuntime<Services, never>,
  act: (input: Input) => Effect.Effect<Output, never, Services>,
): PromiseActorLogic<Output, Input> =>
  fromPromise<Output, Input>(({ input, signal }) => runtime.runPromise(act(input), { signal }));

/** A stream of events as an invoked actor; each event goes to the statechart that invoked it. */
export const fromStream = <Event extends EventObject>(
  stream: () => Observable<Event>,
): ObservableActorLogic<Event, Record<string, unknown>> => fromEventObservable(() => stream());

/** The outcome of a write after its registry closed. */
export const WRITES_STOPPED = { _tag: 'Fault', why: 'this process is stopping' } as const;

/** The write, counted while it is in flight; `WRITES_STOPPED` after the registry closed. */
export type WriteInFlight = <Outcome, Services = never>(
  write: Effect.Effect<Outcome, never, Services>,
) => Effect.Effect<Outcome | typeof WRITES_STOPPED, never, Services>;
