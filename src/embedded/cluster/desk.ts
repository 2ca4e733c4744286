/** What every verb of the API server works with, and what it works on. */
import type { JsonRecord } from '../../domain/json.ts';
import type { Time } from '../../domain/time.ts';
import { type Kind, type Moment, subjectOf } from './kinds/kind.ts';
import { notFound } from './problems/problem.ts';
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

/** The desk at which requests are answered. */
export interface Desk {
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
export const momentOf = ({ store, time }: Desk): Moment => ({ store, nowMs: time.now() });

/** The object as it is stored. */
export const storedAt = ({ store }: Desk, { kind, at }: Target): JsonRecord | undefined =>
  store.collection(kind.resource).get(at);

/** The object as it is stored; refuses when there is none. */
export const storedOrRefuse = (desk: Desk, target: Target): JsonRecord => {
  const found = storedAt(desk, target);
  if (found === undefined) throw notFound(subjectOf(target.kind), target.at.name);
  return found;
};

/** The object as this version of the kind shows it. */
export const shownBy = (kind: Kind, stored: JsonRecord): JsonRecord =>
  kind.conversion?.fromStored(stored) ?? stored;

/** The object as it is stored, from what this version of the kind says. */
export const storedBy = (kind: Kind, object: JsonRecord): JsonRecord =>
  kind.conversion?.toStored(object) ?? object;
