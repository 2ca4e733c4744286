/**
 * The place where a roll-up waits: it holds one value, and a newer one replaces it.
 *
 * Promises: each ask releases one value, at once or as soon as there is one; asks do not add up; a
 * value that was replaced is never seen again (WIRE-02).
 */
import { type MonoTypeOperatorFunction, Observable, Subscription } from 'rxjs';

/** Releases the newest value of the source, one for each emission of `asks`. */
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
