/** The state that every verb of the API server works with, and the object it works on. */
import type { JsonRecord } from './values/json.ts';
import type { Time } from './values/time.ts';
import { type Kind, type Moment, subjectOf } from './kinds/kind.ts';
import { notFound } from './validation/problem.ts';
import type { ObjectName } from './storage/collection.ts';
import type { Identifiers } from './storage/identifiers.ts';
import type { Store } from './storage/store.ts';

/** The kinds that are served; CRDs add and remove some. */
export interface Kinds {
  /** By group, version and plural name. */
  readonly find: (group: string, version: string, plural: string) => Kind | undefined;
  readonly all: () => Iterable<Kind>;
  readonly add: (kind: Kind) => void;
  readonly remove: (kind: Kind) => void;
}

/** The state of an API server. */
export interface ApiServerState {
  readonly store: Store;
  readonly kinds: Kinds;
  readonly time: Time;
  readonly identifiers: Identifiers;
}

/** One object of one kind, there or not. */
export interface Target {
  readonly kind: Kind;
  readonly at: ObjectName;
}

/** What rules may look at now. */
export const momentOf = ({ store, time }: ApiServerState): Moment => ({ store, nowMs: time.now() });

/** The object as it is stored. */
export const storedAt = ({ store }: ApiServerState, { kind, at }: Target): JsonRecord | undefined =>
  store.collection(kind.resource).get(at);

/** The object as it is stored; refuses when there is none. */
export const storedOrRefuse = (server: ApiServerState, target: Target): JsonRecord => {
  const found = storedAt(server, target);
  if (found === undefined) throw notFound(subjectOf(target.kind), target.at.name);
  return found;
};

/** The object as this version of the kind has it. */
export const servedBy = (kind: Kind, stored: JsonRecord): JsonRecord =>
  kind.conversion?.fromStored(stored) ?? stored;

/** The object as it is stored, from what this version of the kind has. */
export const storedBy = (kind: Kind, object: JsonRecord): JsonRecord =>
  kind.conversion?.toStored(object) ?? object;
