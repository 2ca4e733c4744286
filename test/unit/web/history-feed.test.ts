/** The history on the live page: its messages, its moments, and the server's answers. */
import { expect, onTestFinished, test } from 'vitest';
import { recordEntry } from '../../../src/api/actor-record.ts';
import { historyMessages, momentQuery, pastMoment } from '../../../src/web/history-feed.ts';
import { MOMENTS, pastPage } from '../../support/page/past-page.ts';

const past = async () => {
  const { url, board, clock } = await pastPage();
  return { url, board, clock, history: board.history };
};

test('a page gets the milestones of drains once, and then only how far the history reaches', async () => {
  const { history } = await past();
  const next = historyMessages(history);
  expect(next(MOMENTS.nowMs)).toEqual({
    nowMs: MOMENTS.nowMs,
    fromMs: MOMENTS.beganMs - 60_000,
    milestones: [
      { atMs: MOMENTS.beganMs, kind: 'began', node: 'node-1' },
      { atMs: MOMENTS.blockedMs, kind: 'blocked', node: 'node-1' },
      { atMs: MOMENTS.endedMs, kind: 'ended', node: 'node-1' },
    ],
  });
  expect(next(MOMENTS.nowMs).milestones).toBeNull();
});

test('a moment has the board, the rows and the selected actor as they were', async () => {
  const { history } = await past();
  const actorId = 'nodeDrain/node-1';
  const at = (atMs: number, step: 1 | 0 | -1 = 0) =>
    pastMoment(history, { atMs, step, actorId }, MOMENTS.nowMs);
  const before = at(MOMENTS.beganMs - 1);
  expect([before.rows.map(([id]) => id), before.actor]).toEqual([['leadership'], null]);
  const blocked = at(MOMENTS.blockedMs);
  expect(blocked.home.drains.map(({ situation, severity }) => [situation, severity]))
    .toEqual([['Draining', 'Blocked']]);
  expect(blocked.actor?.verdict?.reason).toBe('BlockedByBudget');
  expect(blocked.actor?.timeline?.rows.length).toBeGreaterThan(1);
  expect(at(MOMENTS.nowMs).home.drains).toEqual([]);
});

test('a moment outside of the history is its nearest end, and a step is a change', async () => {
  const { history } = await past();
  const at = (atMs: number, step: 1 | 0 | -1, actorId = '') =>
    pastMoment(history, { atMs, step, actorId }, MOMENTS.nowMs).atMs;
  expect([at(0, 0), at(Number.MAX_SAFE_INTEGER, 0)]).toEqual([
    MOMENTS.beganMs - 60_000,
    MOMENTS.nowMs,
  ]);
  expect(at(MOMENTS.nowMs, -1)).toBe(MOMENTS.endedMs);
  expect(at(MOMENTS.beganMs, 1)).toBe(MOMENTS.blockedMs);
  expect(at(MOMENTS.beganMs, 1, 'podEviction/default/a')).toBe(MOMENTS.endedMs);
  expect(at(MOMENTS.endedMs, 1)).toBe(MOMENTS.endedMs);
});

test.each([
  ['', undefined],
  ['at=soon', undefined],
  ['at=5', { atMs: 5, step: 0, actorId: '' }],
  ['at=5&step=-1&actor=nodeDrain/n', { atMs: 5, step: -1, actorId: 'nodeDrain/n' }],
  ['at=5&step=9', { atMs: 5, step: 0, actorId: '' }],
])('the query "%s" is read as a moment', (text, query) => {
  expect(momentQuery(new URLSearchParams(text))).toEqual(query);
});

test('the server answers with a moment and refuses an unreadable one', async () => {
  const { url } = await past();
  const answer = await fetch(`${url}past?at=${MOMENTS.blockedMs}`);
  expect(await answer.json()).toMatchObject({ atMs: MOMENTS.blockedMs, home: { needsPerson: 1 } });
  expect((await fetch(`${url}past?at=soon`)).status).toBe(400);
});

test('the server makes one moment after another, and refuses a crowd of requests', async () => {
  const { url } = await past();
  const statuses = await Promise.all(
    Array.from({ length: 40 }, () => fetch(`${url}past?at=5`).then(({ status }) => status)),
  );
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(16);
});

test('the server writes one recording at a time, with a name of its moment', async () => {
  const { url } = await past();
  const asked = new AbortController();
  onTestFinished(() => asked.abort());
  const answer = await fetch(`${url}recording.jsonl`, { signal: asked.signal });
  expect(answer.headers.get('content-disposition'))
    .toBe('attachment; filename="tidegate-2026-01-01T12-00-00Z.jsonl"');
  const lines = (await answer.text()).trimEnd().split('\n').map(recordEntry);
  expect(lines.map(({ _tag }) => _tag)).toEqual(['Head', ...Array(8).fill('Line')]);
  const head = await fetch(`${url}recording.jsonl`, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
});
