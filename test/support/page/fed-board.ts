/** A board of actors that a test moves, and a page that keeps its messages. */
import type { ActorBoard, ActorRow } from '../../../src/api/actor-board.ts';
import type { FeedMessage, FeedReader } from '../../../src/web/live-feed.ts';

const rowOf = (id: string, state: string): ActorRow => ({
  id,
  kind: id.split('/')[0] ?? '',
  state,
  reason: null,
  status: 'active',
  sinceMs: 1,
  bornMs: 1,
});

/** A synthetic board; every drain board made of it reads its rows once. */
export const boardOf = (contexts: Readonly<Record<string, unknown>>) => {
  const rows = new Map(Object.keys(contexts).map((id) => [id, rowOf(id, 'low')]));
  let readings = 0;
  const listeners = new Set<(id: string) => void>();
  const board: ActorBoard = {
    rows: () => {
      readings += 1;
      return [...rows.values()];
    },
    row: (id) => rows.get(id),
    context: (id) => contexts[id],
    detail: (id) => {
      const row = rows.get(id);
      return row && { row, path: [], log: [], context: contexts[id] };
    },
    subscribe: (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
  };
  const send = (id: string): void => listeners.forEach((changed) => changed(id));
  return {
    board,
    listeners,
    readings: () => readings,
    move: (id: string, state: string) => {
      rows.set(id, rowOf(id, state));
      send(id);
    },
    forget: (id: string) => {
      rows.delete(id);
      send(id);
    },
  };
};

/** A page that keeps its messages, and is busy when told. */
export const readerOf = () => {
  const messages: FeedMessage[] = [];
  let busy = false;
  const reader: FeedReader = { isBusy: () => busy, send: (message) => void messages.push(message) };
  return { messages, reader, setBusy: (is: boolean) => void (busy = is) };
};
