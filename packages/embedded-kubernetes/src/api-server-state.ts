/** The state shared by all verbs of the API server, and the object that a verb works on. */
import type { JsonRecord } from './values/json.ts';
import type { Admit } from './admission/attempt.ts';
import type { UserOfToken } from './authentication/authenticator.ts';
import type { ServiceAccountTokens } from './authentication/service-account-tokens.ts';
import type { Authorizer } from './authorization/authorizer.ts';
import type { Time } from './values/time.ts';
import { type Kind, type Moment, subjectOf } from './kinds/kind.ts';
import { notFound } from './validation/problem.ts';
import type { ObjectName } from './storage/collection.ts';
import type { Identifiers } from './storage/identifiers.ts';
import type { Store } from './storage/store.ts';

/** The served kinds. CRDs add and remove entries. */
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
  readonly authorizer: Authorizer;
  readonly tokens: ServiceAccountTokens;
  readonly userOfToken: UserOfToken;
  /** Admits the writes of one request; absent where nothing can refuse them. */
  readonly admit?: Admit;
}

/** One object of one kind, which may be absent. */
export interface Target {
  readonly kind: Kind;
  readonly at: ObjectName;
}

/** The same server for writes that admission has already seen. */
export const admitted = ({ admit: _, ...server }: ApiServerState): ApiServerState => server;

/** The context passed to admission and strategy rules. */
export const momentOf = ({ store, time }: ApiServerState): Moment => ({ store, nowMs: time.now() });

/** The stored object. */
export const storedAt = ({ store }: ApiServerState, { kind, at }: Target): JsonRecord | undefined =>
  store.collection(kind.resource).get(at);

/** The stored object; throws 404 if it is absent. */
export const storedOrRefuse = (server: ApiServerState, target: Target): JsonRecord => {
  const found = storedAt(server, target);
  if (found === undefined) throw notFound(subjectOf(target.kind), target.at.name);
  return found;
};

/** The object converted to this version of the kind. */
export const servedBy = (kind: Kind, stored: JsonRecord): JsonRecord =>
  kind.conversion?.fromStored(stored) ?? stored;

/** Converts an object from this version of the kind to its stored form. */
export const storedBy = (kind: Kind, object: JsonRecord): JsonRecord =>
  kind.conversion?.toStored(object) ?? object;
