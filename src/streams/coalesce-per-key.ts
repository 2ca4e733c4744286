/**
 * Emits the last value of each key in a burst.
 *
 * Promises: a value replaces the pending one of its key; keys are emitted in order of first
 * arrival; pending values are emitted when `release` emits, and earlier when the number of keys
 * exceeds the limit; nothing outlives its source, and nothing is lost at the end.
 */
import { type MonoTypeOperatorFunction, NEVER, Observable, Subscription } from 'rxjs';

/** How to key values, and when to emit them. */
export interface CoalescePerKeyOptions<Value> {
  readonly keyOf: (value: Value) => string;
  /** Subscribed when the first value is pending; its first emission releases all. */
  readonly release: Observable<unknown>;
  /** What is held leaves at once whenever this emits. */
  readonly flush?: Observable<unknown>;
  /** The maximum number of pending keys. */
  readonly keysMax: number;
}

/**
 * Emits when the present microtask is over: the end of a burst of values that come together.
 * Subscribed once for each burst, so it is made of as little as possible.
 */
export const microtaskEnd = new Observable<void>((receiver) => {
  queueMicrotask(() => receiver.next());
});

/** Emits the last value of each key per burst. */
export const coalescePerKey = <Value>(
  { keyOf, release, flush = NEVER, keysMax }: CoalescePerKeyOptions<Value>,
): MonoTypeOperatorFunction<Value> =>
(source) =>
  new Observable<Value>((receiver) => {
    let held = new Map<string, Value>();
    let waiting: Subscription | undefined;
    const stopWaiting = (): void => {
      waiting?.unsubscribe();
      waiting = undefined;
    };
    const leave = (): void => {
      stopWaiting();
      const values = held;
      held = new Map();
      for (const value of values.values()) receiver.next(value);
    };
    const hold = (value: Value): void => {
      const isFirst = held.size === 0;
      held.set(keyOf(value), value);
      if (held.size > keysMax) return leave();
      if (!isFirst) return;
      waiting = release.subscribe(leave);
      if (held.size === 0) stopWaiting();
    };
    const subscription = new Subscription(stopWaiting);
    subscription.add(flush.subscribe(leave));
    subscription.add(source.subscribe({
      next: hold,
      error: (problem) => receiver.error(problem),
      complete: () => {
        leave();
        receiver.complete();
      },
    }));
    return subscription;
  });
