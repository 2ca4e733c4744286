/** A recording at one moment, as text: the state of each actor, or the path of one actor. */
import type { ActorDetail, ActorRow } from '../api/actor-board.ts';
import { duration } from './duration.ts';
import { type Column, tableText } from './table.ts';

const ACTORS = (nowMs: number): readonly Column<ActorRow>[] => [
  { heading: 'ACTOR', cell: ({ id }) => id },
  { heading: 'STATE', cell: ({ state }) => state },
  { heading: 'STATUS', cell: ({ status }) => status },
  { heading: 'REASON', cell: ({ reason }) => reason ?? '' },
  { heading: 'SINCE', cell: ({ sinceMs }) => duration(nowMs - sinceMs) },
];

/** All actors, by id. */
export const actorsText = (rows: readonly ActorRow[], nowMs: number): string =>
  tableText(ACTORS(nowMs), rows.toSorted((left, right) => (left.id < right.id ? -1 : 1)));

const clock = (atMs: number): string => new Date(atMs).toISOString().slice(11, 23);

/** One actor: its state, and the events that led there. */
export const actorText = ({ row, log }: ActorDetail, nowMs: number): string =>
  [
    `${row.id} is ${row.status === 'active' ? 'in' : `${row.status}, in`} ${row.state}` +
    ` since ${duration(nowMs - row.sinceMs)}${row.reason === null ? '' : ` (${row.reason})`}`,
    '',
    tableText([
      { heading: 'TIME (UTC)', cell: ({ atMs }) => clock(atMs) },
      { heading: 'EVENT', cell: ({ event }) => event },
      { heading: 'LED TO', cell: ({ state }) => state ?? '' },
    ], log),
  ].join('\n');
