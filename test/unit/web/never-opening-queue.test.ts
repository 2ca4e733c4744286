/**
 * A pod that queues for a budget which never opens: its row and its panel name that cause, and not
 * a slot that will come.
 */
import { expect, test } from 'vitest';
import type { ActorBoard } from '../../../src/api/actor-board.ts';
import { type FeedMessage, startActorFeed, startBoardFeed } from '../../../src/web/live-feed.ts';
import { budgetOf, podOf, type SceneActor, sceneOf } from '../../support/board/board-scene.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const BATCH_MS = 200;
const POD = 'podEviction/default/a';
const BUDGET = 'budget/default/db';

const started = () => {
  let scene = sceneOf([]);
  const listeners = new Set<(id: string) => void>();
  const board: ActorBoard = {
    rows: () => scene.rows(),
    row: (id) => scene.rows().find((row) => row.id === id),
    context: (id) => scene.context(id),
    detail: (id) => {
      const row = scene.rows().find((one) => one.id === id);
      return row && { row, path: [], log: [], context: scene.context(id) };
    },
    subscribe: (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
  };
  const show = (...actors: readonly SceneActor[]): void => {
    scene = sceneOf(actors);
  };
  const messages: FeedMessage[] = [];
  const time = simulatedTime();
  const reader = {
    isBusy: () => false,
    send: (message: FeedMessage) => void messages.push(message),
  };
  return { board, show, messages, time, reader, listeners };
};

const pod = podOf('a', 'node-1', { budget: 'default/db' });

test('its row changes when the budget does, although the pod has not moved', async () => {
  const { board, show, messages, time, reader, listeners } = started();
  show(pod, budgetOf(['a'], { maxUnavailable: 1, healthy: 9 }));
  startBoardFeed({ board, time, reader });
  expect(JSON.stringify(messages[0])).toContain(
    `"${POD}","podEviction","queued","BlockedByBudget"`,
  );
  show(pod, budgetOf(['a'], { maxUnavailable: 0 }));
  for (const changed of listeners) changed(BUDGET);
  await time.advance(BATCH_MS);
  expect(JSON.stringify(messages[1])).toContain(
    `"${POD}","podEviction","queued","BudgetNeverAllows"`,
  );
  show(pod, budgetOf(['a'], { maxUnavailable: 1, healthy: 9 }));
  for (const changed of listeners) changed(BUDGET);
  await time.advance(BATCH_MS);
  expect(JSON.stringify(messages[2])).toContain(
    `"${POD}","podEviction","queued","BlockedByBudget"`,
  );
});

test('its panel has the change that lets it leave', () => {
  const { board, show, messages, time, reader } = started();
  show(pod, budgetOf(['a'], { maxUnavailable: 0 }));
  startActorFeed({ board, time, reader }, POD);
  expect(messages[0]).toMatchObject({
    actor: { verdict: { reason: 'BudgetNeverAllows', canAct: 'application' } },
  });
  expect(JSON.stringify(messages[0])).toContain('kubectl patch pdb db');
});
