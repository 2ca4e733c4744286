/**
 * The board of actors: collects XState inspection events for the live page.
 *
 * Promises: created only with the page, so that it costs nothing otherwise; keeps a bounded history
 * of each actor and a bounded number of ended actors of each lifecycle, as plain data; never
 * throws into the inspected actor.
 */
import {
  type ActorBoard,
  type ActorDetail,
  type ActorRow,
  type ActorStatus,
  type ActorStep,
  kindInId,
  type TimelineEntry,
} from '../api/actor-board.ts';
import { type ReasonName, REASONS } from '../api/reasons.ts';
import { severityOf } from '../domain/drain/verdict.ts';
import { textAt } from '../domain/json.ts';
import { stateText } from '../domain/state-value.ts';
import { textPool } from '../domain/text-pool.ts';
import type { Time } from '../domain/time.ts';
import { EndedActors } from './ended-actors.ts';
import type { ActorTransition, Inspector } from './inspector.ts';

/** The inputs of the board. */
export interface ActorBoardOptions {
  readonly time: Pick<Time, 'now'>;
  /** The machines of the catalogue; other actors are ignored. */
  readonly kinds: ReadonlySet<string>;
}

/** A board and its inspector. */
export interface FillableBoard extends ActorBoard {
  readonly observe: Inspector;
}

/** The number of states and events that are kept of each actor. */
export const STEPS_KEPT = 30;
export const EVENTS_KEPT = 50;
/** More distinct state texts than all machines have together. */
const STATES_MAX = 10_000;

/** The recent history of an actor: a list per column, so that no event is kept as an object. */
interface Past {
  readonly times: number[];
  readonly events: string[];
  readonly states: (string | null)[];
  /** The index of the oldest entry once the limit is reached. */
  oldest: number;
}

interface Entry {
  readonly id: string;
  readonly kind: string;
  state: string;
  reason: ReasonName | null;
  status: ActorStatus;
  sinceMs: number;
  bornMs: number;
  readonly path: Past;
  readonly log: Past;
  context: unknown;
}

const noPast = (): Past => ({ times: [], events: [], states: [], oldest: 0 });

const keep = (past: Past, { atMs, event, state }: TimelineEntry, most: number): void => {
  const isFull = past.times.length === most;
  const place = isFull ? past.oldest : past.times.length;
  if (isFull) past.oldest = (place + 1) % most;
  past.times[place] = atMs;
  past.events[place] = event;
  past.states[place] = state;
};

const newEntry = (id: string, kind: string, nowMs: number): Entry => ({
  id,
  kind,
  state: '',
  reason: null,
  status: 'active',
  sinceMs: nowMs,
  bornMs: nowMs,
  path: noPast(),
  log: noPast(),
  context: undefined,
});

/** Oldest first. */
const timeline = ({ times, events, states, oldest }: Past): readonly TimelineEntry[] =>
  times.map((_, at) => {
    const place = (oldest + at) % times.length;
    return { atMs: times[place] ?? 0, event: events[place] ?? '', state: states[place] ?? null };
  });

const steps = (path: Past): readonly ActorStep[] =>
  timeline(path).map(({ state, ...step }) => ({ ...step, state: state ?? '' }));

const rowOf = ({ id, kind, state, reason, status, sinceMs, bornMs }: Entry): ActorRow => ({
  id,
  kind,
  state,
  reason,
  status,
  sinceMs,
  bornMs,
});

const isReason = (text: unknown): text is ReasonName =>
  typeof text === 'string' && Object.hasOwn(REASONS, text);

/** What a person can act on comes before what goes on in another region. */
const isUrgent = (reason: ReasonName): boolean => severityOf(REASONS[reason]) === 'Blocked';

const depthOf = (state: string): number => state.split('.').length;

/** The reason of the innermost state that has one; of parallel regions, an urgent one. */
const reasonOf = (snapshot: object): ReasonName | null => {
  if (!('getMeta' in snapshot) || typeof snapshot.getMeta !== 'function') return null;
  const found = Object.entries<unknown>(snapshot.getMeta()).flatMap(([state, meta]) => {
    const reason = textAt(meta, 'reason');
    return isReason(reason) ? [{ state, reason }] : [];
  });
  const innermost = found.filter(({ state }) =>
    !found.some((other) => other.state.startsWith(`${state}.`))
  ).toSorted((left, right) => depthOf(right.state) - depthOf(left.state));
  return (innermost.find(({ reason }) => isUrgent(reason)) ?? innermost[0])?.reason ?? null;
};

