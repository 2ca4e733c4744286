/**
 * A role: one part of an operator's work, such as creating CapacityRequests for pods.
 *
 * Promises: a role is passive until it leads; no role leads another: each learns of leadership from
 * the operator, in list order. What one role needs of another is an argument of its factory
 * function.
 */
import type { RecordEvent } from '../api/event-note.ts';
import type { ReasonName } from '../api/reasons.ts';
import {
  type AnyInformer,
  missingLists,
  type SharedInformers,
} from './informers/shared-informers.ts';

/** Whether a role accepts its options and files. */
export type RoleStart =
  | { readonly _tag: 'Started' }
  /** A person must act; the operator ends with the problem. */
  | { readonly _tag: 'Refused'; readonly problem: string };

/** The start of a role that reads no files. */
export const STARTED: RoleStart = { _tag: 'Started' };

/** One condition, as probes show it. */
export interface RoleCheck {
  readonly name: string;
  /** Why it does not hold, or undefined. */
  readonly failing: () => string | undefined;
}

/** One role of an operator. */
export interface Role {
  /** Such as `node-drains`: its name in readiness and logs. */
  readonly name: string;
  /** The collections that must be complete before it may lead. */
  readonly informers: readonly AnyInformer[];
  /** Called once, whether or not the API server answers: reads its files. */
  readonly start: () => Promise<RoleStart>;
  /**
   * Called once, when the API server has answered and before any informer: asks what it serves and
   * permits. What is asked of a server that gives no answer would hold for the life of the process.
   */
  readonly discover?: () => Promise<RoleStart>;
  /** This process acquired the lease: writes are allowed. */
  readonly onLeading: () => void;
  /** This process lost the lease: the role sends nothing new and discards the state of the term. */
  readonly onLeadershipLost: () => void;
  /** Why it is not ready, or `undefined`. */
  readonly ready: () => string | undefined;
  /** What readiness shows and does not wait for. */
  readonly notices?: readonly RoleCheck[];
  /** Called before `stop` on the leader: starts nothing new and ends its calls to peers. */
  readonly close?: () => Promise<void>;
  /** Resolves when every write in flight has its answer; starts no other. */
  readonly stop: () => Promise<void>;
  /** Called last, in any state. */
  readonly dispose?: () => Promise<void>;
}

/** Records an Event on the operator's Lease, once the Lease was observed. */
export type RecordOnLease = (reason: ReasonName, note: string) => void;

/** What an operator provides to its roles. */
export interface RoleContext {
  readonly informers: SharedInformers;
  readonly record: RecordEvent;
  readonly recordOnLease: RecordOnLease;
}

/** The defaults of most roles: awaits its lists, and reads no files. */
export const roleDefaults = (
  name: string,
  informers: readonly AnyInformer[],
): Pick<Role, 'name' | 'informers' | 'start' | 'ready'> => ({
  name,
  informers,
  start: () => Promise.resolve(STARTED),
  ready: () => missingLists(informers),
});
