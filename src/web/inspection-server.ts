/**
 * The live page: an HTTP server that shows the actors of this process.
 *
 * Promises: read-only; a defect in it breaks a page and never the process; serves only content of
 * this program, under a strict CSP, to readers that `page-access.ts` admits; one peer cannot take
 * the places of all others; a refused request is no error; closing does not wait for clients.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { ActorBoard } from '../api/actor-board.ts';
import type { ActorHistory } from '../api/actor-history.ts';
import type { Time } from '../domain/time.ts';
import { type HistoryAnswers, historyAnswers } from './history-answers.ts';
import { historyMessages, momentQuery } from './history-feed.ts';
import { HomeFeed } from './home-feed.ts';
import { type PageAccess, pageRefusal } from './page-access.ts';
import {
  type FeedMessage,
  type FeedOptions,
  type FeedReader,
  startActorFeed,
  startBoardFeed,
} from './live-feed.ts';

/** The listen address; an empty host is loopback. */
export interface InspectAddress {
  readonly host: string;
  readonly port: number;
}

/** The files of the page. */
export interface PageFiles {
  readonly html: string;
  readonly script: string;
  readonly style: string;
  /** The descriptions of the machines, as JSON. */
  readonly catalogue: string;
  /** The drawing of each machine, by name. */
  readonly charts: Readonly<Record<string, string>>;
}

/** The content of the server. */
export interface InspectionOptions {
  readonly address: InspectAddress;
  readonly board: ActorBoard;
  /** The recent past of the board; none by default. */
  readonly history?: ActorHistory | undefined;
  /** The title of recordings. */
  readonly title?: string;
  readonly time: Pick<Time, 'now' | 'schedule'>;
  readonly files: PageFiles;
  /** Further names and the token of the page. */
  readonly access: Omit<PageAccess, 'host'>;
  /** The delays that run in the states of an actor. */
  readonly delaysOf?: FeedOptions['delaysOf'];
  /** Called when a browser opens the page, with the number of open pages. */
  readonly onOpened?: (pages: number) => void;
  /** Called when rendering fails by a defect. */
  readonly onDefect?: (cause: unknown) => void;
}

/** A running server. */
export interface InspectionServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

const LOOPBACK = '127.0.0.1';
/** The clock of the page, and its sign of life. */
const TICK_MS = 1000;
/** A page has one stream, and another for its selected actor. */
const STREAMS_MAX = 64;
/** A tunnel makes all its readers one peer; nobody may take the places of all others. */
const PEER_STREAMS_MAX = 16;
const CONNECTIONS_MAX = 256;
const PEER_CONNECTIONS_MAX = 64;
/** The time limit of a slow or silent client. */
const CLIENT_TIMEOUT_MS = 10_000;