/** The reason of a verdict in the context is more exact than that of the state. */
const verdictReason = (context: unknown): ReasonName | null => {
  const reason = textAt(context, 'verdict', 'reason');
  return isReason(reason) ? reason : null;
};

const STATUSES: ReadonlySet<string> = new Set(['active', 'done', 'stopped', 'error']);
const isStatus = (text: string): text is ActorStatus => STATUSES.has(text);

/** The cached reason of a state. */
const reasonsOfStates = () => {
  const reasons = new Map<string, ReasonName | null>();
  return (kind: string, state: string, snapshot: object): ReasonName | null => {
    const place = `${kind} ${state}`;
    const known = reasons.get(place);
    if (known !== undefined) return known;
    const reason = reasonOf(snapshot);
    reasons.set(place, reason);
    return reason;
  };
};

/** An empty board. */
export const makeActorBoard = ({ time, kinds }: ActorBoardOptions): FillableBoard => {
  const entries = new Map<string, Entry>();
  const ended = new EndedActors();
  const listeners = new Set<(id: string) => void>();
  const notify = (id: string): void => listeners.forEach((changed) => changed(id));

  const retire = (id: string): void => {
    const displaced = ended.add(id);
    if (displaced === undefined) return;
    entries.delete(displaced);
    notify(displaced);
  };
  /** An id may be reused, by a restarted actor or a returning machine. */
  const entryOf = ({ id, since }: ActorTransition): Entry | undefined => {
    const known = entries.get(id);
    if (known !== undefined) return known;
    const kind = kindInId(id);
    if (!kinds.has(kind)) return undefined;
    const entry = newEntry(id, kind, since?.bornMs ?? time.now());
    entries.set(id, entry);
    return entry;
  };
  /** Texts of states are few and interned, and so are their reasons. */
  const kept = textPool(STATES_MAX);
  const reasonIn = reasonsOfStates();
  const note = (entry: Entry, { snapshot, event, since }: ActorTransition): void => {
    const nowMs = since?.sinceMs ?? time.now();
    const state = kept(stateText('value' in snapshot ? snapshot.value : undefined));
    const status = isStatus(snapshot.status) ? snapshot.status : 'active';
    const moved = state !== entry.state;
    entry.context = 'context' in snapshot ? snapshot.context : undefined;
    keep(entry.log, { atMs: nowMs, event: event.type, state: moved ? state : null }, EVENTS_KEPT);
    if (moved) keep(entry.path, { atMs: nowMs, event: event.type, state }, STEPS_KEPT);
    const isSame = !moved && status === entry.status;
    entry.reason = status === 'active'
      ? verdictReason(entry.context) ?? reasonIn(entry.kind, state, snapshot)
      : null;
    if (isSame) return;
    if (entry.status !== 'active' && status === 'active') entry.bornMs = nowMs;
    entry.state = state;
    entry.status = status;
    entry.sinceMs = nowMs;
    if (status === 'active') ended.delete(entry.id);
    else retire(entry.id);
  };

  const observe = (transition: ActorTransition): void => {
    const entry = entryOf(transition);
    if (entry === undefined) return;
    note(entry, transition);
    notify(transition.id);
  };

  return {
    observe,
    rows: () => Array.from(entries.values(), rowOf),
    row: (id) => {
      const entry = entries.get(id);
      return entry === undefined ? undefined : rowOf(entry);
    },
    context: (id) => entries.get(id)?.context,
    detail: (id): ActorDetail | undefined => {
      const entry = entries.get(id);
      if (entry === undefined) return undefined;
      const { path, log, context } = entry;
      return { row: rowOf(entry), path: steps(path), log: timeline(log), context };
    },
    subscribe: (changed) => {
      listeners.add(changed);
      return () => void listeners.delete(changed);
    },
  };
};
