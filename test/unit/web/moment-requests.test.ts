/**
 * The moments of the past that the page asks for.
 *
 * Regression: one answer that broke off left the time scrubber dead until the page was loaded
 * again.
 */
import { expect, test } from 'vitest';
import type { PastMoment } from '../../../src/web/history-feed.ts';
import { MomentRequests } from '../../../src/web/page/moment-requests.ts';
import { drainBoard } from '../../../src/view/board/drain-board.ts';
import { sceneOf } from '../../support/board/board-scene.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const LONG_MS = 60_000;

const momentAt = (atMs: number): PastMoment => ({
  atMs,
  rows: [],
  home: drainBoard(sceneOf([]), atMs),
  actorId: '',
  actor: null,
});

type Answer = () => Promise<{
  readonly ok: boolean;
  readonly json: () => Promise<PastMoment>;
}>;

const refused: Answer = () =>
  Promise.resolve({ ok: false, json: () => Promise.reject(new SyntaxError('no JSON')) });
const cut: Answer = () =>
  Promise.resolve({ ok: true, json: () => Promise.reject(new TypeError('network error')) });
const unsent: Answer = () => Promise.reject(new TypeError('Failed to fetch'));

/** A page at a moment; the first requests get these answers, and all others their moment. */
const pageAt = (startMs: number, ...answers: readonly Answer[]) => {
  const time = simulatedTime();
  const asked: string[] = [];
  const displayed: number[] = [];
  const page: { cursorMs: number | undefined } = { cursorMs: startMs };
  const requests = new MomentRequests({
    cursorMs: () => page.cursorMs,
    actorId: () => 'gate/a',
    show: ({ atMs }, isLastStep) => {
      displayed.push(atMs);
      if (isLastStep) page.cursorMs = atMs;
    },
    fetch: (address) => {
      const query = new URL(address, 'http://localhost').searchParams;
      const [at, step] = [Number(query.get('at')), Number(query.get('step'))];
      asked.push(`${at} ${step}`);
      const answer = answers[asked.length - 1];
      if (answer !== undefined) return answer();
      return Promise.resolve({ ok: true, json: () => Promise.resolve(momentAt(at + step)) });
    },
    schedule: time.schedule,
  });
  const goTo = (atMs: number): void => {
    page.cursorMs = atMs;
    requests.goTo(atMs);
  };
  return { time, page, requests, goTo, asked, displayed };
};

test('while a request is under way, only the newest moment is asked for after it', async () => {
  const { time, goTo, asked, displayed } = pageAt(0);
  for (const atMs of [10, 20, 30]) goTo(atMs);
  await time.settle();
  expect([asked, displayed]).toEqual([['10 0', '30 0'], [10, 30]]);
});

test('steps are made one after another, each from the moment that the last one led to', async () => {
  const { time, requests, asked, page } = pageAt(50);
  for (let at = 0; at < 3; at += 1) requests.step(-1);
  await time.settle();
  expect([asked, page.cursorMs]).toEqual([['50 -1', '49 -1', '48 -1'], 47]);
});

test.each([
  ['is not sent', unsent],
  ['is refused', refused],
  ['breaks off', cut],
])('a moment whose answer %s is asked for again after a pause', async (_, fails) => {
  const { time, goTo, requests, asked, displayed } = pageAt(0, fails, fails);
  goTo(10);
  await time.settle();
  expect([asked, displayed]).toEqual([['10 0'], []]);
  await time.advance(LONG_MS);
  expect([asked, displayed]).toEqual([['10 0', '10 0', '10 0'], [10]]);
  requests.step(1);
  await time.settle();
  expect(displayed).toEqual([10, 11]);
});

test('a step that failed is made again, once', async () => {
  const { time, requests, asked, page } = pageAt(50, cut);
  requests.step(-1);
  await time.advance(LONG_MS);
  expect([asked, page.cursorMs]).toEqual([['50 -1', '50 -1'], 49]);
});

test('after a failure the newest moment is asked for, and not the one that failed', async () => {
  const { time, goTo, asked } = pageAt(0, cut);
  goTo(10);
  goTo(20);
  await time.settle();
  goTo(30);
  await time.advance(LONG_MS);
  expect(asked).toEqual(['10 0', '30 0']);
});

test('after a failure nothing more is asked for once the page is live', async () => {
  const { time, goTo, page, requests, asked } = pageAt(0, cut);
  goTo(10);
  await time.settle();
  page.cursorMs = undefined;
  requests.clear();
  await time.advance(LONG_MS);
  expect([asked, time.pending()]).toEqual([['10 0'], 0]);
  goTo(20);
  await time.settle();
  expect(asked).toEqual(['10 0', '20 0']);
});
