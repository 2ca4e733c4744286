/**
 * Of the values of a burst the last one of each key.
 *
 * Promises: a value replaces the one of its key that is still held; keys leave in the order in
 * which they first came; what is held leaves when `release` says so, and earlier when more keys are
 * held than there is room for; nothing is held longer than its source, and nothing is lost at the
 * end.
 */
import { type MonoTypeOperatorFunction, Observable, Subscription } from 'rxjs';

/** How values are told apart, and when they leave. */
export interface CoalescePerKeyOptions<Value> {
  readonly keyOf: (value: Value) => string;
  /** Subscribed when the first value is held; what is held leaves when it first emits. */
  readonly release: () => Observable<unknown>;
  /** Keys that are held at most. */
  readonly keysMax: number;
}

/** The last value of each key and burst. */
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
