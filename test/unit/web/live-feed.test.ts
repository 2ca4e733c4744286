/** The messages to an open page, and how few of them a slow page gets. */
import { expect, test } from 'vitest';
import { boardOf, readerOf } from '../../support/page/fed-board.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { startActorFeed, startBoardFeed } from '../../../src/web/live-feed.ts';

const BATCH_MS = 200;

test('a page gets every actor once, then each changed one, in one batch', async () => {
  const time = simulatedTime();
  const { board, move, forget } = boardOf({ 'gate/a': {}, 'gate/b': {} });
  const { messages, reader } = readerOf();
  startBoardFeed({ board, time, reader });
  for (const state of ['high', 'low', 'high']) move('gate/a', state);
  forget('gate/b');
  await time.advance(BATCH_MS);
  expect(messages).toHaveLength(2);
  expect(messages[0]).toMatchObject({
    type: 'board',
    rows: [
      ['gate/a', 'gate', 'low', '', 'active', 1, 1],
      ['gate/b', 'gate', 'low', '', 'active', 1, 1],
    ],
  });
  expect(messages[1]).toMatchObject({
    type: 'changes',
    rows: [['gate/a', 'gate', 'high', '', 'active', 1, 1]],
    gone: ['gate/b'],
  });
});

test('a slow page gets the current state when it is ready, and nothing in between', async () => {
  const time = simulatedTime();
  const { board, move } = boardOf({ 'gate/a': {} });
  const { messages, reader, setBusy } = readerOf();
  startBoardFeed({ board, time, reader });
  setBusy(true);
  for (let at = 0; at < 50; at += 1) {
    move('gate/a', `state${at}`);
    await time.advance(BATCH_MS);
  }
  expect(messages).toHaveLength(1);
  setBusy(false);
  await time.advance(BATCH_MS);
  expect(messages).toHaveLength(2);
  expect(messages[1]).toMatchObject({ rows: [['gate/a', 'gate', 'state49', '', 'active', 1, 1]] });
});

test('a closed page gets nothing more and costs nothing', async () => {
  const time = simulatedTime();
  const { board, move, listeners } = boardOf({ 'gate/a': {} });
  const { messages, reader } = readerOf();
  const stop = startBoardFeed({ board, time, reader });
  move('gate/a', 'high');
  stop();
  await time.advance(10 * BATCH_MS);
  expect(messages).toHaveLength(1);
  expect([listeners.size, time.pending()]).toEqual([0, 0]);
});

test('a page with a selected drain gets its reclaim and its pods, and its removal', async () => {
  const time = simulatedTime();
  const { board, forget } = boardOf({
    'nodeDrain/n1': { annotation: { ids: ['i1'] }, orders: [] },
    'reclaimInstruction/i1': { entries: [{ machine: 'm1', node: 'n1' }] },
    'podEviction/ns/p1': { node: 'n1', facts: { need: { _tag: 'One', budget: 'ns/b' } } },
    'podEviction/ns/p2': { node: 'n2', facts: { need: { _tag: 'None' } } },
    'budget/ns/b': {},
  });
  const { messages, reader } = readerOf();
  startActorFeed({ board, time, reader }, 'nodeDrain/n1');
  expect(messages[0]).toMatchObject({
    type: 'actor',
    actor: {
      links: [
        { relation: 'pod', id: 'podEviction/ns/p1' },
        { relation: 'reclaim', id: 'reclaimInstruction/i1' },
      ],
    },
  });
  forget('nodeDrain/n1');
  await time.advance(BATCH_MS);
  expect(messages[1]).toMatchObject({ type: 'actor', actor: null });
});

test('data without a JSON form is shown as far as possible, and never ends the feed', () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  const { board } = boardOf({ 'gate/a': { height: 12n }, 'gate/b': circle });
  const sent = ['gate/a', 'gate/b'].map((id) => {
    const { messages, reader } = readerOf();
    startActorFeed({ board, time: simulatedTime(), reader }, id);
    const [message] = messages;
    return message?.type === 'actor' ? message.actor?.context : undefined;
  });
  expect(sent[0]).toBe('{\n "height": "12"\n}');
  expect(sent[1]).toMatch(/^Cannot show the data: .*circular/s);
});

test('a demand is sent with the name of its pod, and a machine with that of its object', () => {
  const { board } = boardOf({
    'podDemand/uid-1': { pod: { namespace: 'shop', name: 'web-1' } },
    'upcomingNode/m-1': { machineId: 'm-1', name: 'un-m-1' },
  });
  const { messages, reader } = readerOf();
  startBoardFeed({ board, time: simulatedTime(), reader });
  expect(messages[0]).toMatchObject({
    rows: [
      ['podDemand/uid-1', 'podDemand', 'low', '', 'active', 1, 1, 'shop/web-1'],
      ['upcomingNode/m-1', 'upcomingNode', 'low', '', 'active', 1, 1, 'un-m-1'],
    ],
  });
});
