/**
 * Where Effect and RxJS become actors.
 *
 * `fromEffect` takes only effects that cannot fail: failures are folded into the outcome first, so
 * that the compiler makes each statechart say what it does about each of them. Leaving the state
 * interrupts the fiber.
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
import { defectText, type Telemetry } from '../api/telemetry.ts';

/** An act on the environment as an invoked actor; its output is the outcome. */
export const fromEffect = <Output, Input, Services>(
  runtime: ManagedRuntime.ManagedRuntime<Services, never>,
  act: (input: Input) => Effect.Effect<Output, never, Services>,
): PromiseActorLogic<Output, Input> =>
  fromPromise<Output, Input>(({ input, signal }) => runtime.runPromise(act(input), { signal }));

/** A stream of events as an invoked actor; each event goes to the statechart that invoked it. */
export const fromStream = <Event extends EventObject>(
  stream: () => Observable<Event>,
): ObservableActorLogic<Event, Record<string, unknown>> => fromEventObservable(() => stream());

/** What a write comes to once its registry starts nothing new. */
export const WRITES_STOPPED = { _tag: 'Fault', why: 'this process stops writing' } as const;

/** The write, counted while it is in flight; `WRITES_STOPPED` when it would start too late. */
export type WriteInFlight = <Outcome, Services = never>(
  write: Effect.Effect<Outcome, never, Services>,
) => Effect.Effect<Outcome | typeof WRITES_STOPPED, never, Services>;

/** Runs `run` when the current transitions are complete. */
export type Defer = (run: () => void) => void;

/** A queue of its own. */
export const deferredSends = (telemetry: Telemetry): Defer => {
  let waiting: (() => void)[] = [];
  const drain = (): void => {
    // The loop also visits sends that are added while it runs.
    for (const run of waiting) {
      try {
        run();
      } catch (cause) {
        telemetry.count('tidegate_stream_defects_total', 1);
        telemetry.log('error', 'Deferred send dropped: handler threw', {
          problem: defectText(cause),
        });
      }
    }
    waiting = [];
  };
  return (run) => {
    waiting.push(run);
    if (waiting.length === 1) queueMicrotask(drain);
  };
};
