/**
 * At most N actors write at once, each for as long as it is `acting`.
 *
 * Promises: an actor holds one slot at a time; slots are acquired in the order of the requests; a
 * slot is given only when the transition that requested it is over, because an event that is sent
 * to an actor in transition is looked at too late. A second request before the slot is free again
 * changes nothing.
 */
import { Subscription } from 'rxjs';

/** What a slot needs of an actor: the event that gives it, and the tag that says how long. */
export interface LimitedActor {
  readonly getSnapshot: () => { readonly hasTag: (tag: 'acting') => boolean };
  readonly subscribe: (
    observer: {
      readonly next: () => void;
      readonly error: () => void;
      readonly complete: () => void;
    },
  ) => { readonly unsubscribe: () => void };
  readonly send: (event: { readonly type: 'slot.acquired' }) => void;
}

/** Which actors share the slots, and how many slots there are. */
export interface ConcurrencyLimitOptions<Entry> {
  readonly atOnce: number;
  readonly keyOf: (entry: Entry) => string;
  /** The actor of an entry, started if it was passive; `undefined`: nothing to do any more. */
  readonly activate: (entry: Entry) => LimitedActor | undefined;
  /** Called with the number of slots in use whenever it changes. */
  readonly onInUse?: (slots: number) => void;
}

/** The queue for slots. */
export interface ConcurrencyLimit<Entry> {
  readonly request: (entry: Entry) => void;
  /** Resolves when no slot is in use or requested. */
  readonly idle: () => Promise<void>;
  /** Gives no more slots. Those in use are released by their actors. */
  readonly stop: () => void;
}

class Slots<Entry> implements ConcurrencyLimit<Entry> {
  readonly #options: ConcurrencyLimitOptions<Entry>;
  /** Keys that requested a slot or hold one. */
  readonly #keys = new Set<string>();
  /** In the order of the requests. */
  readonly #waiting = new Set<Entry>();
  /** Requested in a transition that may not be over. */
  #requested: Entry[] = [];
  #whenIdle: (() => void)[] = [];
  #inUse = 0;
  #giving = false;
  #stopped = false;

  constructor(options: ConcurrencyLimitOptions<Entry>) {
    this.#options = options;
  }

  readonly request = (entry: Entry): void => {
    const key = this.#options.keyOf(entry);
    if (this.#stopped || this.#keys.has(key)) return;
    this.#keys.add(key);
    this.#requested.push(entry);
    if (this.#requested.length === 1) queueMicrotask(this.#admit);
  };

  readonly idle = (): Promise<void> =>
    this.#keys.size === 0
      ? Promise.resolve()
      : new Promise((resolve) => this.#whenIdle.push(resolve));

  readonly stop = (): void => {
    this.#stopped = true;
  };

  readonly #admit = (): void => {
    const requested = this.#requested;
    this.#requested = [];
    for (const entry of requested) this.#waiting.add(entry);
    this.#giveSlots();
  };

  /** A loop and no recursion: a slot may be released in the moment it is given. */
  #giveSlots(): void {
    if (this.#giving) return;
    this.#giving = true;
    for (const entry of this.#waiting) {
      if (this.#stopped || this.#inUse >= this.#options.atOnce) break;
      this.#waiting.delete(entry);
      this.#give(entry, this.#options.keyOf(entry));
    }
    this.#giving = false;
  }

  #give(entry: Entry, key: string): void {
    this.#count(1);
    const actor = this.#options.activate(entry);
    if (actor === undefined) return this.#release(key);
    const hold = new Subscription(() => this.#release(key));
    const release = (): void => hold.unsubscribe();
    const look = (): void => {
      if (!actor.getSnapshot().hasTag('acting')) release();
    };
    hold.add(actor.subscribe({ next: look, error: release, complete: release }));
    actor.send({ type: 'slot.acquired' });
    look();
  }

  #release(key: string): void {
    this.#keys.delete(key);
    this.#count(-1);
    this.#giveSlots();
    if (this.#keys.size > 0) return;
    for (const resolve of this.#whenIdle) resolve();
    this.#whenIdle = [];
  }

  #count(change: number): void {
    this.#inUse += change;
    this.#options.onInUse?.(this.#inUse);
  }
}

/** Starts to give slots. */
export const startConcurrencyLimit = <Entry>(
  options: ConcurrencyLimitOptions<Entry>,
): ConcurrencyLimit<Entry> => new Slots(options);
