/**
 * The liveness check of schedulers: a beat each second that passes through the timers, the
 * scheduler of streams and the fibers of effects.
 *
 * Promises: fails while any of the three makes no progress, whatever the event loop still answers.
 */
import { Effect } from 'effect';
import type { ActorEnvironment } from '../../actors/actor-environment.ts';
import type { Check } from '../../observability/health.ts';

const BEAT_MS = 1_000;
/** A busy process is late; a stuck one never beats again. */
const SILENCE_MS_MAX = 30_000;

/** A running heartbeat. */
export interface Heartbeat {
  readonly check: Check;
  readonly stop: () => void;
}

/** Starts to beat. */
export const startHeartbeat = (
  { time, scheduler, runtime }: Pick<
    ActorEnvironment<never>,
    'time' | 'scheduler' | 'runtime'
  >,
): Heartbeat => {
  let lastMs = time.monotonic();
  let isStopped = false;
  let cancel = (): void => {};
  const onBeat = (): void => {
    lastMs = time.monotonic();
    if (isStopped) return;
    const next = scheduler.schedule(beat, BEAT_MS);
    cancel = () => next.unsubscribe();
  };
  // A rejection means that the runtime is closed: silence says so.
  const beat = (): void => void runtime.runPromise(Effect.yieldNow).then(onBeat, () => {});
  beat();
  return {
    check: {
      name: 'schedulers',
      failing: () => {
        const silentMs = time.monotonic() - lastMs;
        if (isStopped || silentMs <= SILENCE_MS_MAX) return undefined;
        return `no progress for ${Math.round(silentMs / 1000)} s`;
      },
    },
    stop: () => {
      isStopped = true;
      cancel();
    },
  };
};
