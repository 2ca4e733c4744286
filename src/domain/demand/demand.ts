/**
 * The cluster's demand, kept and not recomputed: an event on one CapacityRequest changes only the
 * need that it is part of.
 *
 * Promises: whatever the order of events, the needs are those of the requests that are there now.
 * Needs come in the order of their keys, and one whose requests did not change is the same object
 * as before. A request that was good and turns bad keeps its last good reading until it is deleted
 * (WIRE-05); one that never was good is left out.
 */
import type { ObjectKey } from '../ids.ts';
import type { Problem } from './field.ts';
import type { Need } from './need.ts';
import { problemsText, type Reading } from './reading.ts';
import type { CapacityRequestProjection } from './request.ts';
import { NeedRows } from './rows.ts';

/** What became of a request that was observed. */
export type Observed =
  /** It is part of the demand. */
  | { readonly _tag: 'Counted' }
  /** It cannot be read and is not part of the demand. */
  | { readonly _tag: 'LeftOut'; readonly problems: readonly Problem[]; readonly isNews: boolean }
  /** It cannot be read now; what it asked for before still counts. */
  | {
    readonly _tag: 'KeptLastGood';
    readonly problems: readonly Problem[];
    /** False when exactly this was said of it before: an Event a change, not one an observation. */
    readonly isNews: boolean;
  };

/** The demand of a cluster. */
export interface Demand {
  /** Takes what is known of a request now; the same twice changes nothing. */
  readonly observe: (request: CapacityRequestProjection) => Observed;
  /** The request is gone. */
  readonly forget: (key: ObjectKey) => void;
  /** These are all requests that there are. Returns what became of those that cannot be read. */
  readonly observeAll: (
    requests: readonly CapacityRequestProjection[],
  ) => readonly { readonly request: CapacityRequestProjection; readonly observed: Observed }[];
  /** Every need, by key. The complete demand: what a roll-up sends. */
  readonly needs: () => readonly Need[];
  /** Requests that are in `needs()` with their present spec and whose phase is empty or Pending. */
  readonly unacknowledged: () => readonly CapacityRequestProjection[];
  /** Requests that cannot be read now, whether or not an older reading of theirs counts. */
  readonly unreadable: () => readonly CapacityRequestProjection[];
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
  /** The projection whose reading counts: the present one, or the last good one. */
  readonly #counted = new Map<ObjectKey, Readable>();
  readonly #unreadable = new Map<ObjectKey, CapacityRequestProjection>();
  readonly #unacknowledged = new Map<ObjectKey, Readable>();

  get size(): number {
    return this.#counted.size;
  }

  readonly observe = (request: CapacityRequestProjection): Observed => {
    // Another object of the same name: its predecessor's deletion was not seen.
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
    const { key, reading, phase } = request;
    const before = this.#counted.get(key)?.reading;
    const isSame = before?.terms.key === reading.terms.key &&
      before.amounts.key === reading.amounts.key;
    if (!isSame) {
      this.#rows.add(reading);
      if (before !== undefined) this.#rows.remove(before);
    }
    this.#counted.set(key, request);
    this.#unreadable.delete(key);
    if (phase === '' || phase === 'Pending') this.#unacknowledged.set(key, request);
    else this.#unacknowledged.delete(key);
    return { _tag: 'Counted' };
  }

  #leaveOut(request: CapacityRequestProjection): Observed {
    const isNews = !isSameProblem(this.#unreadable.get(request.key), request);
    this.#unreadable.set(request.key, request);
    // Not acknowledged: what counts is not what the request says now.
    this.#unacknowledged.delete(request.key);
    const problems = request.reading._tag === 'Unreadable' ? request.reading.problems : [];
    const _tag = this.#counted.has(request.key) ? 'KeptLastGood' : 'LeftOut';
    return { _tag, problems, isNews };
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
