/**
 * What makes one kind of actor different from another, as data for `actor-registry.ts`.
 *
 * Promises: nothing here runs; a kind says how its actors are made and fed, never when.
 */
import type { Actor, AnyStateMachine, InputFrom, SnapshotFrom } from 'xstate';
import type { LogFields } from '../api/telemetry.ts';
import type { Seed } from '../domain/random.ts';

/** When actors of a kind are stopped because they have nothing to do. */
export interface Passivation<Entry, Snapshot> {
  /** Settled actors that stay active, so that people can look at them. */
  readonly activeMax: number;
  /** True when an entry without an actor has something to do. */
  readonly isPending: (entry: Entry) => boolean;
  /** True when an actor that is started now would know all that this one knows. */
  readonly isSafe: (entry: Entry, snapshot: Snapshot) => boolean;
  /** True when a settled actor is passivated at once instead of kept. */
  readonly isOver?: (snapshot: Snapshot) => boolean;
  /** Called for a passive entry that is pending, to have it activated later; default: at once. */
  readonly onPending?: (entry: Entry) => void;
  /** After an entry was found to have nothing to do, or its actor was stopped. */
  readonly onPassive?: (entry: Entry) => void;
  /** True when nothing is known of a passive entry any more, so that it is not counted. */
  readonly isForgotten?: (entry: Entry) => boolean;
}

/** What makes one kind of actor different from another. */
export interface ActorKind<Machine extends AnyStateMachine, Entry> {
  /** The statechart's name: the prefix of actor ids and the label of metrics and logs. */
  readonly name: string;
  /** The statechart, provided once for all actors of the kind. */
  readonly logic: Machine;
  readonly keyOf: (entry: Entry) => string;
  /** The last part of the actor's id; default: the key. */
  readonly labelOf?: (entry: Entry) => string;
  /** What the cluster shows now; `undefined` when the entry has nothing to do any more. */
  readonly input: (entry: Entry, seed: Seed) => InputFrom<Machine> | undefined;
  /** Right after the start: sends what the input cannot carry. */
  readonly onStart?: (entry: Entry, actor: Actor<Machine>) => void;
  /** Sends an active actor what differs from what it knows. */
  readonly observe?: (entry: Entry, actor: Actor<Machine>) => void;
  /** After every transition, when the state has been counted. */
  readonly onSnapshot?: (entry: Entry, snapshot: SnapshotFrom<Machine>) => void;
  /** After a crash: gives back what the actor held for others. */
  readonly onCrash?: (entry: Entry) => void;
  /** The state that is counted and shown; default: the innermost one. */
  readonly stateOf?: (snapshot: SnapshotFrom<Machine>) => string;
  /** Shows how many actors are in a state. */
  readonly onCount?: (state: string, count: number) => void;
  /** What a log line about the entry carries. */
  readonly logFields?: (entry: Entry) => LogFields;
  /** Without it an entry has an actor from `consider` until `remove`. */
  readonly passivation?: Passivation<Entry, SnapshotFrom<Machine>>;
}
