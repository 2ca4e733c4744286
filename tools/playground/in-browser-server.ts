/**
 * Answers the requests of the live page inside of the browser, so that the page itself runs without
 * a process: the same messages, from the sandbox of the playground.
 *
 * Promises: no request leaves the page.
 */
import { HomeFeed } from '../../src/web/home-feed.ts';
import { type FeedMessage, startActorFeed, startBoardFeed } from '../../src/web/live-feed.ts';
import { historyMessages, momentQuery, pastMoment } from '../../src/web/history-feed.ts';
import type { Sandbox } from './sandbox.ts';

/** What is served. */
export interface BrowserFiles {
  readonly catalogue: object;
  /** The drawing of each statechart. */
  readonly charts: Readonly<Record<string, string>>;
}

/** Serves a sandbox. */
export interface InBrowserServer {
  /** Serves another sandbox: open pages begin again. */
  readonly serve: (sandbox: Sandbox) => void;
  /** Informs open pages that something has happened. */
  readonly announce: () => void;
}

const ORIGIN = 'http://playground.invalid';

const schedule = (delayMs: number, run: () => void): () => void => {
  const timer = setTimeout(run, delayMs);
  return () => clearTimeout(timer);
};

/** The page takes a stream without messages for a lost one. */
const TICK_MS = 1000;

/** Calls `run` each second; returns a stop function. */
const ticking = (run: () => void): () => void => {
  let stop = (): void => {};
  const tick = (): void => {
    run();
    stop = schedule(TICK_MS, tick);
  };
  tick();
  return () => stop();
};

/** A stream of the page, fed from the current sandbox. */
class LocalStream extends EventTarget {
  readonly #actor: string | null;
  #stops: readonly (() => void)[] = [];
  #sendHistory: () => void = () => {};

  constructor(address: string | URL) {
    super();
    this.#actor = new URL(address, ORIGIN).searchParams.get('actor');
    streams.add(this);
    // The page adds its listeners first.
    queueMicrotask(() => this.begin());
  }

  begin(): void {
    for (const stop of this.#stops) stop();
    const sandbox = served;
    if (sandbox === undefined || !streams.has(this)) return;
    const send = ({ type, ...message }: FeedMessage): void => {
      this.dispatchEvent(new MessageEvent(type, { data: JSON.stringify(message) }));
    };
    const { board, nowMs } = sandbox;
    const feed = {
      board,
      time: { now: nowMs, schedule },
      reader: { isBusy: () => false, send },
    };
    const ticks = ticking(() => send({ type: 'tick', nowMs: nowMs() }));
    if (this.#actor !== null) {
      this.#stops = [ticks, startActorFeed(feed, this.#actor)];
      return;
    }
    const history = historyMessages(board.history);
    this.#sendHistory = () => send({ type: 'history', ...history(nowMs()) });
    this.#stops = [ticks, startBoardFeed(feed), new HomeFeed(feed).open(feed.reader)];
    this.#sendHistory();
  }

  announce(): void {
    this.#sendHistory();
  }

  close(): void {
    for (const stop of this.#stops) stop();
    streams.delete(this);
  }
}

const streams = new Set<LocalStream>();
let served: Sandbox | undefined;

const json = (value: unknown): Response => Response.json(value);
const missing = (): Response => new Response('Not found', { status: 404 });

const answer = (files: BrowserFiles, url: URL): Response => {
  if (url.pathname === '/catalogue.json') return json(files.catalogue);
  const chart = /^\/charts\/(\w+)\.svg$/.exec(url.pathname)?.[1];
  if (chart !== undefined) {
    const drawing = files.charts[chart];
    return drawing === undefined ? missing() : new Response(drawing);
  }
  const query = url.pathname === '/past' ? momentQuery(url.searchParams) : undefined;
  if (query === undefined || served === undefined) return missing();
  return json(pastMoment(served.board.history, query, served.nowMs()));
};

/** Takes the place of the network. */
export const serveInBrowser = (files: BrowserFiles): InBrowserServer => {
  Object.assign(globalThis, {
    EventSource: LocalStream,
    fetch: (address: string): Promise<Response> =>
      Promise.resolve(answer(files, new URL(address, ORIGIN))),
  });
  return {
    serve: (sandbox) => {
      served = sandbox;
      for (const stream of streams) stream.begin();
    },
    announce: () => {
      for (const stream of streams) stream.announce();
    },
  };
};
