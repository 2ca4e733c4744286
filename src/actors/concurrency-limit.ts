/**
 * At most N actors write at once, each while its state has the tag `acting`.
 *
 * Promises: an actor holds one slot at a time; slots are acquired in order of request; a slot is
 * granted only after the transition that requested it, because an event sent to an actor in
 * transition is processed too late. A second request before the release has no effect.
 */
import { Subscription } from 'rxjs';

/** The actor interface for a slot: the event that grants it, and the tag that holds it. */
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

/** What happens to a request for a slot. */
export type SlotChange = 'requested' | 'acquired' | 'released';

/** The actors that share the slots, and the number of slots. */
export interface ConcurrencyLimitOptions<Entry> {
  readonly atOnce: number;
  readonly keyOf: (entry: Entry) => string;
  /** The actor of an entry, started if it was passive; `undefined` without work. */
  readonly activate: (entry: Entry) => LimitedActor | undefined;
  /** Called with the number of slots in use on every change. */
  readonly onInUse?: (slots: number) => void;
  /** Called for each request, with the key of its actor. */
  readonly onChange?: (change: SlotChange, key: string) => void;
}

/** The queue for slots. */
export interface ConcurrencyLimit<Entry> {
  readonly request: (entry: Entry) => void;
  /** Resolves when no slot is in use or requested. */
  readonly idle: () => Promise<void>;
  /** Grants no more slots. Actors release those in use. */
  readonly stop: () => void;
}

class Slots<Entry> implements ConcurrencyLimit<Entry> {
  readonly #options: ConcurrencyLimitOptions<Entry>;
  /** Keys that requested or hold a slot. */
  readonly #keys = new Set<string>();
  /** In order of request. */
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
    this.#options.onChange?.('requested', key);
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

  /** A loop instead of recursion: a slot may be released while it is granted. */
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
    this.#options.onChange?.('acquired', key);
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
    this.#options.onChange?.('released', key);
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

/** Creates a limit that grants slots. */
export const startConcurrencyLimit = <Entry>(
  options: ConcurrencyLimitOptions<Entry>,
): ConcurrencyLimit<Entry> => new Slots(options);
