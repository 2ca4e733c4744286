/** The recent past of a process: the board as it was, its bounds, and its recording. */
import { createActor } from 'xstate';
import { expect, test } from 'vitest';
import type { ActorBoard } from '../../../src/api/actor-board.ts';
import { recordEntry, type RecordLine } from '../../../src/api/actor-record.ts';
import { playerOn } from '../../../src/cli/replay/recording.ts';
import { podEviction } from '../../../src/machines/pod-eviction.ts';
import { makeActorBoard } from '../../../src/observability/actor-board.ts';
import { type HistoryLimits, withHistory } from '../../../src/observability/actor-history.ts';
import { inspectWith } from '../../../src/observability/inspector.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { FACTS } from '../../support/board/eviction-facts.ts';

const START_MS = Date.UTC(2026, 0, 1);
const KINDS = new Set(['podEviction', 'nodeDrain']);
const LIMITS: HistoryLimits = { ageMs: 600_000, transitions: 1000, items: 100_000 };

const watched = (limits: Partial<HistoryLimits> = {}) => {
  const time = simulatedTime(START_MS);
  const board = withHistory(makeActorBoard({ time, kinds: KINDS }), time, {
    ...LIMITS,
    ...limits,
  });
  const begin = (name: string, id = `podEviction/ns/${name}`) =>
    createActor(podEviction, {
      id,
      input: { uid: `u-${name}`, key: `ns/${name}`, node: 'n1', facts: FACTS, seed: 1 },
      inspect: inspectWith(() => {}, [board.observe]),
    }).start();
  return { time, board, begin };
};

type Eviction = ReturnType<ReturnType<typeof watched>['begin']>;

/** Moves it to another state, again and again. */
const move = (actor: Eviction, terminating: boolean): void =>
  actor.send({ type: 'pod.observed', facts: { ...FACTS, terminating } });

/** Everything that a board shows, in an order of its own. */
const content = (board: ActorBoard) =>
  board.rows().map(({ id }) => board.detail(id))
    .toSorted((left, right) => (left?.row.id ?? '') < (right?.row.id ?? '') ? -1 : 1);

/** A minute in which actors come, move and end. */
const livedThrough = async ({ time, board, begin }: ReturnType<typeof watched>) => {
  const moments: { readonly atMs: number; readonly content: ReturnType<typeof content> }[] = [];
  const actors: Eviction[] = [];
  for (let second = 0; second < 60; second += 1) {
    await time.advance(1000);
    if (second % 7 === 0) actors.push(begin(`p${second}`));
    const actor = actors[second * 5 % actors.length];
    if (actor !== undefined) move(actor, second % 3 !== 0);
    if (second % 13 === 12) actors.shift()?.stop();
    if (second === 40) begin('p0');
    moments.push({ atMs: time.now(), content: content(board) });
  }
  return moments;
};

test('a history shows each moment as the board showed it then', async () => {
  const scene = watched();
  const moments = await livedThrough(scene);
  for (const { atMs, content: then } of moments) {
    expect([atMs, content(scene.board.history.at(atMs))]).toEqual([atMs, then]);
    expect(content(scene.board.history.at(atMs + 999))).toEqual(then);
  }
});

test.each([
  ['too old', { ageMs: 20_000 }],
  ['too many', { transitions: 20 }],
])('what is %s is forgotten, and leaves the state that it led to', async (_, limits) => {
  const scene = watched(limits);
  const moments = await livedThrough(scene);
  const { history } = scene.board;
  expect(history.fromMs()).toBeGreaterThan(START_MS + 30_000);
  const kept = moments.filter(({ atMs }) => atMs >= history.fromMs());
  expect(kept.length).toBeGreaterThan(10);
  for (const { atMs, content: then } of kept) {
    expect([atMs, content(history.at(atMs))]).toEqual([atMs, then]);
  }
});

test('a history holds no more transitions than its limit, and no more ended actors', () => {
  const { board, begin } = watched({ transitions: 50 });
  const actor = begin('busy');
  for (let at = 0; at < 10_000; at += 1) move(actor, at % 2 === 0);
  expect([...board.history.changesOf('podEviction')]).toHaveLength(50);
  for (let at = 0; at < 1000; at += 1) begin(`p${at}`).stop();
  expect([...board.history.recording('test')].length).toBeLessThanOrEqual(1 + 50 + 500 + 1);
});

