/**
 * The differences between kinds of actors, as data for `actor-registry.ts`.
 *
 * Promises: only describes; the registry decides when to create and feed actors.
 */
import type { Actor, AnyStateMachine, InputFrom, SnapshotFrom } from 'xstate';
import type { LogFields } from '../api/telemetry.ts';
import type { Seed } from '../domain/random.ts';

/** When idle actors of a kind are stopped. */
export interface Passivation<Entry, Snapshot> {
  /** The maximum number of settled actors that stay active for inspection. */
  readonly activeMax: number;
  /** True when an entry without an actor has pending work. */
  readonly isPending: (entry: Entry) => boolean;
  /** True when a new actor would have the same knowledge as this one. */
  readonly isSafe: (entry: Entry, snapshot: Snapshot) => boolean;
  /** True when a settled actor is passivated at once. */
  readonly isOver?: (snapshot: Snapshot) => boolean;
  /** Called for a passive entry with pending work, to activate it later; default: at once. */
  readonly onPending?: (entry: Entry) => void;
  /** Called after an entry had no work, or its actor was stopped. */
  readonly onPassive?: (entry: Entry) => void;
  /** True when nothing is known of a passive entry any more, so that it is not counted. */
  readonly isForgotten?: (entry: Entry) => boolean;
}

/** The description of one kind of actor. */
export interface ActorKind<Machine extends AnyStateMachine, Entry> {
  /** The statechart's name: the prefix of actor ids and the label of metrics and logs. */
  readonly name: string;
  /** The statechart, provided once for all actors of the kind. */
  readonly logic: Machine;
  readonly keyOf: (entry: Entry) => string;
  /** The last part of the actor's id; default: the key. */
  readonly labelOf?: (entry: Entry) => string;
  /** The input from the current cluster state; `undefined` when the entry has no work any more. */
  readonly input: (entry: Entry, seed: Seed) => InputFrom<Machine> | undefined;
  /** Called right after the start: sends what the input cannot carry. */
  readonly onStart?: (entry: Entry, actor: Actor<Machine>) => void;
  /** Sends changes to an active actor. */
  readonly observe?: (entry: Entry, actor: Actor<Machine>) => void;
  /** Called after every transition, when the state has been counted. */
  readonly onSnapshot?: (entry: Entry, snapshot: SnapshotFrom<Machine>) => void;
  /** Called after a crash: releases what the actor held. */
  readonly onCrash?: (entry: Entry) => void;
  /** The state to count and show; default: the innermost one. */
  readonly stateOf?: (snapshot: SnapshotFrom<Machine>) => string;
  /** Reports the number of actors in a state. */
  readonly onCount?: (state: string, count: number) => void;
  /** The log fields of an entry. */
  readonly logFields?: (entry: Entry) => LogFields;
  /** Without it an entry has an actor from `consider` until `remove`. */
  readonly passivation?: Passivation<Entry, SnapshotFrom<Machine>>;
}
