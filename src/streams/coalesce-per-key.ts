/**
 * Of the values of a burst the last one of each key.
 *
 * Promises: a value replaces the one of its key that is still held; keys leave in the order in
 * which they first came; what is held leaves when `release` says so, and earlier when more keys are
 * held than there is room for; nothing is held longer than its source, and nothing is lost at the
 * end.
 */
import { type MonoTypeOperatorFunction, NEVER, Observable, Subscription } from 'rxjs';

/** How values are told apart, and when they leave. */
export interface CoalescePerKeyOptions<Value> {
  readonly keyOf: (value: Value) => string;
  /** Subscribed when the first value is held; what is held leaves when it first emits. */
  readonly release: Observable<unknown>;
  /** What is held leaves at once whenever this emits. */
  readonly flush?: Observable<unknown>;
  /** Keys that are held at most. */
  readonly keysMax: number;
}

/**
 * Emits when the present microtask is over: the end of a burst of values that come together.
 * Subscribed once for each burst, so it is made of as little as possible.
 */
export const microtaskEnd = new Observable<void>((receiver) => {
  queueMicrotask(() => receiver.next());
});

/** The last value of each key and burst. */
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
