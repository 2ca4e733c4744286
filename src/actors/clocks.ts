/** Adapts one `Time` to three clocks: XState's, RxJS's and Effect's. */
import { Clock, Duration, Effect, Layer } from 'effect';
import { type SchedulerAction, type SchedulerLike, Subscription } from 'rxjs';
import type { ActorOptions, AnyActorLogic } from 'xstate';
import type { Time } from '../domain/time.ts';

/** The clock interface of XState. */
type StatechartClock = NonNullable<ActorOptions<AnyActorLogic>['clock']>;

/** The clock for `createActor(machine, { clock })`. */
export const statechartClock = (time: Time): StatechartClock => ({
  setTimeout: (run: () => void, delayMs: number) => time.schedule(delayMs, run),
  clearTimeout: (cancel: unknown) => {
    if (typeof cancel === 'function') cancel();
  },
});

class TimedAction<T> extends Subscription implements SchedulerAction<T> {
  readonly #time: Time;
  readonly #work: (this: SchedulerAction<T>, state?: T) => void;
  #cancel: () => void = () => {};

  constructor(time: Time, work: (this: SchedulerAction<T>, state?: T) => void) {
    super(() => this.#cancel());
    this.#time = time;
    this.#work = work;
  }

  schedule(state?: T, delayMs = 0): Subscription {
    this.#cancel();
    this.#cancel = this.#time.schedule(delayMs, () => {
      if (!this.closed) this.#work.call(this, state);
    });
    return this;
  }
}

/** The scheduler argument of RxJS operators. */
export const streamScheduler = (time: Time): SchedulerLike => ({
  now: () => time.monotonic(),
  schedule: <T>(
    work: (this: SchedulerAction<T>, state: T) => void,
    delayMs?: number,
    state?: T,
  ): Subscription =>
    new TimedAction<T>(time, work as (this: SchedulerAction<T>, state?: T) => void)
      .schedule(state, delayMs ?? 0),
});

const NANOS_PER_MS = 1_000_000;

const nanos = (ms: number): bigint => BigInt(Math.round(ms * NANOS_PER_MS));

/** Effect's clock: `Effect.sleep`, timeouts and schedules follow `time`. */
export const effectClock = (time: Time): Clock.Clock => ({
  currentTimeMillisUnsafe: () => time.now(),
  currentTimeMillis: Effect.sync(() => time.now()),
  currentTimeNanosUnsafe: () => nanos(time.now()),
  currentTimeNanos: Effect.sync(() => nanos(time.now())),
  monotonicTimeNanosUnsafe: () => nanos(time.monotonic()),
  monotonicTimeNanos: Effect.sync(() => nanos(time.monotonic())),
  sleep: (duration) =>
    Effect.callback<void>((resume) => {
      const cancel = time.schedule(Duration.toMillis(duration), () => resume(Effect.void));
      return Effect.sync(cancel);
    }),
});

/** The layer that makes every effect of a runtime follow `time`. */
export const clockLayer = (time: Time): Layer.Layer<never> =>
  Layer.succeed(Clock.Clock, effectClock(time));
