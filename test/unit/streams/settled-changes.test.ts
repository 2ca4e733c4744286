/** When a change is looked at: soon after quiet, and at an even pace in a flood. */
import { Subject, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { promptChanges, settledChanges } from '../../../src/streams/settled-changes.ts';

type Changes = typeof promptChanges;

/** The times of emissions for changes at these times, in milliseconds. */
const emittedAt = (changes: Changes, atMs: readonly number[]): readonly number[] => {
  const scheduler = new VirtualTimeScheduler();
  const source = new Subject<void>();
  const emitted: number[] = [];
  changes([source], scheduler).subscribe(() => emitted.push(scheduler.now()));
  for (const ms of atMs) scheduler.schedule(() => source.next(), ms);
  scheduler.flush();
  return emitted;
};

const every = (stepMs: number, untilMs: number): readonly number[] =>
  Array.from({ length: untilMs / stepMs }, (_, index) => index * stepMs);

describe('promptChanges', () => {
  test('changes after quiet are gathered for a moment', () => {
    expect(emittedAt(promptChanges, [0, 5, 19, 1000])).toEqual([20, 1020]);
  });

  test('each step of a short task is looked at in a moment', () => {
    const steps = every(40, 30 * 40);
    expect(emittedAt(promptChanges, steps)).toEqual(steps.map((ms) => ms + 20));
  });

  test('a flood is looked at twice a second, once its prompt ones are used', () => {
    const emitted = emittedAt(promptChanges, every(10, 60_000));
    const [after = 0] = emitted.slice(40);
    expect(emitted.filter((ms) => ms >= after && ms < after + 10_000)).toHaveLength(20);
    expect(emitted.filter((ms) => ms >= 50_000 && ms < 60_000)).toHaveLength(20);
  });

  test('the last change of a flood is looked at', () => {
    const atMs = every(10, 60_000);
    expect(emittedAt(promptChanges, atMs).at(-1)).toBeGreaterThan(atMs.at(-1) ?? Infinity);
  });
});

test('settledChanges: changes of half a second are one', () => {
  expect(emittedAt(settledChanges, [0, 100, 499, 2000])).toEqual([500, 2500]);
});
