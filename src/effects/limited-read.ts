/**
 * Reads from a disk or a plugin within a time limit.
 *
 * Promises: fails after the limit, however long the read takes; a read that exceeds its limit is
 * joined and never started again before it ends, because each one occupies a thread of the process
 * or a plugin.
 */
import { Effect } from 'effect';

/** A read with its limit. */
export interface LimitedReadOptions<Value> {
  readonly read: () => Promise<Value>;
  readonly limitMs: number;
  /** The sentence of a failure. */
  readonly problemOf: (cause: unknown) => string;
}

/** The read as an effect that fails with one sentence; create it once for each source. */
export const limitedRead = <Value>(
  { read, limitMs, problemOf }: LimitedReadOptions<Value>,
): Effect.Effect<Value, string> => {
  let running: Promise<Value> | undefined;
  const started = (): Promise<Value> => {
    running ??= read().finally(() => {
      running = undefined;
    });
    return running;
  };
  return Effect.timeoutOrElse(Effect.tryPromise({ try: started, catch: problemOf }), {
    duration: limitMs,
    orElse: () => Effect.fail(`not read within ${limitMs / 1000} s`),
  });
};
