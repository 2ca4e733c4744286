/**
 * The messages to one open page: all actors once, then changed ones in batches, and the details of
 * its selected actor.
 *
 * Promises: a slow reader gets fewer batches and never a queue, because changes are kept as a set
 * of names; nothing is computed without a reader.
 */
import type { ActorBoard, ActorDetail, ActorRow } from '../api/actor-board.ts';
import { atBudget } from '../domain/drain/blocker.ts';
import { blockedVerdict, type DrainVerdict, isDrainVerdict } from '../domain/drain/verdict.ts';
import { neverAllows } from '../domain/drain/closed-budget.ts';
import { textAt, valueAt } from '../domain/json.ts';
import { cutText } from '../domain/text.ts';
import { type ActorLink, actorLinks } from '../view/actor-links.ts';
import { boardActors, budgetIn, neededBudget } from '../view/board/board-actors.ts';
import type { BoardVerdict } from '../view/board/board-verdict.ts';
import type { DrainBoard } from '../view/board/drain-board.ts';
import { nodeCard } from '../view/board/node-card.ts';
import { objectName } from '../view/board/object-name.ts';
import { type ReclaimTimeline, reclaimTimeline } from '../view/board/reclaim-timeline.ts';
import type { PendingDelay } from '../view/pending-delays.ts';
import type { Time } from '../domain/time.ts';
import type { SentHistory } from './history-feed.ts';

