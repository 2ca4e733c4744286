/** How the live page opens a stream again that its browser has given up, or does not see lost. */
import { expect, test } from 'vitest';
import { openEventStream } from '../../../src/web/page/event-stream.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const [CONNECTING, OPEN, CLOSED] = [0, 1, 2];
const LONG_MS = 60_000;

/** An EventSource without a network. */
class FakeSource {
  readonly address: string;
  readyState = OPEN;
  readonly #listeners: (readonly [type: string, listener: (event: MessageEvent) => void])[] = [];

  constructor(address: string) {
    this.address = address;
  }

  addEventListener(type: string, listener: (event: MessageEvent) => void): void {
    this.#listeners.push([type, listener]);
  }

  /** What a browser does when a connection is lost, or an answer is not a stream. */
  fail(readyState: number): void {
    this.readyState = readyState;
    this.#dispatch(new MessageEvent('error'));
  }

  send(data: string, type = 'board'): void {
    this.#dispatch(new MessageEvent(type, { data }));
  }

  close(): void {
    this.readyState = CLOSED;
  }

  #dispatch(event: MessageEvent): void {
    for (const [type, listener] of this.#listeners) if (type === event.type) listener(event);
  }
}

const followed = () => {
  const time = simulatedTime();
  const opened: FakeSource[] = [];
  const received: unknown[] = [];
  const close = openEventStream('/live', {
    board: ({ data }) => void received.push(data),
    error: () => void received.push('error'),
  }, {
    open: (address) => {
      const source = new FakeSource(address);
      opened.push(source);
      return source;
    },
    schedule: time.schedule,
  });
  return { time, opened, received, close, last: () => opened.at(-1) };
};

test('a stream that its browser reconnects is not opened again', async () => {
  const { time, opened, received, last } = followed();
  last()?.fail(CONNECTING);
  await time.advance(LONG_MS / 2);
  expect([opened.length, received]).toEqual([1, ['error']]);
});

test('a stream that its browser has given up is opened once more, with the same listeners', async () => {
  const { time, opened, received, last } = followed();
  last()?.fail(CLOSED);
  await time.advance(2_000);
  expect(opened).toHaveLength(1);
  await time.advance(LONG_MS);
  expect(opened.map(({ address }) => address)).toEqual(['/live', '/live']);
  last()?.send('rows');
  expect(received).toEqual(['error', 'rows']);
});

test('a stream is opened again for as long as its browser gives up', async () => {
  const { time, opened, last } = followed();
  for (let failures = 0; failures < 5; failures += 1) {
    last()?.fail(CLOSED);
    await time.advance(LONG_MS);
  }
  expect(opened).toHaveLength(6);
});

test('two errors of one stream open one other', async () => {
  const { time, opened, last } = followed();
  last()?.fail(CLOSED);
  last()?.fail(CLOSED);
  await time.advance(LONG_MS);
  expect(opened).toHaveLength(2);
});

test('a stream that the page closes is not opened again, also during the wait', async () => {
  const waiting = followed();
  waiting.last()?.fail(CLOSED);
  waiting.close();
  await waiting.time.advance(LONG_MS);
  expect(waiting.opened).toHaveLength(1);
  const open = followed();
  open.close();
  open.last()?.fail(CLOSED);
  await open.time.advance(LONG_MS);
  expect(open.opened).toHaveLength(1);
});

test('closing a stream that was opened again closes that one', async () => {
  const { time, opened, last, close } = followed();
  last()?.fail(CLOSED);
  await time.advance(LONG_MS);
  close();
  expect(opened.map(({ readyState }) => readyState)).toEqual([CLOSED, CLOSED]);
});

test('an open stream without any message is lost, and opened again', async () => {
  const { time, opened, received, last } = followed();
  last()?.send('rows');
  await time.advance(9_000);
  expect([opened.length, received]).toEqual([1, ['rows']]);
  await time.advance(2_000);
  expect([opened.length, received]).toEqual([2, ['rows', 'error']]);
  expect(opened[0]?.readyState).toBe(CLOSED);
  last()?.send('new rows');
  expect(received.at(-1)).toBe('new rows');
});

test('a tick each second keeps a stream, also one without a listener of it', async () => {
  const { time, opened, received, last } = followed();
  for (let seconds = 0; seconds < 30; seconds += 1) {
    last()?.send('', 'tick');
    await time.advance(1_000);
  }
  expect([opened.length, received]).toEqual([1, []]);
});

test('a stream that never begins is opened again after a minute', async () => {
  const { time, opened, received } = followed();
  await time.advance(LONG_MS - 1_000);
  expect(opened).toHaveLength(1);
  await time.advance(1_000);
  expect([opened.length, received]).toEqual([2, ['error']]);
});

test('a stream that the page closes is not watched for silence', async () => {
  const { time, opened, received, last, close } = followed();
  last()?.send('rows');
  close();
  await time.advance(LONG_MS);
  expect([opened.length, received]).toEqual([1, ['rows']]);
});
