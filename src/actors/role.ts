/**
 * A role: one part of what an operator does for its cluster, such as making pods into demand.
 *
 * Promises: a role is passive until it leads; no role leads another: each learns of leadership
 * from the operator, in the order of its list. What one role needs of another is an argument of
 * the function that makes it.
 */
import type { RecordEvent } from '../api/event-note.ts';
import type { ReasonName } from '../api/reasons.ts';
import {
  type AnyInformer,
  missingLists,
  type SharedInformers,
} from './informers/shared-informers.ts';

/** Whether a role can work with what it was started with. */
export type RoleStart =
  | { readonly _tag: 'Started' }
  /** A person must act; the operator ends with the problem. */
  | { readonly _tag: 'Refused'; readonly problem: string };

/** The start of a role that reads no files. */
export const STARTED: RoleStart = { _tag: 'Started' };

/** One role of an operator. */
export interface Role {
  /** Such as `node-drains`: names it in readiness and logs. */
  readonly name: string;
  /** The collections that must be complete before it may lead. */
  readonly informers: readonly AnyInformer[];
  /** Once, before any informer: reads its files. */
  readonly start: () => Promise<RoleStart>;
  /** This process holds the lease now: may write. */
  readonly onLeading: () => void;
  /** It holds the lease no more: sends nothing new, forgets what was true of the term only. */
  readonly onLeadershipLost: () => void;
  /** Why it is not ready, or `undefined`. */
  readonly ready: () => string | undefined;
  /** Before `stop`, as its leader: starts nothing new and ends its calls to peers. */
  readonly close?: () => Promise<void>;
  /** Resolves when every write under way has its answer; starts no other. */
  readonly stop: () => Promise<void>;
  /** At the very end, however far it came. */
  readonly dispose?: () => Promise<void>;
}

/** Records an Event on the operator's Lease, once that was seen. */
export type RecordOnLease = (reason: ReasonName, note: string) => void;

/** What an operator gives to its roles. */
export interface RoleContext {
  readonly informers: SharedInformers;
  readonly record: RecordEvent;
  readonly recordOnLease: RecordOnLease;
}

/** The parts of a role that most have in common: waits for its lists, and reads no files. */
export const roleDefaults = (
  name: string,
  informers: readonly AnyInformer[],
): Pick<Role, 'name' | 'informers' | 'start' | 'ready'> => ({
  name,
  informers,
  start: () => Promise.resolve(STARTED),
  ready: () => missingLists(informers),
});
