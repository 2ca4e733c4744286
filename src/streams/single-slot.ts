/**
 * A slot for one roll-up: a newer value replaces the queued one.
 *
 * Promises: each ask releases one value, at once or as soon as there is one; asks do not
 * accumulate; a replaced value is never emitted (WIRE-02).
 */
import { type MonoTypeOperatorFunction, Observable, Subscription } from 'rxjs';

/** Emits the newest value of the source, one for each emission of `asks`. */
export const singleSlot = <T>(asks: Observable<unknown>): MonoTypeOperatorFunction<T> => (source) =>
  new Observable<T>((receiver) => {
    let slot: { readonly value: T } | undefined;
    let asked = false;
    let drying = false;

    const release = (): void => {
      if (!asked || slot === undefined) return;
      const { value } = slot;
      asked = false;
      slot = undefined;
      receiver.next(value);
      if (drying) receiver.complete();
    };

    const subscription = new Subscription();
    subscription.add(asks.subscribe({
      next: () => {
        asked = true;
        release();
      },
      error: (problem) => receiver.error(problem),
    }));
    subscription.add(source.subscribe({
      next: (value) => {
        slot = { value };
        release();
      },
      error: (problem) => receiver.error(problem),
      complete: () => {
        drying = true;
        if (slot === undefined) receiver.complete();
      },
    }));
    return subscription;
  });
