/**
 * The data of the page: the actors, as sent by the process.
 *
 * Promises: one pass over all actors per batch; a lost connection is shown and reestablished.
 */
import { computed, effect, signal } from '@preact/signals';
import { openEventStream } from './event-stream.ts';
import { fetchedFiles } from './fetched-files.ts';
import { onHistory } from './history.ts';
import { liveNowMs, past } from './past.ts';
import { route } from './route.ts';
import type { MachineSummary } from '../../view/catalogue.ts';
import type { DrainBoard } from '../../view/board/drain-board.ts';
import type { SentHistory } from '../history-feed.ts';
import type { SentActor, SentRow } from '../live-feed.ts';

/** One actor. */
export interface Row {
  readonly id: string;
  readonly kind: string;
  /** The name of its object, else the id without the kind. */
  readonly name: string;
  /** The innermost states, as paths. */
  readonly states: readonly string[];
  readonly reason: string;
  readonly status: string;
  readonly sinceMs: number;
  readonly bornMs: number;
}

const rowOf = ([id, kind, state, reason, status, sinceMs, bornMs, name]: SentRow): Row => ({
  id,
  kind,
  name: name ?? (id.slice(kind.length + 1) || kind),
  states: state === '' ? [] : state.split(' '),
  reason,
  status,
  sinceMs,
  bornMs,
});

/** The content of `/catalogue.json`. */
export interface Catalogue {
  readonly title: string;
  readonly machines: Readonly<Record<string, MachineSummary>>;
}

const rowsById = new Map<string, Row>();

const liveRows = signal<readonly Row[]>([]);
const liveFocused = signal<SentActor | null | undefined>(undefined);
/** The drain board of the present; undefined before it arrives. */
export const liveHome = signal<DrainBoard | undefined>(undefined);
/** All actors; a new list for each batch. */
export const rows = computed(() => past.value?.rows.map(rowOf) ?? liveRows.value);
/** The status of the connection. */
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting');
/** The moment that is shown. */
export const nowMs = computed(() => past.value?.atMs ?? liveNowMs.value);
/** The selected actor: undefined while loading, null when it does not exist. */
export const focused = computed(() => {
  if (past.value === undefined) return liveFocused.value;
  return past.value.actorId === route.value.actor ? past.value.actor : undefined;
});
/** The drain board; undefined before it arrives. */
export const home = computed(() => past.value?.home ?? liveHome.value);
/** The reasons of drains on the board: what blocks their pods, which the drain does not know. */
const boardReasons = computed(() =>
  new Map(
    home.value?.drains.filter(({ endedMs, severity }) => endedMs === null && severity !== 'Ok')
      .map(({ id, verdict }): readonly [string, string] => [id, verdict.reason]),
  )
);
/** Why an actor waits; empty when it does not. */
export const reasonOf = ({ id, reason }: Pick<Row, 'id' | 'reason'>): string =>
  boardReasons.value.get(id) ?? reason;
/** The descriptions of the machines. */
export const catalogue = signal<Catalogue>({ title: 'Tidegate', machines: {} });

const reading = <Message>(data: unknown): Message => JSON.parse(String(data));

const take = (changed: readonly SentRow[], gone: readonly string[]): void => {
  for (const row of changed) rowsById.set(row[0], rowOf(row));
  for (const id of gone) rowsById.delete(id);
  liveRows.value = [...rowsById.values()];
};

const files = fetchedFiles();

/** Fetches the catalogue unless it is there. */
const completeCatalogue = async (): Promise<void> => {
  const text = await files('/catalogue.json');
  if (text !== undefined) catalogue.value = reading<Catalogue>(text);
};

interface ServerMessage {
  readonly nowMs: number;
}

const followBoard = (): void => {
  openEventStream('/live', {
    board: ({ data }) => {
      const message = reading<ServerMessage & { readonly rows: readonly SentRow[] }>(data);
      rowsById.clear();
      liveNowMs.value = message.nowMs;
      connection.value = 'live';
      take(message.rows, []);
      void completeCatalogue();
    },
    changes: ({ data }) => {
      const message = reading<
        ServerMessage & { readonly rows: readonly SentRow[]; readonly gone: readonly string[] }
      >(data);
      liveNowMs.value = message.nowMs;
      take(message.rows, message.gone);
    },
    home: ({ data }) => {
      const message = reading<ServerMessage & { readonly home: DrainBoard }>(data);
      liveNowMs.value = message.nowMs;
      liveHome.value = message.home;
    },
    history: ({ data }) => {
      const message = reading<SentHistory>(data);
      liveNowMs.value = message.nowMs;
      onHistory(message);
    },
    tick: ({ data }) => {
      liveNowMs.value = reading<ServerMessage>(data).nowMs;
    },
    error: () => {
      connection.value = 'lost';
    },
  });
};

const followActor = (id: string): () => void =>
  openEventStream(`/live?actor=${encodeURIComponent(id)}`, {
    actor: ({ data }) => {
      liveFocused.value = reading<ServerMessage & { readonly actor: SentActor | null }>(data).actor;
    },
  });

const actorAsked = computed(() => route.value.actor);

/** Starts to follow the process. */
export const follow = (): void => {
  followBoard();
  effect(() => {
    const id = actorAsked.value;
    liveFocused.value = undefined;
    return id === '' ? undefined : followActor(id);
  });
  void completeCatalogue();
};
