/**
 * Actors by key: the only place that creates, feeds, counts, passivates, restarts and stops them.
 *
 * Promises: one actor per key; a settled actor is passivated only when the cluster has all its
 * knowledge, least recently used first; a crashed actor is counted, logged and restarted by one
 * policy (`src/machines/actor-restart.ts`) from the current cluster state; `stop` starts nothing
 * new, waits for operations in flight, and then stops the actors. Kinds differ only in data
 * (`ActorKind`).
 */
import { Effect } from 'effect';
import type {
  Actor,
  AnyActorRef,
  AnyMachineSnapshot,
  AnyStateMachine,
  InputFrom,
  SnapshotFrom,
} from 'xstate';
import { defectText } from '../api/telemetry.ts';
import { actorRestart } from '../machines/actor-restart.ts';
import type { ActorEnvironment } from './actor-environment.ts';
import type { ActorKind } from './actor-kind.ts';

/** Time without a crash that resets the crash count, in milliseconds. */
const STABLE_MS = 300_000;

/** The actors of one kind. */
export interface ActorRegistry<Machine extends AnyStateMachine, Entry> {
  /** Feeds an active actor, or activates a passive one with pending work. */
  readonly consider: (entry: Entry) => void;
  /** The running actor, started if it was passive; `undefined` without work. */
  readonly activate: (entry: Entry) => Actor<Machine> | undefined;
  /** Stops the actor and keeps the entry. */
  readonly passivate: (entry: Entry) => void;
  /** The same if the cluster has all the actor's knowledge; otherwise returns false. */
  readonly passivateIfSafe: (entry: Entry) => boolean;
  /** Stops actors and cancels restarts while nothing can be activated; calls `each` first. */
  readonly suspend: (entries: Iterable<Entry>, each?: (entry: Entry) => void) => void;
  /** Stops the actor and removes the entry. */
  readonly remove: (key: string) => void;
  readonly get: (key: string) => Actor<Machine> | undefined;
  readonly has: (key: string) => boolean;
  readonly entry: (key: string) => Entry | undefined;
  readonly entries: () => Iterable<Entry>;
  readonly actors: () => Iterable<Actor<Machine>>;
  readonly stateOf: (key: string) => string | undefined;
  /** Counts a passive entry under a state of its own, such as `waiting`. */
  readonly showState: (entry: Entry, state: string) => void;
  readonly counts: () => Readonly<Record<string, number>>;
  /**
   * Runs the operation and counts it while in flight; returns `refused` after `close` or `stop`.
   */
  readonly inFlight: <Outcome, Refused, Services = never>(
    operation: Effect.Effect<Outcome, never, Services>,
    refused: Refused,
  ) => Effect.Effect<Outcome | Refused, never, Services>;
  /** Resolves when no operation is in flight. */
  readonly idle: () => Promise<void>;
  /** Starts no actor and no operation from now on. */
  readonly close: () => void;
  /** Closes, waits for operations in flight, and stops all actors. */
  readonly stop: () => Promise<void>;
}

/** The state under which passive entries are counted. */
const PASSIVE = 'passive';

/** The innermost state of a snapshot's value, such as `patchingStatus`. */
export const innermostState = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const [inner] = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return inner === undefined ? 'unknown' : innermostState(inner);
};

/** One key of a registry. */
interface Slot<Machine extends AnyStateMachine, Entry> {
  entry: Entry;
  actor: Actor<Machine> | undefined;
  state: string | undefined;
  startedMs: number;
  crashes: number;
  restart: Actor<typeof actorRestart> | undefined;
}

/** Stops an actor; the invoked actors of a crashed one are still running. */
const end = (actor: AnyActorRef): void => {
  const { children, status }: AnyMachineSnapshot = actor.getSnapshot();
  if (status !== 'error') return void actor.stop();
  const invoked: readonly (AnyActorRef | undefined)[] = Object.values(children);
  for (const child of invoked) child?.send({ type: 'xstate.stop' });
};

