/**
 * The answers of the live page's server about the past: a moment as JSON, and a recording.
 *
 * Promises: moments are made one after another with a pause between them, because each looks at all
 * actors of the process; one recording is written at a time, as fast as its reader reads.
 */
import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import type { ActorHistory } from '../api/actor-history.ts';
import type { Time } from '../domain/time.ts';
import { type MomentQuery, pastMoment } from './history-feed.ts';

/** What the answers are made of. */
export interface HistoryAnswersOptions {
  readonly history: ActorHistory;
  readonly time: Pick<Time, 'now' | 'schedule'>;
  /** The title of a recording. */
  readonly title: string;
  /** The headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called when an answer fails by a defect. */
  readonly onDefect: (response: ServerResponse, cause: unknown) => void;
}

/** The answers; each returns false when too many wait already. */
export interface HistoryAnswers {
  readonly moment: (response: ServerResponse, query: MomentQuery) => boolean;
  readonly recording: (response: ServerResponse) => boolean;
}

/** As long as a moment of ten thousand actors takes: the process has half of the time at least. */
const PAUSE_MS = 100;
const WAITING_MAX = 16;
const CHUNK_LINES = 200;

const sendMoment = (
  { history, time, headers }: HistoryAnswersOptions,
  response: ServerResponse,
  query: MomentQuery,
): void => {
  const body = JSON.stringify(pastMoment(history, query, time.now()));
  response.writeHead(200, {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(response.req.method === 'HEAD' ? undefined : body);
};

/** Several lines in one piece: a write for each would take longer than the lines. */
const chunks = function* (lines: Iterable<string>): Generator<string> {
  let chunk: string[] = [];
  for (const line of lines) {
    chunk.push(line, '\n');
    if (chunk.length < 2 * CHUNK_LINES) continue;
    yield chunk.join('');
    chunk = [];
  }
  yield chunk.join('');
};

/** `tidegate-2026-01-31T12-00-00Z.jsonl`: no colons, which some file systems refuse. */
const fileName = (nowMs: number): string =>
  `tidegate-${new Date(nowMs).toISOString().slice(0, 19).replaceAll(':', '-')}Z.jsonl`;

/** The answers of a server. */
export const historyAnswers = (options: HistoryAnswersOptions): HistoryAnswers => {
  const { history, time, title, headers, onDefect } = options;
  const waiting: (() => void)[] = [];
  let isPausing = false;
  let isRecording = false;
  const next = (): void => {
    isPausing = false;
    const send = waiting.shift();
    if (send === undefined) return;
    isPausing = true;
    send();
    time.schedule(PAUSE_MS, next);
  };
  return {
    moment: (response, query) => {
      if (waiting.length >= WAITING_MAX) return false;
      waiting.push(() => {
        if (response.destroyed) return;
        try {
          sendMoment(options, response, query);
        } catch (cause) {
          onDefect(response, cause);
        }
      });
      if (!isPausing) next();
      return true;
    },
    recording: (response) => {
      if (isRecording) return false;
      response.writeHead(200, {
        ...headers,
        'content-type': 'application/jsonl; charset=utf-8',
        'content-disposition': `attachment; filename="${fileName(time.now())}"`,
      });
      if (response.req.method === 'HEAD') {
        response.end();
        return true;
      }
      isRecording = true;
      pipeline(Readable.from(chunks(history.recording(title))), response, () => {
        isRecording = false;
      });
      return true;
    },
  };
};
