/** The drain board for all open pages: how often it is made, and who gets it. */
import { expect, test } from 'vitest';
import type { FeedMessage } from '../../../src/web/live-feed.ts';
import { HomeFeed } from '../../../src/web/home-feed.ts';
import { boardOf, readerOf } from '../../support/page/fed-board.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const PERIOD_MS = 500;

const feedOf = () => {
  const time = simulatedTime();
  const scene = boardOf({ 'gate/a': {}, 'leadership': {} });
  const homes = new HomeFeed({ board: scene.board, time });
  const page = () => {
    const { messages, reader, setBusy } = readerOf();
    return { messages, setBusy, close: homes.open(reader) };
  };
  return { time, page, ...scene };
};

/** The status of the lease in each message. */
const leases = (messages: readonly FeedMessage[]): readonly (string | undefined)[] =>
  messages.map((message) => message.type === 'home' ? message.home.health[0]?.status : undefined);

test('the drain board is sent at once and when it has changed, however much else moves', async () => {
  const { time, page, move } = feedOf();
  const { messages } = page();
  for (let at = 0; at < 20; at += 1) {
    move('gate/a', `state${at}`);
    await time.advance(200);
  }
  expect(messages).toHaveLength(1);
  move('leadership', 'leading.holding');
  await time.advance(2000);
  expect(messages[1]).toMatchObject({
    type: 'home',
    home: { health: [{ label: 'Lease', status: 'leads' }] },
  });
});

test('two pages cost one drain board a period, and both get it', async () => {
  const { time, page, move, readings } = feedOf();
  const pages = [page(), page()];
  expect(readings(), 'at the start').toBe(1);
  for (const state of ['leading.holding', 'standby', 'leading.holding']) {
    move('leadership', state);
    move('gate/a', state);
    await time.advance(PERIOD_MS);
  }
  expect(readings()).toBe(1 + 3);
  for (const { messages } of pages) {
    expect(leases(messages)).toEqual(['acquiring', 'leads', 'standby', 'leads']);
  }
});

test('a page that opens later gets the board of the period, or a new one', async () => {
  const { time, page, move, readings } = feedOf();
  page();
  await time.advance(PERIOD_MS / 2);
  page();
  expect(readings(), 'in the same period').toBe(1);
  await time.advance(60_000);
  expect(readings(), 'without a change').toBe(1);
  expect(page().messages).toHaveLength(1);
  expect(readings(), 'what it shows depends on the time').toBe(2);
  move('leadership', 'leading.holding');
  const late = page();
  expect(leases(late.messages), 'a change is due in this period').toEqual(['acquiring']);
  await time.advance(PERIOD_MS);
  expect(leases(late.messages)).toEqual(['acquiring', 'leads']);
});

test('without an open page nothing is computed, scheduled or followed', async () => {
  const { time, page, move, readings, listeners } = feedOf();
  move('leadership', 'leading.holding');
  await time.advance(10 * PERIOD_MS);
  expect([readings(), listeners.size]).toEqual([0, 0]);
  const [one, two] = [page(), page()];
  move('leadership', 'standby');
  one.close();
  two.close();
  expect(listeners.size).toBe(0);
  move('leadership', 'leading.holding');
  await time.advance(10 * PERIOD_MS);
  expect(readings()).toBe(1);
  expect(leases(page().messages)).toEqual(['leads']);
});

test('a page that accepts no data gets the newest board afterwards, and delays no other page', async () => {
  const { time, page, move, readings } = feedOf();
  const [slow, quick] = [page(), page()];
  slow.setBusy(true);
  move('leadership', 'leading.holding');
  await time.advance(PERIOD_MS);
  move('leadership', 'standby');
  await time.advance(PERIOD_MS);
  expect(leases(quick.messages)).toEqual(['acquiring', 'leads', 'standby']);
  expect(leases(slow.messages)).toEqual(['acquiring']);
  slow.setBusy(false);
  await time.advance(PERIOD_MS);
  expect(leases(slow.messages)).toEqual(['acquiring', 'standby']);
  expect(readings(), 'no further one for the slow page').toBe(3);
});

test('while no page accepts data nothing is computed', async () => {
  const { time, page, move, readings } = feedOf();
  const only = page();
  only.setBusy(true);
  for (let at = 0; at < 5; at += 1) {
    move('leadership', at % 2 === 0 ? 'leading.holding' : 'standby');
    await time.advance(PERIOD_MS);
  }
  expect(readings()).toBe(1);
  only.setBusy(false);
  await time.advance(PERIOD_MS);
  expect([readings(), leases(only.messages).at(-1)]).toEqual([2, 'leads']);
});
