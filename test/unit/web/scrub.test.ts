/** The arithmetic of the time scrubber. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DrainMilestone } from '../../../src/view/board/drain-milestones.ts';
import {
  keyMove,
  milestonesText,
  milestoneText,
  momentIn,
  momentText,
  nextMilestone,
  placeOf,
} from '../../../src/web/page/scrub.ts';

const NOW_MS = Date.UTC(2026, 0, 1, 12);
const SPAN = { fromMs: NOW_MS - 600_000, nowMs: NOW_MS };

const MILESTONES: readonly DrainMilestone[] = [
  { atMs: NOW_MS - 300_000, kind: 'began', node: 'n1' },
  { atMs: NOW_MS - 200_000, kind: 'blocked', node: 'n1' },
  { atMs: NOW_MS - 100_000, kind: 'ended', node: 'n1' },
];

test('a moment is inside of the history, and the present or later is live', () => {
  expect(momentIn(SPAN, NOW_MS - 1000)).toBe(NOW_MS - 1000);
  expect(momentIn(SPAN, 0)).toBe(SPAN.fromMs);
  expect([momentIn(SPAN, NOW_MS), momentIn(SPAN, NOW_MS + 5000)]).toEqual([undefined, undefined]);
});

test('places on the slider are in the order of their moments, from 0 to 100', () => {
  const moment = fc.integer({ min: SPAN.fromMs - 1000, max: NOW_MS + 1000 });
  fc.assert(fc.property(moment, moment, (one, other) => {
    const [first, last] = [
      placeOf(SPAN, Math.min(one, other)),
      placeOf(SPAN, Math.max(one, other)),
    ];
    expect([0 <= first, first <= last, last <= 100]).toEqual([true, true, true]);
  }));
  expect(placeOf({ fromMs: NOW_MS, nowMs: NOW_MS }, NOW_MS)).toBe(100);
});

test('keys move by a second, by ten seconds and to the ends; other keys do not', () => {
  expect(['ArrowLeft', 'ArrowRight', 'PageUp', 'PageDown', 'Home', 'End', 'a']
    .map((key) => keyMove(key, SPAN))).toEqual([
      -1000,
      1000,
      10_000,
      -10_000,
      -600_000,
      600_000,
      undefined,
    ]);
});

test('the next milestone is the nearest one in its direction', () => {
  expect(nextMilestone(MILESTONES, NOW_MS, -1)?.kind).toBe('ended');
  expect(nextMilestone(MILESTONES, NOW_MS - 200_000, -1)?.kind).toBe('began');
  expect(nextMilestone(MILESTONES, NOW_MS - 200_000, 1)?.kind).toBe('ended');
  expect(nextMilestone(MILESTONES, NOW_MS, 1)).toBeUndefined();
});

test('moments and milestones have a text', () => {
  expect(momentText(SPAN, undefined)).toBe('live');
  expect(momentText(SPAN, NOW_MS - 123_000)).toBe('11:57:57.000, 2m3s ago');
  expect(MILESTONES.map(milestoneText)[1]).toBe('the drain of n1 was blocked at 11:56:40');
  expect(milestonesText(MILESTONES)).toBe('1 drain began, 1 drain blocked, 1 drain ended');
  expect(milestonesText([])).toBe('no drain began, was blocked or ended');
});
