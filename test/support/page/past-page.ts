/** A page with a past: a drain that began, was blocked by a budget, and ended, by its own clock. */
import { expect, onTestFinished } from 'vitest';
import { RESTORED } from '../../../src/api/actor-history.ts';
import { replayBoard, startLivePage } from '../../../src/cli/operator/live-page.ts';
import { playerOn } from '../../../src/cli/replay/recording.ts';
import { blockedVerdict } from '../../../src/domain/drain/verdict.ts';
import type { HistoricalBoard } from '../../../src/observability/actor-history.ts';
import { drainOf, NOW_MS, podOf, type SceneActor } from '../board/board-scene.ts';

interface Tree {
  [name: string]: Tree;
}

/** `a.b c.d` → `{ a: { b: {} }, c: { d: {} } }`: the value of a snapshot in these states. */
const valueOf = (state: string): Tree => {
  const root: Tree = {};
  for (const path of state.split(' ')) {
    let at = root;
    for (const name of path.split('.')) at = at[name] ??= {};
  }
  return root;
};

/** Feeds a board with actors as they are at a moment. */
const observe = (board: HistoricalBoard, atMs: number, actors: readonly SceneActor[]): void => {
  const player = playerOn(board);
  for (const { id, state = '', status = 'active', context } of actors) {
    const event = { type: RESTORED, value: valueOf(state), context };
    expect(player.play({ atMs, id, event, state, status })).toBeUndefined();
  }
};

const MINUTE_MS = 60_000;
const NODE = 'node-1';
const DEADLINE_MS = NOW_MS + 6 * MINUTE_MS;

const BLOCKED = blockedVerdict({
  blocker: {
    reason: 'BlockedByBudget',
    text: 'budget default/db allows 0 disruptions (10 healthy, 10 required)',
    change: '',
    subject: 'default/db',
  },
  pods: ['default/a'],
});

/** The moments of the page. */
export const MOMENTS = {
  beganMs: NOW_MS - 4 * MINUTE_MS,
  blockedMs: NOW_MS - 3 * MINUTE_MS,
  endedMs: NOW_MS - MINUTE_MS,
  nowMs: NOW_MS,
} as const;

/** A page, and what moves its clock. */
export interface PastPage {
  readonly url: string;
  readonly board: HistoricalBoard;
  readonly clock: { nowMs: number };
}

/** Serves it until the test ends. */
export const pastPage = async (): Promise<PastPage> => {
  const clock = { nowMs: MOMENTS.beganMs - MINUTE_MS };
  const board = replayBoard({ now: () => clock.nowMs });
  const at = (nowMs: number, actors: readonly SceneActor[]): void => {
    clock.nowMs = nowMs;
    observe(board, nowMs, actors);
  };
  at(clock.nowMs, [
    { id: 'leadership', state: 'leading.holding', context: { problem: '' } },
  ]);
  const drain = (left: number, more: Partial<SceneActor> & { readonly with?: object } = {}) => {
    const annotation = { ids: [], sinceMs: MOMENTS.beganMs, deadlineMs: DEADLINE_MS };
    return drainOf(NODE, left, { ...more, with: { annotation, ...more.with } });
  };
  at(MOMENTS.beganMs, [drain(2), podOf('a', NODE), podOf('b', NODE)]);
  at(MOMENTS.blockedMs, [
    drain(1, { with: { verdict: BLOCKED } }),
    podOf('b', NODE, { state: 'gone', status: 'done' }),
  ]);
  at(MOMENTS.endedMs, [
    podOf('a', NODE, { state: 'gone', status: 'done' }),
    drain(0, { state: 'clock.beforeLastQuarter bindings.complete work.drained' }),
  ]);
  clock.nowMs = MOMENTS.nowMs;
  const page = await startLivePage({
    address: { host: '', port: 0 },
    board,
    title: 'Tidegate · past',
    now: () => clock.nowMs,
  });
  onTestFinished(page.close);
  return { url: page.url, board, clock };
};
