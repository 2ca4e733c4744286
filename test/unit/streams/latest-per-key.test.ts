/** Latest wins per key: nothing is lost at the end of a burst, and no key runs twice at once. */
import fc from 'fast-check';
import { EMPTY, Observable, of, Subject, type Subscriber, throwError } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { latestPerKey } from '../../../src/streams/latest-per-key.ts';

interface Frame {
  readonly machine: string;
  readonly state: number;
}

const frame = (machine: string, state: number): Frame => ({ machine, state });

/** Tasks that end on command. */
const rig = (concurrency: number) => {
  const frames = new Subject<Frame>();
  const worked: Frame[] = [];
  const running = new Map<string, Subscriber<never>>();
  let most = 0;
  let twice = false;
  let completed = false;
  const subscription = frames.pipe(latestPerKey({
    key: ({ machine }) => machine,
    concurrency,
    work: (value) =>
      new Observable<never>((subscriber) => {
        twice ||= running.has(value.machine);
        worked.push(value);
        running.set(value.machine, subscriber);
        most = Math.max(most, running.size);
        return () => running.delete(value.machine);
      }),
    onDefect: () => {},
  })).subscribe({ complete: () => (completed = true) });
  return {
    frames,
    worked,
    running,
    subscription,
    end: (machine: string) => running.get(machine)?.complete(),
    most: () => most,
    twice: () => twice,
    completed: () => completed,
  };
};

describe('latestPerKey', () => {
  test('latestPerKey: keeps only the newest value of a key that is busy', () => {
    const { frames, worked, end } = rig(32);
    for (const state of [1, 2, 3]) frames.next(frame('a', state));
    end('a');
    expect(worked).toEqual([frame('a', 1), frame('a', 3)]);
  });

  test('latestPerKey: keeps only the newest value of a queued key', () => {
    const { frames, worked, end } = rig(1);
    frames.next(frame('a', 1));
    frames.next(frame('b', 1));
    frames.next(frame('b', 2));
    end('a');
    expect(worked).toEqual([frame('a', 1), frame('b', 2)]);
  });

  test('latestPerKey: serves other keys before a key that just ran', () => {
    const { frames, worked, end } = rig(1);
    frames.next(frame('a', 1));
    frames.next(frame('b', 1));
    frames.next(frame('a', 2));
    end('a');
    expect(worked.at(-1)).toEqual(frame('b', 1));
  });

  test('latestPerKey: completes when the source has completed and the last task is done', () => {
    const { frames, end, completed } = rig(32);
    frames.next(frame('a', 1));
    frames.next(frame('a', 2));
    frames.complete();
    end('a');
    expect(completed()).toBe(false);
    end('a');
    expect(completed()).toBe(true);
  });

  test('latestPerKey: cancels running tasks and starts no more when it is unsubscribed', () => {
    const { frames, running, worked, subscription } = rig(1);
    frames.next(frame('a', 1));
    frames.next(frame('b', 1));
    subscription.unsubscribe();
    expect([running.size, worked.length]).toEqual([0, 1]);
  });

  test('latestPerKey: works through a hundred thousand tasks that end at once without deep recursion', () => {
    let tasks = 0;
    new Observable<number>((subscriber) => {
      for (let n = 0; n < 100_000; n += 1) subscriber.next(n);
      subscriber.complete();
    }).pipe(latestPerKey({ key: String, concurrency: 32, work: () => EMPTY, onDefect: () => {} }))
      .subscribe({
        complete: () => (tasks = 100_000),
      });
    expect(tasks).toBe(100_000);
  });

  test('latestPerKey: passes the results on', () => {
    const results: string[] = [];
    of(frame('a', 1), frame('b', 2)).pipe(latestPerKey({
      key: ({ machine }) => machine,
      concurrency: 2,
      work: ({ machine, state }) => of(`${machine}${state}`),
      onDefect: () => {},
    })).subscribe((result) => results.push(result));
    expect(results).toEqual(['a1', 'b2']);
  });

  const failures = {
    'throws': (): Observable<string> => {
      throw new Error('planted');
    },
    'ends with an error': () => throwError(() => new Error('planted')),
  };
  test.each(Object.entries(failures))(
    'latestPerKey: serves every key, the failed one too, after a task that %s',
    (_, fail) => {
      const frames = new Subject<Frame>();
      const results: string[] = [];
      const defects: unknown[] = [];
      frames.pipe(latestPerKey({
        key: ({ machine }) => machine,
        concurrency: 1,
        work: ({ machine, state }) => state === 0 ? fail() : of(`${machine}${state}`),
        onDefect: (cause, { machine }) => defects.push([machine, String(cause)]),
      })).subscribe((result) => results.push(result));
      for (const machine of ['a', 'b', 'a']) frames.next(frame(machine, results.length));
      expect(results).toEqual([]);
      frames.next(frame('a', 1));
      frames.next(frame('b', 2));
      expect(results).toEqual(['a1', 'b2']);
      expect(defects).toHaveLength(3);
      expect(defects[0]).toEqual(['a', 'Error: planted']);
    },
  );

  test('latestPerKey: skips a value whose key cannot be read', () => {
    const frames = new Subject<Frame>();
    const results: number[] = [];
    const defects: unknown[] = [];
    frames.pipe(latestPerKey({
      key: ({ machine }) => {
        if (machine === '') throw new Error('planted');
        return machine;
      },
      concurrency: 1,
      work: ({ state }) => of(state),
      onDefect: (cause) => defects.push(cause),
    })).subscribe((result) => results.push(result));
    frames.next(frame('', 1));
    frames.next(frame('a', 2));
    expect([results, defects.length]).toEqual([[2], 1]);
  });

  test('latestPerKey: any burst ends with the last value of each key, one task a key, 32 at once', () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.tuple(fc.constant('came' as const), fc.nat({ max: 60 })) },
      { weight: 2, arbitrary: fc.tuple(fc.constant('ended' as const), fc.nat({ max: 60 })) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const { frames, worked, end, running, most, twice } = rig(32);
        const last = new Map<string, number>();
        steps.forEach(([what, which], state) => {
          if (what === 'ended') end(`m${which}`);
          else {
            frames.next(frame(`m${which}`, state));
            last.set(`m${which}`, state);
          }
        });
        while (running.size > 0) for (const machine of [...running.keys()]) end(machine);
        const final = new Map(worked.map(({ machine, state }) => [machine, state]));
        expect(final).toEqual(last);
        expect(twice()).toBe(false);
        expect(most()).toBeLessThanOrEqual(32);
      }),
      { numRuns: 500 },
    );
  });
});
