/**
 * Where Effect and RxJS become actors.
 *
 * An invoked actor that performs an effect is XState's own promise:
 * `fromPromise(({ input, signal }) => runtime.runPromise(act(input), { signal }))`, with an
 * `EffectRuntime`.
 */
import type { Effect } from 'effect';
import type { Observable } from 'rxjs';
import { type EventObject, fromEventObservable, type ObservableActorLogic } from 'xstate';
import { defectText, type Telemetry } from '../api/telemetry.ts';

/**
 * Runs the effects of invoked actors. It takes only effects that cannot fail: failures are folded
 * into the outcome first, so that the compiler makes each statechart say what it does about each of
 * them. `signal` interrupts the fiber when the state is left.
 */
export interface EffectRuntime<Services> {
  readonly runPromise: <Outcome>(
    effect: Effect.Effect<Outcome, never, Services>,
    options: { readonly signal: AbortSignal },
  ) => Promise<Outcome>;
}

/** The signal of an effect that outlives the state that began it. */
export const UNABORTED = new AbortController().signal;

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

/** An actor, as far as its acts need it. */
export interface ActingActor<Event extends EventObject> {
  readonly getSnapshot: () => { readonly status: string };
  readonly send: (event: Event) => void;
}

/**
 * Begins an act of an action, and sends its answer, if it has one. Begun in a later step, because
 * an actor in transition has not the context of its action yet; one that has ended needs no answer.
 * `threw` answers for an act that threw.
 */
export const startAct = <Event extends EventObject>(
  actor: ActingActor<Event>,
  act: () => Promise<Event | undefined>,
  threw: (problem: string) => Event,
): void =>
  queueMicrotask(() =>
    void act().catch((cause: unknown) => threw(defectText(cause))).then((event) => {
      if (event !== undefined && actor.getSnapshot().status === 'active') actor.send(event);
    })
  );

/** Tells of each attempt that an actor begins whether it is still its newest. */
export const newestAttempts = (): (actor: object) => () => boolean => {
  const newest = new WeakMap<object, object>();
  return (actor) => {
    const attempt = {};
    newest.set(actor, attempt);
    return () => newest.get(actor) === attempt;
  };
};

/** Runs `run` when the current transitions are complete. */
export type Defer = (run: () => void) => void;

/** Creates a queue. */
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