/** A row as sent; with a name for an actor whose id is not the name of its object. */
export type SentRow = readonly [
  id: string,
  kind: string,
  state: string,
  reason: string,
  status: string,
  sinceMs: number,
  bornMs: number,
  name?: string,
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
  | { readonly type: 'history' } & SentHistory
  | { readonly type: 'home'; readonly nowMs: number; readonly home: DrainBoard }
  | { readonly type: 'actor'; readonly nowMs: number; readonly actor: SentActor | null };

/** The details of one actor, as sent. */
export interface SentActor extends Omit<ActorDetail, 'row' | 'context'> {
  readonly row: SentRow;
  readonly links: readonly ActorLink[];
  /** The number of links omitted over the limit. */
  readonly linksLeftOut: number;
  /** The data of the snapshot, as JSON; truncated when long. */
  readonly context: string;
  /** Of a reclaim or a drain. */
  readonly timeline: ReclaimTimeline | null;
  /** What is the matter with it, when it has a verdict. */
  readonly verdict: BoardVerdict | null;
  /** The delays that run in its states. */
  readonly delays: readonly PendingDelay[];
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
  /** The delays that run in the states of an actor; none without it. */
  readonly delaysOf?: ((detail: ActorDetail) => readonly PendingDelay[]) | undefined;
}

/** Fast enough to look live, slow enough that 500 changes a second are five messages. */
const BATCH_MS = 200;
const LINKS_SENT = 200;
const CONTEXT_CHARACTERS = 20_000;

/** People know an object by its name, and commands need it. */
const nameIn = (board: FeedOptions['board'], row: ActorRow): readonly [name?: string] => {
  const name = objectName(row, board.context(row.id));
  return name === undefined ? [] : [name];
};

/** A queue before a budget that cannot open is no wait for a slot. */
const reasonOf = (board: FeedOptions['board'], { id, state, reason }: ActorRow): string => {
  if (reason !== 'BlockedByBudget' || state !== 'queued') return reason ?? '';
  const budget = budgetIn(board.context(`budget/${neededBudget(board.context(id))}`));
  return budget !== undefined && neverAllows(budget) ? 'BudgetNeverAllows' : reason;
};

/** A row as it is sent. */
export const sentRow = (board: FeedOptions['board'], row: ActorRow): SentRow => [
  row.id,
  row.kind,
  row.state,
  reasonOf(board, row),
  row.status,
  row.sinceMs,
  row.bornMs,
  ...nameIn(board, row),
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

/** The verdict on a pod that queues for a slot of a budget which never gives one. */
const queueVerdict = (board: ActorBoard, { row, context }: ActorDetail): DrainVerdict | null => {
  if (row.kind !== 'podEviction' || row.state !== 'queued') return null;
  const budget = budgetIn(board.context(`budget/${neededBudget(context)}`));
  if (budget === undefined || !neverAllows(budget)) return null;
  const blocker = atBudget(budget, { interrupted: [] });
  return blockedVerdict({ blocker, pods: [textAt(context, 'key') ?? ''] });
};

/** The verdict on the card of a drain; none when all is well. */
const drainVerdictIn = (board: ActorBoard, { row, context }: ActorDetail): BoardVerdict | null => {
  const verdict = nodeCard({ ...row, context }, boardActors(board))?.verdict;
  return verdict === undefined || verdict.severity === 'Ok' ? null : verdict;
};

/** An ended actor is not blocked any more. */
const verdictIn = (board: ActorBoard, detail: ActorDetail): BoardVerdict | null => {
  if (detail.row.status !== 'active') return null;
  if (detail.row.kind === 'nodeDrain') return drainVerdictIn(board, detail);
  const verdict = valueAt(detail.context, 'verdict');
  return isDrainVerdict(verdict) ? verdict : queueVerdict(board, detail);
};

/** The details of an actor as they are sent; null for an unknown one. */
export const sentActor = (
  { board, delaysOf }: Pick<FeedOptions, 'board' | 'delaysOf'>,
  id: string,
): SentActor | null => {
  const detail = board.detail(id);
  if (detail === undefined) return null;
  const links = linksOf(board, detail);
  return {
    row: sentRow(board, detail.row),
    path: detail.path,
    log: detail.log,
    context: contextText(detail.context),
    timeline: reclaimTimeline(board, detail),
    verdict: verdictIn(board, detail),
    delays: delaysOf?.(detail) ?? [],
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

/**
 * The pods that queue for a budget whose ability to open has changed: their reason is another one,
 * although they have not moved.
 */
const flippedQueues = (board: ActorBoard) => {
  const closed = new Set<string>();
  return (id: string): readonly string[] => {
    if (!id.startsWith('budget/')) return [];
    const budget = budgetIn(board.context(id));
    const isClosed = budget !== undefined && neverAllows(budget);
    if (isClosed === closed.has(id)) return [];
    if (isClosed) closed.add(id);
    else closed.delete(id);
    return board.rows().filter(({ kind, state }) => kind === 'podEviction' && state === 'queued')
      .map((row) => row.id);
  };
};

/** Sends all actors; returns a stop function. */
export const startBoardFeed = (options: FeedOptions): () => void => {
  const { board, time, reader } = options;
  const changed = new Set<string>();
  const queuesOf = flippedQueues(board);
  const { mark, stop } = batches(options, () => {
    const rows: SentRow[] = [];
    const gone: string[] = [];
    for (const id of changed) {
      const row = board.row(id);
      if (row === undefined) gone.push(id);
      else rows.push(sentRow(board, row));
    }
    changed.clear();
    reader.send({ type: 'changes', nowMs: time.now(), rows, gone });
  });
  const unsubscribe = board.subscribe((id) => {
    changed.add(id);
    for (const pod of queuesOf(id)) changed.add(pod);
    mark();
  });
  reader.send({
    type: 'board',
    nowMs: time.now(),
    rows: board.rows().map((row) => sentRow(board, row)),
  });
  return () => {
    unsubscribe();
    stop();
  };
};

/** Sends the details of one actor on every change; returns a stop function. */
export const startActorFeed = (options: FeedOptions, id: string): () => void => {
  const { board, time, reader } = options;
  let onTimeline: ReadonlySet<string> = new Set();
  const send = (): void => {
    const actor = sentActor(options, id);
    onTimeline = new Set(actor?.timeline?.rows.map((row) => row.id));
    reader.send({ type: 'actor', nowMs: time.now(), actor });
  };
  const { mark, stop } = batches(options, send);
  const unsubscribe = board.subscribe((changed) => {
    if (changed === id || onTimeline.has(changed)) mark();
  });
  send();
  return () => {
    unsubscribe();
    stop();
  };
};
