/**
 * Watches: delivers every change after a revision, in order, exactly once.
 *
 * Promises: an object that starts or stops matching the selector is sent as ADDED or DELETED;
 * requested bookmarks arrive about once a minute and before the end; a compacted revision ends the
 * stream with an ERROR of 410. Source: `apiserver/pkg/storage/cacher`, Kubernetes API concepts
 * (watch).
 */
import { type JsonRecord } from '../values/json.ts';
import type { Time } from '../values/time.ts';
import type { ClusterWatch, ClusterWatchLine, WatchReader } from '../api.ts';
import { type ApiServerState, servedBy } from '../api-server-state.ts';
import { apiVersionOf, type Kind } from '../kinds/kind.ts';
import { fieldForbidden, invalidObject } from '../validation/field-problem.ts';
import { expired } from '../validation/problem.ts';
import type { StoredChange } from '../storage/collection.ts';
import { type ObjectTest, objectTest, revisionIn, type Selection } from './listing.ts';

/** The open watches, so that faults can reach them. */
export interface OpenWatches {
  /** How many watches are open, of one resource or of all. */
  readonly count: (resource?: string) => number;
  /** Breaks the connections of watches; `quietly` closes them cleanly. Returns how many. */
  readonly drop: (options?: { readonly resource?: string; readonly quietly?: boolean }) => number;
}

/** The registry of open watches, with a function that ends them all. */
export interface WatchRegister extends OpenWatches {
  readonly enter: (resource: string, stop: (quietly: boolean) => void) => () => void;
}

/** An empty registry. */
export const makeWatchRegister = (): WatchRegister => {
  const open = new Set<{ readonly resource: string; readonly stop: (quietly: boolean) => void }>();
  const of = (resource: string | undefined) =>
    [...open].filter((one) => resource === undefined || one.resource === resource);
  return {
    enter: (resource, stop) => {
      const entry = { resource, stop };
      open.add(entry);
      return () => {
        open.delete(entry);
      };
    },
    count: (resource) => of(resource).length,
    drop: ({ resource, quietly = false } = {}) => {
      const dropped = of(resource);
      for (const { stop } of dropped) stop(quietly);
      return dropped.length;
    },
  };
};

const BOOKMARK_EVERY_MS = 60_000;
const BOOKMARK_BEFORE_END_MS = 2000;
const TIMEOUT_SECONDS_MIN = 1800;

const lineOf = (
  { type, object, before, at }: StoredChange,
  { kind, test, namespace }: {
    readonly kind: Kind;
    readonly test: ObjectTest | undefined;
    readonly namespace: string | undefined;
  },
): ClusterWatchLine | undefined => {
  if (namespace !== undefined && at.namespace !== namespace) return undefined;
  const isIn = type !== 'DELETED' && (test === undefined || test(object));
  const wasIn = before !== undefined && (test === undefined || test(before));
  if (!isIn && !wasIn) return undefined;
  const seen = isIn ? object : leftAs(before ?? object, object);
  return { type: isIn ? (wasIn ? 'MODIFIED' : 'ADDED') : 'DELETED', object: servedBy(kind, seen) };
};

/** An object that stops matching is sent in its last matching state, with the new revision. */
const leftAs = (before: JsonRecord, object: JsonRecord): JsonRecord => {
  const metadata = object['metadata'];
  const revision =
    typeof metadata === 'object' && metadata !== null && 'resourceVersion' in metadata
      ? metadata.resourceVersion
      : undefined;
  const old = before['metadata'];
  return {
    ...before,
    metadata: { ...(typeof old === 'object' ? old : {}), resourceVersion: revision },
  };
};

