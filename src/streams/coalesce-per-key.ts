/**
 * Emits the last value of each key in a burst.
 *
 * Promises: a value replaces the pending one of its key; keys are emitted in order of first
 * arrival; pending values are emitted when `release` emits, and earlier when the number of keys
 * exceeds the limit; nothing outlives its source, and nothing is lost at the end.
 */
import { type MonoTypeOperatorFunction, Observable, Subscription } from 'rxjs';

/** How to key values, and when to emit them. */
export interface CoalescePerKeyOptions<Value> {
  readonly keyOf: (value: Value) => string;
  /** Subscribed when the first value is pending; its first emission releases all. */
  readonly release: () => Observable<unknown>;
  /** The maximum number of pending keys. */
  readonly keysMax: number;
}

/** Emits the last value of each key per burst. */
export const coalescePerKey = <Value>(
  { keyOf, release, keysMax }: CoalescePerKeyOptions<Value>,
): MonoTypeOperatorFunction<Value> =>
(source) =>
  new Observable<Value>((receiver) => {
    let held = new Map<string, Value>();
    let waiting = new Subscription();
    const flush = (): void => {
      waiting.unsubscribe();
      const values = held;
      held = new Map();
      for (const value of values.values()) receiver.next(value);
    };
    const hold = (value: Value): void => {
      const isFirst = held.size === 0;
      held.set(keyOf(value), value);
      if (held.size > keysMax) return flush();
      if (!isFirst) return;
      waiting = new Subscription();
      waiting.add(release().subscribe(flush));
    };
    const subscription = new Subscription(() => waiting.unsubscribe());
    subscription.add(source.subscribe({
      next: hold,
      error: (problem) => receiver.error(problem),
      complete: () => {
        flush();
        receiver.complete();
      },
    }));
    return subscription;
  });
