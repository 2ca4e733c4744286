/**
 * All objects of one resource, and how they came to be what they are.
 *
 * Promises: reads hand out the stored objects themselves, so nobody may change one; whatever was
 * true at a revision that is not forgotten can be read again; the history holds at most
 * `historyMax` changes and forgets the oldest half when it is full.
 */
import type { JsonRecord } from '../../../domain/json.ts';
import { makeShelf, type Shelf } from './shelf.ts';

/** What an object is called. Objects of the cluster have the namespace ''. */
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
  /** As it is now; for a deletion as it was last, with the revision of the deletion. */
  readonly object: JsonRecord;
  readonly before: JsonRecord | undefined;
}

/** One object with its name. */
export interface Shelved {
  readonly at: ObjectName;
  readonly object: JsonRecord;
}

/** One resource's objects. */
export interface Collection {
  readonly get: (at: ObjectName) => JsonRecord | undefined;
  readonly size: () => number;
  /** Unordered; of one namespace or of all. */
  readonly objects: (namespace?: string) => Iterable<JsonRecord>;
  /** In the order in which the real one lists: by namespace, then by name. */
  readonly ordered: (namespace?: string) => Iterable<Shelved>;
  /** As `ordered`, at a revision; undefined when it is forgotten. */
  readonly orderedAt: (revision: number, namespace?: string) => readonly Shelved[] | undefined;
  /** Changes after a revision, oldest first; undefined when some of them are forgotten. */
  readonly since: (revision: number) => readonly StoredChange[] | undefined;
  readonly record: (change: StoredChange) => void;
  /** Forgets every change up to and including `revision`. */
  readonly forget: (revision: number) => void;
}

/** How many past revisions are kept ready for pages that follow. */
const READY_MAX = 4;

const orderKey = ({ namespace, name }: ObjectName): string => `${namespace}/${name}`;

const byOrder = ({ at: left }: Shelved, { at: right }: Shelved): number =>
  orderKey(left) < orderKey(right) ? -1 : 1;

/** The first index at which `holds`, for a list on which it holds from some index on. */
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
  shelves: ReadonlyMap<string, Shelf>,
  namespaces: readonly string[],
): Generator<Shelved> {
  for (const namespace of namespaces) {
    const shelf = shelves.get(namespace);
    for (const name of shelf?.names() ?? []) {
      const object = shelf?.get(name);
      if (object !== undefined) yield { at: { namespace, name }, object };
    }
  }
};

const all = function* (shelves: Iterable<Shelf>): Generator<JsonRecord> {
  for (const shelf of shelves) yield* shelf.objects();
};

/** What stood there before the `undone` changes, which are the newest ones. */
const undoing = (now: Iterable<Shelved>, undone: readonly StoredChange[]): readonly Shelved[] => {
  if (undone.length === 0) return [...now];
  const was = new Map<string, Shelved | undefined>();
  for (const { at, before } of undone) {
    const key = orderKey(at);
    if (!was.has(key)) was.set(key, before === undefined ? undefined : { at, object: before });
  }
  const kept = [...now].filter(({ at }) => !was.has(orderKey(at)));
  for (const shelved of was.values()) if (shelved !== undefined) kept.push(shelved);
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

const sortedNamespaces = (shelves: ReadonlyMap<string, Shelf>): readonly string[] =>
  [...shelves.keys()].sort((left, right) => (`${left}/` < `${right}/` ? -1 : 1));

/** An empty collection. */
export const makeCollection = (historyMax: number): Collection => {
  const shelves = new Map<string, Shelf>();
  const ready = new Map<number, readonly Shelved[]>();
  const past = makePast(historyMax);
  let size = 0;

  const shelfOf = (namespace: string): Shelf => {
    const found = shelves.get(namespace) ?? makeShelf();
    shelves.set(namespace, found);
    return found;
  };
  const ordered = (namespace?: string): Iterable<Shelved> =>
    walk(shelves, namespace === undefined ? sortedNamespaces(shelves) : [namespace]);
  const everythingAt = (revision: number): readonly Shelved[] | undefined => {
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
    get: ({ namespace, name }) => shelves.get(namespace)?.get(name),
    size: () => size,
    objects: (namespace) =>
      namespace === undefined ? all(shelves.values()) : shelves.get(namespace)?.objects() ?? [],
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
      const shelf = shelfOf(change.at.namespace);
      const before = shelf.size();
      if (change.type === 'DELETED') shelf.remove(change.at.name);
      else shelf.put(change.at.name, change.object);
      size += shelf.size() - before;
      if (shelf.size() === 0) shelves.delete(change.at.namespace);
      past.record(change);
    },
    forget: (revision) => {
      past.forget(revision);
      for (const at of ready.keys()) if (at < revision) ready.delete(at);
    },
  };
};