test.each([
  ['dropped transitions', 50],
  ['kept transitions', 10_000],
])('a history keeps an ended drain beside the ended evictions of %s', async (_, transitions) => {
  const { time, board, begin } = watched({ transitions });
  begin('drained', 'nodeDrain/n1').stop();
  await time.advance(1000);
  for (let at = 0; at < 1000; at += 1) begin(`p${at}`).stop();
  const past = board.history.at(time.now());
  expect(past.row('nodeDrain/n1')?.status).toBe('stopped');
  expect(past.rows()).toHaveLength(501);
});

test('a history holds less of transitions that bring long lists', () => {
  const { board, begin } = watched({ items: 1000 });
  const actor = begin('p1');
  const budgets = Array.from({ length: 100 }, (_, at) => `ns/b${at}`);
  for (let at = 0; at < 50; at += 1) {
    actor.send({ type: 'pod.observed', facts: { ...FACTS, ...budgets } });
  }
  // Each brings the list twice: in its event, and in the context.
  expect([...board.history.changesOf('podEviction')]).toHaveLength(4);
});

test('a step leads to the nearest change of anything, or of one actor', async () => {
  const { time, board, begin } = watched();
  begin('p1');
  await time.advance(1000);
  begin('p2');
  await time.advance(1000);
  const { history } = board;
  expect(history.nextChange(START_MS, 1)).toBe(START_MS + 1000);
  expect(history.nextChange(time.now(), -1)).toBe(START_MS + 1000);
  expect(history.nextChange(time.now(), -1, 'podEviction/ns/p1')).toBe(START_MS);
  expect(history.nextChange(START_MS + 1000, 1)).toBeUndefined();
});

const linesOf = (texts: Iterable<string>): readonly RecordLine[] =>
  [...texts].map(recordEntry).flatMap((entry) => entry._tag === 'Line' ? [entry.line] : []);

test('the recording of a history replays to its states, also of actors that are older', async () => {
  const scene = watched({ ageMs: 20_000 });
  await livedThrough(scene);
  const { history } = scene.board;
  const texts = [...history.recording('test')];
  expect(recordEntry(texts[0] ?? '')).toEqual({
    _tag: 'Head',
    head: { recording: 'tidegate', format: 1, title: 'test', startedMs: history.fromMs() },
  });
  const clock = { nowMs: 0 };
  const replayed = makeActorBoard({ time: { now: () => clock.nowMs }, kinds: KINDS });
  const player = playerOn(replayed);
  for (const line of linesOf(texts)) {
    clock.nowMs = line.atMs;
    expect(player.play(line)).toBeUndefined();
  }
  const byId = (board: ActorBoard) =>
    board.rows().toSorted((left, right) => (left.id < right.id ? -1 : 1));
  expect(byId(replayed)).toEqual(byId(scene.board));
  for (const { id } of replayed.rows()) {
    expect(replayed.context(id)).toEqual(scene.board.context(id));
  }
});

test('a recording that is being written has nothing of later', () => {
  const { board, begin } = watched();
  begin('p1');
  const texts = board.history.recording('test');
  begin('p2');
  expect(linesOf(texts).map(({ id }) => id)).toEqual(['podEviction/ns/p1']);
});

test('what is from before the clock was set back leaves the state that it led to', () => {
  let nowMs = START_MS;
  const time = { now: () => nowMs };
  const board = withHistory(makeActorBoard({ time, kinds: KINDS }), time, LIMITS);
  const actor = createActor(podEviction, {
    id: 'podEviction/ns/p0',
    input: { uid: 'u-p0', key: 'ns/p0', node: 'n1', facts: FACTS, seed: 1 },
    inspect: inspectWith(() => {}, [board.observe]),
  }).start();
  nowMs -= 3_600_000;
  expect(board.history.fromMs()).toBe(nowMs);
  expect(content(board.history.at(nowMs))).toEqual(content(board));
  nowMs += 1000;
  move(actor, true);
  expect(board.history.fromMs()).toBeLessThan(nowMs);
  expect(content(board.history.at(nowMs))).toEqual(content(board));
});