class KeyedActors<Machine extends AnyStateMachine, Entry, Services>
  implements ActorRegistry<Machine, Entry> {
  readonly #environment: ActorEnvironment<Services>;
  readonly #kind: ActorKind<Machine, Entry>;
  readonly #slots = new Map<string, Slot<Machine, Entry>>();
  /** Active settled actors, the least recently used first. */
  readonly #settled = new Set<Slot<Machine, Entry>>();
  /** Crashed actors that await a restart, by actor id. */
  readonly #restarting = new Map<string, Slot<Machine, Entry>>();
  readonly #counts = new Map<string, number>();
  readonly #restart: typeof actorRestart;
  #operations = 0;
  #whenIdle: (() => void)[] = [];
  #closed = false;
  #suspended = false;

  constructor(environment: ActorEnvironment<Services>, kind: ActorKind<Machine, Entry>) {
    this.#environment = environment;
    this.#kind = kind;
    this.#restart = actorRestart.provide({
      actions: { startActor: ({ context }) => this.#restarted(context.actor) },
    });
  }

  readonly get = (key: string) => this.#slots.get(key)?.actor;
  readonly has = (key: string) => this.#slots.has(key);
  readonly entry = (key: string) => this.#slots.get(key)?.entry;
  readonly stateOf = (key: string) => this.#slots.get(key)?.state;
  readonly counts = () => Object.fromEntries(this.#counts);

  *entries(): Iterable<Entry> {
    for (const { entry } of this.#slots.values()) yield entry;
  }

  *actors(): Iterable<Actor<Machine>> {
    for (const { actor } of this.#slots.values()) if (actor !== undefined) yield actor;
  }

  readonly consider = (entry: Entry): void => {
    if (this.#closed) return;
    const slot = this.#slotOf(entry);
    if (slot.actor !== undefined) return this.#kind.observe?.(entry, slot.actor);
    if (slot.restart !== undefined) return;
    const { passivation } = this.#kind;
    if (passivation === undefined) return void this.activate(entry);
    if (!passivation.isPending(entry)) return this.#rest(slot);
    if (passivation.onPending === undefined) return void this.activate(entry);
    this.#count(slot, 'waiting');
    passivation.onPending(entry);
  };

  readonly activate = (entry: Entry): Actor<Machine> | undefined => {
    if (this.#closed || this.#suspended) return undefined;
    const slot = this.#slotOf(entry);
    if (slot.actor !== undefined || slot.restart !== undefined) return slot.actor;
    const input = this.#kind.input(entry, this.#environment.seed());
    if (input === undefined) {
      this.#rest(slot);
      return undefined;
    }
    this.#start(slot, input);
    return slot.actor;
  };

  readonly passivate = (entry: Entry): void => {
    const slot = this.#slots.get(this.#kind.keyOf(entry));
    if (slot === undefined) return;
    this.#halt(slot);
    this.#rest(slot);
  };

  readonly passivateIfSafe = (entry: Entry): boolean => {
    const slot = this.#slots.get(this.#kind.keyOf(entry));
    const actor = slot?.actor;
    if (slot === undefined || actor === undefined) return true;
    if (this.#kind.passivation?.isSafe(entry, actor.getSnapshot()) === false) return false;
    this.passivate(entry);
    return true;
  };

  readonly suspend = (entries: Iterable<Entry>, each: (entry: Entry) => void = () => {}): void => {
    this.#suspended = true;
    for (const entry of [...entries]) {
      each(entry);
      this.passivate(entry);
    }
    this.#suspended = false;
  };

  readonly remove = (key: string): void => {
    const slot = this.#slots.get(key);
    if (slot === undefined) return;
    this.#slots.delete(key);
    this.#halt(slot);
    this.#count(slot, undefined);
  };

  readonly showState = (entry: Entry, state: string): void =>
    this.#count(this.#slotOf(entry), state);

  readonly inFlight = <Outcome, Refused, Needed = never>(
    operation: Effect.Effect<Outcome, never, Needed>,
    refused: Refused,
  ) =>
    Effect.suspend((): Effect.Effect<Outcome | Refused, never, Needed> => {
      if (this.#closed) return Effect.succeed(refused);
      this.#operations += 1;
      return Effect.ensuring(operation, Effect.sync(() => this.#ended()));
    });

  readonly idle = (): Promise<void> =>
    this.#operations === 0
      ? Promise.resolve()
      : new Promise((resolve) => this.#whenIdle.push(resolve));

  readonly close = (): void => {
    this.#closed = true;
    for (const slot of this.#slots.values()) this.#cancelRestart(slot);
  };

  readonly stop = async (): Promise<void> => {
    this.close();
    await this.idle();
    for (const { actor } of this.#slots.values()) if (actor !== undefined) end(actor);
  };

  #slotOf(entry: Entry): Slot<Machine, Entry> {
    const key = this.#kind.keyOf(entry);
    const known = this.#slots.get(key);
    if (known !== undefined) {
      known.entry = entry;
      return known;
    }
    const slot = {
      entry,
      actor: undefined,
      state: undefined,
      startedMs: 0,
      crashes: 0,
      restart: undefined,
    };
    this.#slots.set(key, slot);
    return slot;
  }

  #idOf(entry: Entry): string {
    const { name, keyOf, labelOf = keyOf } = this.#kind;
    return `${name}/${labelOf(entry)}`;
  }

  #start(slot: Slot<Machine, Entry>, input: InputFrom<Machine>): void {
    const actor = this.#environment.actor(this.#kind.logic, this.#idOf(slot.entry), input);
    slot.actor = actor;
    slot.startedMs = this.#environment.time.monotonic();
    actor.subscribe({
      next: (snapshot) => {
        if (slot.actor === actor) this.#moved(slot, snapshot);
      },
      error: (cause) => {
        if (slot.actor === actor) this.#crashed(slot, cause);
      },
    });
    actor.start();
    if (slot.actor === actor) this.#kind.onStart?.(slot.entry, actor);
  }

  #moved(slot: Slot<Machine, Entry>, snapshot: SnapshotFrom<Machine>): void {
    const { onSnapshot, passivation, stateOf } = this.#kind;
    const seen: AnyMachineSnapshot = snapshot;
    this.#count(slot, stateOf?.(snapshot) ?? innermostState(seen.value));
    try {
      onSnapshot?.(slot.entry, snapshot);
    } catch (cause) {
      return this.#crashed(slot, cause);
    }
    if (passivation === undefined || slot.actor === undefined) return;
    if (!seen.hasTag('settled')) return void this.#settled.delete(slot);
    if (passivation.isOver?.(snapshot) !== true || !this.passivateIfSafe(slot.entry)) {
      this.#keepSettled(slot, passivation.activeMax);
    }
  }

  /**
   * Above the limit the least recently used one is passivated; one that cannot be is retried later.
   */
  #keepSettled(slot: Slot<Machine, Entry>, activeMax: number): void {
    this.#settled.delete(slot);
    this.#settled.add(slot);
    if (this.#settled.size <= activeMax) return;
    const [oldest] = this.#settled;
    if (oldest === undefined) return;
    this.#settled.delete(oldest);
    if (!this.passivateIfSafe(oldest.entry)) this.#settled.add(oldest);
  }

  #crashed(slot: Slot<Machine, Entry>, cause: unknown): void {
    const { name, logFields, onCrash } = this.#kind;
    const { telemetry, time, seed } = this.#environment;
    const actor = this.#idOf(slot.entry);
    const problem = defectText(cause);
    const isStable = time.monotonic() - slot.startedMs >= STABLE_MS;
    slot.crashes = isStable ? 1 : slot.crashes + 1;
    this.#halt(slot);
    this.#count(slot, this.#closed ? undefined : 'crashed');
    telemetry.count('tidegate_actor_defects_total', 1, { machine: name });
    telemetry.log('error', 'Actor crashed', {
      machine: name,
      actor,
      crashes: slot.crashes,
      ...logFields?.(slot.entry),
      problem,
    });
    if (!this.#closed) {
      const input = { actor, crashes: slot.crashes, problem, seed: seed() };
      slot.restart = this.#environment.actor(this.#restart, `actorRestart/${actor}`, input);
      this.#restarting.set(actor, slot);
      slot.restart.start();
    }
    onCrash?.(slot.entry);
  }

  #restarted(actor: string): void {
    const slot = this.#restarting.get(actor);
    this.#restarting.delete(actor);
    if (slot === undefined) return;
    slot.restart = undefined;
    this.consider(slot.entry);
  }

  #cancelRestart(slot: Slot<Machine, Entry>): void {
    if (slot.restart === undefined) return;
    slot.restart.stop();
    slot.restart = undefined;
    this.#restarting.delete(this.#idOf(slot.entry));
  }

  #halt(slot: Slot<Machine, Entry>): void {
    const { actor } = slot;
    slot.actor = undefined;
    this.#settled.delete(slot);
    this.#cancelRestart(slot);
    if (actor !== undefined) end(actor);
  }

  #rest(slot: Slot<Machine, Entry>): void {
    const { passivation, keyOf } = this.#kind;
    passivation?.onPassive?.(slot.entry);
    if (passivation === undefined || passivation.isForgotten?.(slot.entry) === true) {
      return this.remove(keyOf(slot.entry));
    }
    this.#count(slot, PASSIVE);
  }

  #count(slot: Slot<Machine, Entry>, state: string | undefined): void {
    if (slot.state === state) return;
    this.#add(slot.state, -1);
    this.#add(state, 1);
    slot.state = state;
  }

  #add(state: string | undefined, by: number): void {
    if (state === undefined) return;
    const count = (this.#counts.get(state) ?? 0) + by;
    this.#counts.set(state, count);
    this.#kind.onCount?.(state, count);
  }

  #ended(): void {
    this.#operations -= 1;
    if (this.#operations > 0) return;
    for (const resolve of this.#whenIdle) resolve();
    this.#whenIdle = [];
  }
}

/** An empty registry of one kind. Nothing starts before `consider` or `activate`. */
export const actorRegistry = <Machine extends AnyStateMachine, Entry, Services>(
  environment: ActorEnvironment<Services>,
  kind: ActorKind<Machine, Entry>,
): ActorRegistry<Machine, Entry> => new KeyedActors(environment, kind);
