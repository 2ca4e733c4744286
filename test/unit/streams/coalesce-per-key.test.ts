/** Of a burst of frames the last one of each machine counts, and none is lost. */
import fc from 'fast-check';
import { Observable, of, Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { coalescePerKey, microtaskEnd } from '../../../src/streams/coalesce-per-key.ts';

interface Frame {
  readonly machine: string;
  readonly state: number;
}

const frame = (machine: string, state: number): Frame => ({ machine, state });

/** Bursts that end on command. */
const rig = (keysMax = 100) => {
  const frames = new Subject<Frame>();
  const release = new Subject<void>();
  const flush = new Subject<void>();
  const released: Frame[] = [];
  let completed = false;
  const subscription = frames.pipe(coalescePerKey({
    keyOf: ({ machine }) => machine,
    release,
    flush,
    keysMax,
  })).subscribe({ next: (value) => released.push(value), complete: () => (completed = true) });
  return { frames, release, flush, released, subscription, completed: () => completed };
};

describe('coalescePerKey', () => {
  test('wire 4: the last value of each key in a burst is emitted, in order of first arrival', () => {
    const { frames, release, released } = rig();
    for (const value of [frame('b', 1), frame('a', 1), frame('b', 2), frame('a', 2)]) {
      frames.next(value);
    }
    expect(released).toEqual([]);
    release.next();
    expect(released).toEqual([frame('b', 2), frame('a', 2)]);
    release.next();
    frames.next(frame('b', 3));
    expect(released).toHaveLength(2);
  });

  test('coalescePerKey: emits at once when the number of keys exceeds the limit', () => {
    const { frames, release, released } = rig(2);
    for (const machine of ['a', 'b', 'c', 'd']) frames.next(frame(machine, 1));
    expect(released.map(({ machine }) => machine)).toEqual(['a', 'b', 'c']);
    release.next();
    expect(released.map(({ machine }) => machine)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('coalescePerKey: what is held leaves at once when it is flushed', () => {
    const { frames, release, flush, released } = rig();
    frames.next(frame('a', 0));
    frames.next(frame('a', 1));
    flush.next();
    expect([released, release.observed]).toEqual([[frame('a', 1)], false]);
    frames.next(frame('a', 2));
    release.next();
    expect(released).toEqual([frame('a', 1), frame('a', 2)]);
  });

  test('coalescePerKey: a release that has emitted already holds nothing', () => {
    const released: number[] = [];
    const frames = new Subject<number>();
    frames.pipe(coalescePerKey({ keyOf: String, release: of(0), keysMax: 9 }))
      .subscribe((value) => released.push(value));
    for (const value of [1, 2]) frames.next(value);
    expect(released).toEqual([1, 2]);
  });

  test('coalescePerKey: microtaskEnd lets go of values that came together', async () => {
    const released: number[] = [];
    const frames = new Subject<number>();
    frames.pipe(coalescePerKey({ keyOf: () => 'a', release: microtaskEnd, keysMax: 9 }))
      .subscribe((value) => released.push(value));
    for (const value of [1, 2]) frames.next(value);
    expect(released).toEqual([]);
    await Promise.resolve();
    expect(released).toEqual([2]);
  });

  test('coalescePerKey: emits pending values when the source completes', () => {
    const { frames, release, released, completed } = rig();
    frames.next(frame('a', 1));
    frames.complete();
    expect([released, completed()]).toEqual([[frame('a', 1)], true]);
    expect(release.observed).toBe(false);
  });

  test('coalescePerKey: lets go of all sources when it is unsubscribed', () => {
    const { frames, release, flush, subscription } = rig();
    frames.next(frame('a', 1));
    subscription.unsubscribe();
    expect([frames, release, flush].map(({ observed }) => observed)).toEqual([false, false, false]);
  });

  test('wire 4: a release that comes at once is not subscribed any longer', () => {
    let subscribers = 0;
    const release = new Observable<void>((receiver) => {
      subscribers += 1;
      receiver.next();
      return () => {
        subscribers -= 1;
      };
    });
    const frames = new Subject<Frame>();
    const released: Frame[] = [];
    frames.pipe(coalescePerKey({ keyOf: ({ machine }) => machine, release, keysMax: 10 }))
      .subscribe((value) => released.push(value));
    frames.next(frame('a', 1));
    frames.next(frame('a', 2));
    expect([released, subscribers]).toEqual([[frame('a', 1), frame('a', 2)], 0]);
  });

  test('wire 4: any burst ends with the last value of each key', () => {
    const values = fc.record({ machine: fc.constantFrom('a', 'b', 'c'), state: fc.nat() });
    const steps = fc.array(fc.oneof(values, fc.constant('release' as const)));
    fc.assert(fc.property(steps, fc.integer({ min: 1, max: 3 }), (taken, keysMax) => {
      const { frames, release, released } = rig(keysMax);
      const last = new Map<string, number>();
      for (const step of taken) {
        if (step === 'release') release.next();
        else {
          frames.next(step);
          last.set(step.machine, step.state);
        }
      }
      frames.complete();
      const current = new Map(released.map(({ machine, state }) => [machine, state]));
      expect(current).toEqual(last);
    }));
  });
});
