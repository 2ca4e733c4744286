/**
 * The cluster's demand, maintained incrementally: an event on one CapacityRequest updates only its
 * own need.
 *
 * Promises: independent of the order of events, the needs are those of the current requests. Needs
 * are sorted by key, and an unchanged need is the same object as before. A request that becomes
 * invalid keeps its last valid reading until it is deleted (WIRE-05); one that never was valid is
 * excluded.
 */
import type { ObjectKey } from '../ids.ts';
import type { Problem } from './field.ts';
import type { Need } from './need.ts';
import { problemsText, type Reading } from './reading.ts';
import { awaitsAcknowledgement } from './request-status.ts';
import type { CapacityRequestProjection } from './request.ts';
import { NeedRows } from './rows.ts';

/** The effect of an observed request. */
export type Observed =
  /** It counts in the demand. */
  | { readonly _tag: 'Counted' }
  /** It is invalid and does not count in the demand. */
  | { readonly _tag: 'LeftOut'; readonly problems: readonly Problem[]; readonly isNew: boolean }
  /** It is invalid now; its last valid spec still counts. */
  | {
    readonly _tag: 'KeptLastGood';
    readonly problems: readonly Problem[];
    /** False when its problems are unchanged: one Event per change, not per observation. */
    readonly isNew: boolean;
  };

/** The demand of a cluster. */
export interface Demand {
  /** Applies the current facts of a request; idempotent. */
  readonly observe: (request: CapacityRequestProjection) => Observed;
  /** The request is gone. */
  readonly forget: (key: ObjectKey) => void;
  /** The complete set of requests. Returns the effect of each invalid one. */
  readonly observeAll: (
    requests: readonly CapacityRequestProjection[],
  ) => readonly { readonly request: CapacityRequestProjection; readonly observed: Observed }[];
  /** All needs, by key. The complete demand: the content of a roll-up. */
  readonly needs: () => readonly Need[];
  /** Requests in `needs()` with their current spec whose acknowledgement is still to be written. */
  readonly unacknowledged: () => readonly CapacityRequestProjection[];
  /** Requests that are invalid now, with or without a valid earlier reading. */
  readonly unreadable: () => readonly CapacityRequestProjection[];
  /** The number of `unreadable()`. */
  readonly unreadableSize: number;
  /** Requests that count. */
  readonly size: number;
}

type Readable = CapacityRequestProjection & {
  readonly reading: Extract<Reading, { readonly _tag: 'Readable' }>;
};

const isReadable = (request: CapacityRequestProjection): request is Readable =>
  request.reading._tag === 'Readable';

const isSameProblem = (
  before: CapacityRequestProjection | undefined,
  now: CapacityRequestProjection,
): boolean =>
  before !== undefined && before.uid === now.uid && before.reading._tag === 'Unreadable' &&
  now.reading._tag === 'Unreadable' &&
  problemsText(before.reading.problems) === problemsText(now.reading.problems);

class KeptDemand implements Demand {
  readonly #rows = new NeedRows();
  /** The projection that counts: the current one, or the last valid one. */
  readonly #counted = new Map<ObjectKey, Readable>();
  readonly #unreadable = new Map<ObjectKey, CapacityRequestProjection>();
  readonly #unacknowledged = new Map<ObjectKey, Readable>();

  get size(): number {
    return this.#counted.size;
  }

  get unreadableSize(): number {
    return this.#unreadable.size;
  }

  readonly observe = (request: CapacityRequestProjection): Observed => {
    // Another object of the same name: the deletion of its predecessor was missed.
    if (this.#counted.get(request.key)?.uid !== request.uid) this.#uncount(request.key);
    return isReadable(request) ? this.#count(request) : this.#leaveOut(request);
  };

  readonly forget = (key: ObjectKey): void => {
    this.#uncount(key);
    this.#unreadable.delete(key);
  };

  readonly observeAll: Demand['observeAll'] = (requests) => {
    const present = new Set(requests.map(({ key }) => key));
    for (const key of [...this.#counted.keys(), ...this.#unreadable.keys()]) {
      if (!present.has(key)) this.forget(key);
    }
    return requests.flatMap((request) => {
      const observed = this.observe(request);
      return observed._tag === 'Counted' ? [] : [{ request, observed }];
    });
  };

  readonly needs = (): readonly Need[] => this.#rows.needs();
  readonly unacknowledged = (): readonly CapacityRequestProjection[] => [
    ...this.#unacknowledged.values(),
  ];
  readonly unreadable = (): readonly CapacityRequestProjection[] => [...this.#unreadable.values()];

  #count(request: Readable): Observed {
    const { key, reading } = request;
    const before = this.#counted.get(key)?.reading;
    const isSame = before?.terms.key === reading.terms.key &&
      before.amounts.key === reading.amounts.key;
    if (!isSame) {
      this.#rows.add(reading);
      if (before !== undefined) this.#rows.remove(before);
    }
    this.#counted.set(key, request);
    this.#unreadable.delete(key);
    if (awaitsAcknowledgement(request)) this.#unacknowledged.set(key, request);
    else this.#unacknowledged.delete(key);
    return { _tag: 'Counted' };
  }

  #leaveOut(request: CapacityRequestProjection): Observed {
    const isNew = !isSameProblem(this.#unreadable.get(request.key), request);
    this.#unreadable.set(request.key, request);
    // Not acknowledged: the demand differs from the request's current spec.
    this.#unacknowledged.delete(request.key);
    const problems = request.reading._tag === 'Unreadable' ? request.reading.problems : [];
    const _tag = this.#counted.has(request.key) ? 'KeptLastGood' : 'LeftOut';
    return { _tag, problems, isNew };
  }

  #uncount(key: ObjectKey): void {
    const before = this.#counted.get(key);
    if (before === undefined) return;
    this.#rows.remove(before.reading);
    this.#counted.delete(key);
    this.#unacknowledged.delete(key);
  }
}

/** An empty demand. */
export const makeDemand = (): Demand => new KeptDemand();
