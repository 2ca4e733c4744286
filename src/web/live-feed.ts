/**
 * The messages to one open page: all actors once, then changed ones in batches, and the details of
 * its selected actor.
 *
 * Promises: a slow reader gets fewer batches and never a queue, because changes are kept as a set
 * of names; nothing is computed without a reader.
 */
import type { ActorBoard, ActorDetail, ActorRow } from '../api/actor-board.ts';
import { type DrainVerdict, isDrainVerdict } from '../domain/drain/verdict.ts';
import { valueAt } from '../domain/json.ts';
import { cutText } from '../domain/text.ts';
import { type ActorLink, actorLinks } from '../view/actor-links.ts';
import type { Time } from '../domain/time.ts';

/** A row as sent: id, kind, state, reason, status, since, born. */
export type SentRow = readonly [
  id: string,
  kind: string,
  state: string,
  reason: string,
  status: string,
  sinceMs: number,
  bornMs: number,
];

/** The messages to a page. */
export type FeedMessage =
  | { readonly type: 'tick'; readonly nowMs: number }
  | { readonly type: 'board'; readonly nowMs: number; readonly rows: readonly SentRow[] }
  | {
    readonly type: 'changes';
    readonly nowMs: number;
    readonly rows: readonly SentRow[];
    readonly gone: readonly string[];
  }
  | { readonly type: 'actor'; readonly nowMs: number; readonly actor: SentActor | null };

/** The details of one actor, as sent. */
export interface SentActor extends Omit<ActorDetail, 'row' | 'context'> {
  readonly row: SentRow;
  readonly links: readonly ActorLink[];
  /** The number of links omitted over the limit. */
  readonly linksLeftOut: number;
  /** The data of the snapshot, as JSON; truncated when long. */
  readonly context: string;
  /** What is the matter with it, when it has a verdict. */
  readonly verdict: DrainVerdict | null;
}

/** The recipient of messages. */
export interface FeedReader {
  /** True while earlier data is not accepted yet. */
  readonly isBusy: () => boolean;
  readonly send: (message: FeedMessage) => void;
}

/** The inputs of a feed. */
export interface FeedOptions {
  readonly board: ActorBoard;
  readonly time: Pick<Time, 'now' | 'schedule'>;
  readonly reader: FeedReader;
}

/** Fast enough to look live, slow enough that 500 changes a second are five messages. */
const BATCH_MS = 200;
const LINKS_SENT = 200;
const CONTEXT_CHARACTERS = 20_000;

const sent = (row: ActorRow): SentRow => [
  row.id,
  row.kind,
  row.state,
  row.reason ?? '',
  row.status,
  row.sinceMs,
  row.bornMs,
];

/** Values without a JSON form, as text. */
const plain = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? `${value}` : value;

const jsonOf = (context: unknown): string => {
  try {
    return JSON.stringify(context, plain, 1) ?? '';
  } catch (cause) {
    return `Cannot show the data: ${cause instanceof Error ? cause.message : String(cause)}`;
  }
};

const contextText = (context: unknown): string => {
  return cutText(jsonOf(context), CONTEXT_CHARACTERS, '\n…');
};

const linksOf = (board: ActorBoard, { row, context }: ActorDetail): readonly ActorLink[] => {
  const all = function* () {
    for (const { id, kind } of board.rows()) yield { id, kind, context: board.context(id) };
  };
  return actorLinks({ id: row.id, kind: row.kind, context }, all());
};

/** An ended actor is not blocked any more. */
const verdictIn = ({ row, context }: ActorDetail): DrainVerdict | null => {
  const verdict = valueAt(context, 'verdict');
  return row.status === 'active' && isDrainVerdict(verdict) ? verdict : null;
};

const sentActor = (board: ActorBoard, id: string): SentActor | null => {
  const detail = board.detail(id);
  if (detail === undefined) return null;
  const links = linksOf(board, detail);
  return {
    row: sent(detail.row),
    path: detail.path,
    log: detail.log,
    context: contextText(detail.context),
    verdict: verdictIn(detail),
    links: links.slice(0, LINKS_SENT),
    linksLeftOut: Math.max(0, links.length - LINKS_SENT),
  };
};

/** Calls `flush` some time after the first mark, and again while the reader is busy. */
const batches = ({ time, reader }: FeedOptions, flush: () => void) => {
  let cancel: (() => void) | undefined;
  const due = (): void => {
    cancel = reader.isBusy() ? time.schedule(BATCH_MS, due) : undefined;
    if (cancel === undefined) flush();
  };
  return {
    mark: () => {
      cancel ??= time.schedule(BATCH_MS, due);
    },
    stop: () => cancel?.(),
  };
};

/** Sends all actors; returns a stop function. */
export const startBoardFeed = (options: FeedOptions): () => void => {
  const { board, time, reader } = options;
  const changed = new Set<string>();
  const { mark, stop } = batches(options, () => {
    const rows: SentRow[] = [];
    const gone: string[] = [];
    for (const id of changed) {
      const row = board.row(id);
      if (row === undefined) gone.push(id);
      else rows.push(sent(row));
    }
    changed.clear();
    reader.send({ type: 'changes', nowMs: time.now(), rows, gone });
  });
  const unsubscribe = board.subscribe((id) => {
    changed.add(id);
    mark();
  });
  reader.send({ type: 'board', nowMs: time.now(), rows: board.rows().map(sent) });
  return () => {
    unsubscribe();
    stop();
  };
};

/** Sends the details of one actor on every change; returns a stop function. */
export const startActorFeed = (options: FeedOptions, id: string): () => void => {
  const { board, time, reader } = options;
  const send = (): void =>
    reader.send({ type: 'actor', nowMs: time.now(), actor: sentActor(board, id) });
  const { mark, stop } = batches(options, send);
  const unsubscribe = board.subscribe((changed) => {
    if (changed === id) mark();
  });
  send();
  return () => {
    unsubscribe();
    stop();
  };
};
