/**
 * All objects of one resource and their recent history.
 *
 * Promises: reads return the stored objects themselves, which must not be mutated; any revision in
 * the history can be read; the history holds at most `historyMax` changes and drops the oldest half
 * when it is full.
 */
import type { JsonRecord } from '../values/json.ts';
import { makeNamespaceStore, type NamespaceStore } from './namespace-store.ts';

/** Namespace and name of an object. Cluster-scoped objects have the namespace ''. */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/** One change of one object. */
export interface StoredChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  /** `pods`, `deployments.apps`. */
  readonly resource: string;
  readonly at: ObjectName;
  /** The current object; for a deletion the last one, with the revision of the deletion. */
  readonly object: JsonRecord;
  readonly before: JsonRecord | undefined;
}

/** One object with its name. */
export interface NamedObject {
  readonly at: ObjectName;
  readonly object: JsonRecord;
}

/** One resource's objects. */
export interface Collection {
  readonly get: (at: ObjectName) => JsonRecord | undefined;
  readonly size: () => number;
  /** Unordered; of one namespace or of all. */
  readonly objects: (namespace?: string) => Iterable<JsonRecord>;
  /** In the real server's list order: by namespace, then by name. */
  readonly ordered: (namespace?: string) => Iterable<NamedObject>;
  /** As `ordered`, at a revision; undefined when it is compacted. */
  readonly orderedAt: (revision: number, namespace?: string) => readonly NamedObject[] | undefined;
  /** Changes after a revision, oldest first; undefined when some are compacted. */
  readonly since: (revision: number) => readonly StoredChange[] | undefined;
  readonly record: (change: StoredChange) => void;
  /** Drops every change up to and including `revision`. */
  readonly forget: (revision: number) => void;
}

/** How many past revisions stay materialized for continued lists. */
const READY_MAX = 4;

const orderKey = ({ namespace, name }: ObjectName): string => `${namespace}/${name}`;

const byOrder = ({ at: left }: NamedObject, { at: right }: NamedObject): number =>
  orderKey(left) < orderKey(right) ? -1 : 1;

/** The first index at which `holds`, in a list where it holds from some index onwards. */
export const firstIndex = <T>(list: readonly T[], holds: (item: T) => boolean): number => {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = list[middle];
    if (item !== undefined && holds(item)) high = middle;
    else low = middle + 1;
  }
  return low;
};

const walk = function* (
  stores: ReadonlyMap<string, NamespaceStore>,
  namespaces: readonly string[],
): Generator<NamedObject> {
  for (const namespace of namespaces) {
    const store = stores.get(namespace);
    for (const name of store?.names() ?? []) {
      const object = store?.get(name);
      if (object !== undefined) yield { at: { namespace, name }, object };
    }
  }
};

const all = function* (stores: Iterable<NamespaceStore>): Generator<JsonRecord> {
  for (const store of stores) yield* store.objects();
};

/** The state before the `undone` changes, which are the newest ones. */
const undoing = (
  now: Iterable<NamedObject>,
  undone: readonly StoredChange[],
): readonly NamedObject[] => {
  if (undone.length === 0) return [...now];
  const was = new Map<string, NamedObject | undefined>();
  for (const { at, before } of undone) {
    const key = orderKey(at);
    if (!was.has(key)) was.set(key, before === undefined ? undefined : { at, object: before });
  }
  const kept = [...now].filter(({ at }) => !was.has(orderKey(at)));
  for (const named of was.values()) if (named !== undefined) kept.push(named);
  return kept.sort(byOrder);
};

interface Past {
  readonly since: Collection['since'];
  readonly record: Collection['record'];
  readonly forget: Collection['forget'];
}

const makePast = (historyMax: number): Past => {
  let history: StoredChange[] = [];
  let forgotten = 0;
  const forget = (revision: number): void => {
    forgotten = Math.max(forgotten, revision);
    history = history.slice(firstIndex(history, (change) => change.revision > revision));
  };
  return {
    since: (revision) =>
      revision < forgotten
        ? undefined
        : history.slice(firstIndex(history, (change) => change.revision > revision)),
    record: (change) => {
      history.push(change);
      if (history.length > historyMax) {
        forget(history[history.length >>> 1]?.revision ?? forgotten);
      }
    },
    forget,
  };
};

const sortedNamespaces = (namespaces: ReadonlyMap<string, NamespaceStore>): readonly string[] =>
  [...namespaces.keys()].sort((left, right) => (`${left}/` < `${right}/` ? -1 : 1));

/** An empty collection. */
export const makeCollection = (historyMax: number): Collection => {
  const namespaces = new Map<string, NamespaceStore>();
  const ready = new Map<number, readonly NamedObject[]>();
  const past = makePast(historyMax);
  let size = 0;

  const namespaceStore = (namespace: string): NamespaceStore => {
    const found = namespaces.get(namespace) ?? makeNamespaceStore();
    namespaces.set(namespace, found);
    return found;
  };
  const ordered = (namespace?: string): Iterable<NamedObject> =>
    walk(namespaces, namespace === undefined ? sortedNamespaces(namespaces) : [namespace]);
  const everythingAt = (revision: number): readonly NamedObject[] | undefined => {
    const undone = past.since(revision);
    if (undone === undefined) return undefined;
    const known = ready.get(revision) ?? undoing(ordered(), undone);
    ready.delete(revision);
    ready.set(revision, known);
    const [oldest] = ready.keys();
    if (ready.size > READY_MAX && oldest !== undefined) ready.delete(oldest);
    return known;
  };

  return {
    get: ({ namespace, name }) => namespaces.get(namespace)?.get(name),
    size: () => size,
    objects: (namespace) =>
      namespace === undefined
        ? all(namespaces.values())
        : namespaces.get(namespace)?.objects() ?? [],
    ordered,
    orderedAt: (revision, namespace) => {
      const everything = everythingAt(revision);
      if (everything === undefined || namespace === undefined) return everything;
      const from = firstIndex(everything, ({ at }) => `${at.namespace}/` >= `${namespace}/`);
      const to = firstIndex(everything, ({ at }) => `${at.namespace}/` > `${namespace}/`);
      return everything.slice(from, to);
    },
    since: past.since,
    record: (change) => {
      const store = namespaceStore(change.at.namespace);
      const before = store.size();
      if (change.type === 'DELETED') store.remove(change.at.name);
      else store.put(change.at.name, change.object);
      size += store.size() - before;
      if (store.size() === 0) namespaces.delete(change.at.namespace);
      past.record(change);
    },
    forget: (revision) => {
      past.forget(revision);
      for (const at of ready.keys()) if (at < revision) ready.delete(at);
    },
  };
};
