/** The two lanes of the session: the single slot of roll-ups and the outbox of replies. */
import { Observable, Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { replyOutbox } from '../../../src/streams/reply-outbox.ts';
import { singleSlot } from '../../../src/streams/single-slot.ts';

const slotted = () => {
  const rollups = new Subject<number>();
  const asks = new Subject<void>();
  const released: (number | 'complete')[] = [];
  const subscription = rollups.pipe(singleSlot(asks)).subscribe({
    next: (value) => released.push(value),
    complete: () => released.push('complete'),
  });
  return { rollups, asks, released, subscription };
};

describe('singleSlot', () => {
  test('wire 2: a newer roll-up replaces an unsent older one', () => {
    const { rollups, asks, released } = slotted();
    rollups.next(1);
    rollups.next(2);
    rollups.next(3);
    expect(released).toEqual([]);
    asks.next();
    asks.next();
    expect(released).toEqual([3]);
  });

  test('emits the next value at once after an earlier ask, and asks do not accumulate', () => {
    const { rollups, asks, released } = slotted();
    asks.next();
    asks.next();
    rollups.next(1);
    rollups.next(2);
    expect(released).toEqual([1]);
    asks.next();
    expect(released).toEqual([1, 2]);
  });

  test('ends after its last value, and unsubscribes from both sources', () => {
    const { rollups, asks, released } = slotted();
    rollups.next(1);
    rollups.complete();
    expect(released).toEqual([]);
    asks.next();
    expect(released).toEqual([1, 'complete']);
    expect(asks.observed).toBe(false);
    const left = slotted();
    left.subscription.unsubscribe();
    expect([left.rollups.observed, left.asks.observed]).toEqual([false, false]);
  });

  test('passes values of any type, including falsy ones', () => {
    const values = new Subject<number | undefined>();
    const asks = new Subject<void>();
    const released: unknown[] = [];
    values.pipe(singleSlot(asks)).subscribe((value) => released.push(value));
    values.next(0);
    asks.next();
    expect(released).toEqual([0]);
  });
});

describe('replyOutbox', () => {
  /** A writer that completes a reply on command. */
  const slowPen = () => {
    const begun: number[] = [];
    let finish: () => void = () => {};
    return {
      begun,
      finish: () => finish(),
      write: (reply: number) =>
        new Observable<never>((receiver) => {
          begun.push(reply);
          finish = () => receiver.complete();
        }),
    };
  };

  test('wire 3: 256 replies are queued in order and the newest is rejected', () => {
    const outbox = replyOutbox<number>(256);
    const pen = slowPen();
    outbox.drain(pen.write).subscribe();
    const taken = Array.from({ length: 300 }, (_, index) => outbox.offer(index));
    expect(taken.filter(Boolean)).toHaveLength(257);
    expect(taken.lastIndexOf(true), 'one is being written, 256 wait').toBe(256);
    expect(outbox.waiting()).toBe(256);
    for (let index = 0; index < 300; index += 1) pen.finish();
    expect(pen.begun).toEqual(Array.from({ length: 257 }, (_, index) => index));
    expect(outbox.waiting()).toBe(0);
    expect(outbox.offer(7)).toBe(true);
  });

  test('wire 3: replies of an ended stream are dropped, and none is accepted between streams', () => {
    const outbox = replyOutbox<number>(256);
    expect(outbox.offer(1)).toBe(false);
    const [first, second] = [slowPen(), slowPen()];
    const stream = outbox.drain(first.write).subscribe();
    outbox.offer(2);
    outbox.offer(3);
    stream.unsubscribe();
    expect(outbox.offer(4)).toBe(false);
    outbox.drain(second.write).subscribe();
    outbox.offer(5);
    expect([first.begun, second.begun, outbox.waiting()]).toEqual([[2], [5], 0]);
  });
});