const HEADERS = {
  'content-security-policy': "default-src 'none'; script-src 'self'; style-src 'self'; " +
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
    "frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

const answer = (
  response: ServerResponse,
  status: number,
  { type, body, headers = {} }: {
    readonly type: string;
    readonly body: string;
    readonly headers?: Readonly<Record<string, string>>;
  },
): void => {
  response.writeHead(status, {
    ...HEADERS,
    ...headers,
    'content-type': `${type}; charset=utf-8`,
    'content-length': Buffer.byteLength(body),
  });
  response.end(response.req.method === 'HEAD' ? undefined : body);
};

const plain = (response: ServerResponse, status: number, body: string): void =>
  answer(response, status, { type: 'text/plain', body });

const fileAt = (
  { html, script, style, catalogue, charts }: PageFiles,
  path: string,
): { readonly type: string; readonly body: string } | undefined => {
  if (path === '/') return { type: 'text/html', body: html };
  if (path === '/page.js') return { type: 'text/javascript', body: script };
  if (path === '/page.css') return { type: 'text/css', body: style };
  if (path === '/catalogue.json') return { type: 'application/json', body: catalogue };
  const machine = /^\/charts\/(\w+)\.svg$/.exec(path)?.[1];
  const chart = machine === undefined || !Object.hasOwn(charts, machine)
    ? undefined
    : charts[machine];
  return chart === undefined ? undefined : { type: 'image/svg+xml', body: chart };
};

/** A defect in the page must not end the process that it shows. */
const refuse = (
  { onDefect }: InspectionOptions,
  response: ServerResponse,
  cause: unknown,
): void => {
  onDefect?.(cause);
  if (response.headersSent) response.destroy();
  else plain(response, 500, 'Internal error: see the log\n');
};

/** Time whose timers pass exceptions to `refuse`. */
const guarded = (
  { now, schedule }: InspectionOptions['time'],
  refuse: (cause: unknown) => void,
): InspectionOptions['time'] => ({
  now,
  schedule: (delayMs, run) =>
    schedule(delayMs, () => {
      try {
        run();
      } catch (cause) {
        refuse(cause);
      }
    }),
});

/** The stream of a page: of the actor that is selected there, or of all actors. */
interface PageStream {
  readonly response: ServerResponse;
  readonly actor: string | undefined;
  readonly homes: HomeFeed;
}

const streamTo = (options: InspectionOptions, { response, actor, homes }: PageStream): void => {
  const { board, history } = options;
  const time = guarded(options.time, (cause) => refuse(options, response, cause));
  response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream; charset=utf-8' });
  const reader: FeedReader = {
    isBusy: () => response.writableNeedDrain,
    send: ({ type, ...message }: FeedMessage) => {
      response.write(`event: ${type}\ndata: ${JSON.stringify(message)}\n\n`);
    },
  };
  const feed = { board, time, reader, delaysOf: options.delaysOf };
  const stops = actor === undefined
    ? [startBoardFeed(feed), homes.open(reader)]
    : [startActorFeed(feed, actor)];
  const past = actor === undefined && history ? historyMessages(history) : undefined;
  let stopClock: () => void = () => {};
  const tick = (): void => {
    if (!reader.isBusy()) {
      const nowMs = time.now();
      reader.send(past ? { type: 'history', ...past(nowMs) } : { type: 'tick', nowMs });
    }
    stopClock = time.schedule(TICK_MS, tick);
  };
  tick();
  response.once('close', () => {
    for (const stop of stops) stop();
    stopClock();
  });
};

/** The streams of open pages: each has one of all actors, and one of its selected actor. */
interface OpenStreams {
  readonly all: Set<ServerResponse>;
  readonly boards: Set<ServerResponse>;
  /** The drain board for all of them. */
  readonly homes: HomeFeed;
}

/** Without a page. A defect of the drain board ends all streams that show it. */
const openStreams = (options: InspectionOptions): OpenStreams => {
  const boards = new Set<ServerResponse>();
  const time = guarded(options.time, (cause) => {
    for (const response of [...boards]) refuse(options, response, cause);
  });
  return { all: new Set(), boards, homes: new HomeFeed({ board: options.board, time }) };
};

const streamsOf = ({ socket }: IncomingMessage, all: ReadonlySet<ServerResponse>): number =>
  [...all].filter(({ req }) => req.socket.remoteAddress === socket.remoteAddress).length;

/** Closes connections of a peer that holds too many. */
const limitConnections = (server: Server): void => {
  const perPeer = new Map<string, number>();
  server.maxConnections = CONNECTIONS_MAX;
  server.headersTimeout = CLIENT_TIMEOUT_MS;
  server.requestTimeout = CLIENT_TIMEOUT_MS;
  server.on('connection', (socket) => {
    const peer = socket.remoteAddress ?? '';
    const held = (perPeer.get(peer) ?? 0) + 1;
    perPeer.set(peer, held);
    socket.once('close', () => {
      const left = (perPeer.get(peer) ?? 1) - 1;
      if (left > 0) perPeer.set(peer, left);
      else perPeer.delete(peer);
    });
    if (held > PEER_CONNECTIONS_MAX) socket.destroy();
  });
};

/** Answers about the past; undefined for other paths. */
const pastAnswer = (answers: HistoryAnswers | undefined, url: URL) => {
  if (answers === undefined) return undefined;
  if (url.pathname === '/recording.jsonl') return answers.recording;
  if (url.pathname !== '/past') return undefined;
  const query = momentQuery(url.searchParams);
  return (response: ServerResponse): boolean => {
    if (query === undefined) plain(response, 400, 'Write the moment as ?at=MILLISECONDS\n');
    return query === undefined || answers.moment(response, query);
  };
};

const answersOf = (options: InspectionOptions): HistoryAnswers | undefined => {
  const { history, time, title = 'Tidegate' } = options;
  return history && historyAnswers({
    history,
    time,
    title,
    headers: HEADERS,
    onDefect: (response, cause) => refuse(options, response, cause),
  });
};

const serve = (
  options: InspectionOptions,
  { all, boards, homes }: OpenStreams,
  answers = answersOf(options),
): (request: IncomingMessage, response: ServerResponse) => void =>
(request, response) => {
  const refusal = pageRefusal(request, { ...options.access, host: options.address.host });
  if (refusal !== undefined) {
    const { status, text, headers } = refusal;
    return answer(response, status, { type: 'text/plain', body: text, headers });
  }
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return plain(response, 405, 'This page is read-only: use GET\n');
  }
  if (url.pathname === '/live') {
    if (all.size >= STREAMS_MAX || streamsOf(request, all) >= PEER_STREAMS_MAX) {
      return plain(response, 503, 'Too many pages are open: close one\n');
    }
    const actor = url.searchParams.get('actor') ?? undefined;
    for (const streams of actor === undefined ? [all, boards] : [all]) {
      streams.add(response);
      response.once('close', () => streams.delete(response));
    }
    streamTo(options, { response, actor, homes });
    if (actor === undefined) options.onOpened?.(boards.size);
    return;
  }
  const past = pastAnswer(answers, url);
  if (past !== undefined) {
    if (!past(response)) plain(response, 503, 'Too many requests wait: try again\n');
    return;
  }
  const file = fileAt(options.files, url.pathname);
  return file === undefined
    ? plain(response, 404, 'Not found: the page is at /\n')
    : answer(response, 200, file);
};

const urlOf = (server: Server, host: string): string => {
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/`;
};

/** Starts the page; throws when the address is not available. */
export const startInspectionServer = (
  given: InspectionOptions,
): Promise<InspectionServer> => {
  const host = given.address.host === '' ? LOOPBACK : given.address.host;
  const options = { ...given, address: { ...given.address, host } };
  const handle = serve(options, openStreams(options));
  const server = createServer((request, response) => {
    try {
      handle(request, response);
    } catch (cause) {
      refuse(options, response, cause);
    }
  });
  limitConnections(server);
  return new Promise((resolve, reject) => {
    server.once('error', ({ message }) => {
      const where = `${host}:${options.address.port}`;
      reject(new Error(`Cannot listen on "${where}" for the live page: ${message}`));
    });
    server.listen({ port: options.address.port, host }, () => {
      resolve({
        url: urlOf(server, host),
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      });
    });
  });
};