const bookmark = (kind: Kind, revision: number, initial: boolean): ClusterWatchLine => ({
  type: 'BOOKMARK',
  object: {
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    metadata: {
      resourceVersion: `${revision}`,
      creationTimestamp: null,
      ...(initial ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    },
  },
});

const wantsBookmarks = (query: URLSearchParams): boolean =>
  query.get('allowWatchBookmarks') === 'true';

const wantsInitial = (query: URLSearchParams): boolean => query.get('sendInitialEvents') === 'true';

/** The initial objects of a watch that starts without a revision. */
const initialLines = (
  { store }: ApiServerState,
  selection: Selection,
): readonly ClusterWatchLine[] => {
  const { kind, namespace } = selection;
  const test = objectTest(selection);
  return [...store.collection(kind.resource).ordered(namespace)]
    .filter(({ object }) => test === undefined || test(object))
    .map(({ object }) => ({ type: 'ADDED', object: servedBy(kind, object) }));
};

/** The first lines: initial objects, missed changes, or the error. */
const opening = (server: ApiServerState, selection: Selection): {
  readonly lines: readonly ClusterWatchLine[];
  readonly over: boolean;
} => {
  const { kind, namespace, query } = selection;
  const from = revisionIn(query);
  if (from === undefined || from === 0 || wantsInitial(query)) {
    const last = wantsInitial(query) && wantsBookmarks(query)
      ? [bookmark(kind, server.store.revision(), true)]
      : [];
    return { lines: [...initialLines(server, selection), ...last], over: false };
  }
  const missed = server.store.collection(kind.resource).since(from);
  if (missed === undefined) {
    const { status } = expired(`too old resource version: ${from} (${server.store.revision()})`);
    return { lines: [{ type: 'ERROR', object: status }], over: true };
  }
  const test = objectTest(selection);
  const lines = missed.map((change) => lineOf(change, { kind, test, namespace }));
  return { lines: lines.filter((line) => line !== undefined), over: false };
};

/** Calls `tick` every `everyMs` until it is stopped. */
const repeatedly = (time: Time, everyMs: number, tick: () => void): () => void => {
  let cancel = () => {};
  const arm = (): void => {
    cancel = time.schedule(everyMs, () => {
      arm();
      tick();
    });
  };
  arm();
  return () => cancel();
};

const secondsOf = (query: URLSearchParams): number => {
  const seconds = Number(query.get('timeoutSeconds') ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : TIMEOUT_SECONDS_MIN;
};

/** Sends future changes; returns a function that ends the watch from the client's side. */
const run = (
  server: ApiServerState,
  selection: Selection,
  { reader, register }: { readonly reader: WatchReader; readonly register: WatchRegister },
): () => void => {
  const { kind, namespace, query } = selection;
  const { store, time } = server;
  const test = objectTest(selection);
  const from = store.revision();
  const endings: (() => void)[] = [];
  const finish = (end: () => void): void => {
    if (endings.length === 0) return;
    for (const end of endings.splice(0)) end();
    end();
  };
  const mark = (): void => {
    if (wantsBookmarks(query)) reader.lines([bookmark(kind, store.revision(), false)]);
  };
  const lastMs = secondsOf(query) * 1000;
  endings.push(
    store.subscribe((change) => {
      if (change.resource !== kind.resource || change.revision <= from) return;
      const line = lineOf(change, { kind, test, namespace });
      if (line !== undefined) reader.lines([line]);
    }),
    repeatedly(time, BOOKMARK_EVERY_MS, mark),
    time.schedule(lastMs - BOOKMARK_BEFORE_END_MS, mark),
    time.schedule(lastMs, () => finish(reader.ended)),
    register.enter(kind.resource, (quietly) => finish(quietly ? reader.ended : reader.cut)),
  );
  return () => finish(() => {});
};

const assertInitial = (query: URLSearchParams): void => {
  if (!wantsInitial(query) || query.get('resourceVersionMatch') === 'NotOlderThan') return;
  throw invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [
    fieldForbidden(
      'resourceVersionMatch',
      'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    ),
  ]);
};

/** The requested watch: validated now, its revision read when it starts. */
export const watch = (
  server: ApiServerState,
  selection: Selection,
  register: WatchRegister,
): ClusterWatch => {
  objectTest(selection);
  revisionIn(selection.query);
  assertInitial(selection.query);
  return {
    _tag: 'Watch',
    open: (reader) => {
      const { lines, over } = opening(server, selection);
      const close = over ? () => {} : run(server, selection, { reader, register });
      if (lines.length > 0) reader.lines(lines);
      if (over) reader.ended();
      return close;
    },
  };
};
