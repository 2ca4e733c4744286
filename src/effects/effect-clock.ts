/** The clock of Effect over one `Time`. */
import { Clock, Duration, Effect, Layer } from 'effect';
import type { Time } from '../domain/time.ts';

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
