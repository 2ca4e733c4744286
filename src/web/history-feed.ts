/**
 * The history on the live page: its bounds and milestones with every tick, and the page as it was
 * at a moment.
 *
 * Promises: milestones are made again only when something has changed, and sent only when they are
 * others; a moment outside of the history is moved to its nearest end.
 */
import type { ActorBoard } from '../api/actor-board.ts';
import type { ActorHistory } from '../api/actor-history.ts';
import type { DrainBoard } from '../view/board/drain-board.ts';
import { drainBoard } from '../view/board/drain-board.ts';
import { type DrainMilestone, drainMilestones } from '../view/board/drain-milestones.ts';
import { type SentActor, sentActor, type SentRow, sentRow } from './live-feed.ts';

/** How far the history reaches, and what happened in it. */
export interface SentHistory {
  readonly nowMs: number;
  readonly fromMs: number;
  /** Null when they are as in the last message. */
  readonly milestones: readonly DrainMilestone[] | null;
}

/** The page as it was. */
export interface PastMoment {
  readonly atMs: number;
  readonly rows: readonly SentRow[];
  readonly home: DrainBoard;
  /** The id of the selected actor; empty without one. */
  readonly actorId: string;
  readonly actor: SentActor | null;
}

/** Which moment. */
export interface MomentQuery {
  readonly atMs: number;
  /** The change before or after the moment instead of the moment itself; 0 for the moment. */
  readonly step: 1 | 0 | -1;
  readonly actorId: string;
}

const DRAINS = 'nodeDrain';

/** Returns the next message to one page. */
export const historyMessages = (history: ActorHistory): (nowMs: number) => SentHistory => {
  let version = -1;
  let milestones: readonly DrainMilestone[] = [];
  let sent = '';
  return (nowMs) => {
    const fromMs = history.fromMs();
    if (version !== history.version()) milestones = drainMilestones(history.changesOf(DRAINS));
    version = history.version();
    milestones = milestones.filter(({ atMs }) => atMs >= fromMs);
    const text = JSON.stringify(milestones);
    const isNew = text !== sent;
    sent = text;
    return { nowMs, fromMs, milestones: isNew ? milestones : null };
  };
};

/** The query in an address: `at=MS&step=-1&actor=ID`; undefined for an invalid one. */
export const momentQuery = (search: URLSearchParams): MomentQuery | undefined => {
  const text = search.get('at') ?? '';
  const atMs = Number(text);
  if (text === '' || !Number.isFinite(atMs)) return undefined;
  const step = ([1, -1] as const).find((one) => String(one) === search.get('step')) ?? 0;
  return { atMs, step, actorId: search.get('actor') ?? '' };
};

const momentOf = (
  history: ActorHistory,
  { atMs, step, actorId }: MomentQuery,
  nowMs: number,
): number => {
  const wanted = step === 0
    ? atMs
    : history.nextChange(atMs, step, actorId === '' ? undefined : actorId) ?? atMs;
  return Math.min(nowMs, Math.max(history.fromMs(), wanted));
};

const sentRows = (board: ActorBoard): readonly SentRow[] =>
  board.rows().map((row) => sentRow(board, row));

/** The page at a moment. */
export const pastMoment = (
  history: ActorHistory,
  query: MomentQuery,
  nowMs: number,
): PastMoment => {
  const atMs = momentOf(history, query, nowMs);
  const board = history.at(atMs);
  const { actorId } = query;
  return {
    atMs,
    rows: sentRows(board),
    home: drainBoard(board, atMs),
    actorId,
    actor: actorId === '' ? null : sentActor({ board }, actorId),
  };
};
