/**
 * The rows from which needs are built: one for each set of requested terms.
 *
 * Promises: an untouched row returns the same need again; rows stay sorted by key, without a full
 * sort when a few change.
 */
import { compareText } from '../requirements.ts';
import type { Need } from './need.ts';
import { makeResourceTotals, type ResourceTotals } from './resource-totals.ts';
import type { Amounts, Terms } from './terms.ts';

/** The contribution of one request. */
export interface Contribution {
  readonly terms: Terms;
  readonly amounts: Amounts;
}

/** One row. */
interface Row {
  readonly terms: Terms;
  readonly totals: ResourceTotals;
  /** `undefined` until it is built again. */
  need: Need | undefined;
}

const needOf = ({ terms: { key, profile, group }, totals }: Row): Need => ({
  key,
  requirements: profile.requirements,
  aggregateResources: totals.sums(),
  minUnit: totals.maxima(),
  priority: profile.priority,
  spread: profile.spread,
  interruptionBucket: profile.interruptionBucket,
  reclamationBucket: profile.reclamationBucket,
  group,
  requests: totals.size,
});

const byKey = (left: Row, right: Row): number => compareText(left.terms.key, right.terms.key);

/** Merges two sorted lists; sorting the whole would cost as much as all rows each time. */
const merged = (left: readonly Row[], right: readonly Row[]): readonly Row[] => {
  if (right.length === 0) return left;
  const rows: Row[] = [];
  let next = 0;
  for (const row of left) {
    for (let other = right[next]; other !== undefined && byKey(other, row) < 0;) {
      rows.push(other);
      next += 1;
      other = right[next];
    }
    rows.push(row);
  }
  return [...rows, ...right.slice(next)];
};

/** All rows. */
export class NeedRows {
  readonly #byKey = new Map<string, Row>();
  #sorted: readonly Row[] = [];
  #added: Row[] = [];
  #hasEmpty = false;
  #needs: readonly Need[] | undefined = [];

  /** Adds a request. */
  add({ terms, amounts }: Contribution): void {
    const row = this.#byKey.get(terms.key) ?? this.#make(terms);
    row.totals.add(amounts);
    this.#touch(row);
  }

  /** Removes a request that was added before. */
  remove({ terms, amounts }: Contribution): void {
    const row = this.#byKey.get(terms.key);
    if (row === undefined) return;
    row.totals.remove(amounts);
    if (row.totals.size === 0) {
      this.#byKey.delete(terms.key);
      this.#hasEmpty = true;
    }
    this.#touch(row);
  }

  /** All needs, by key; the same list as before when nothing changed. */
  needs(): readonly Need[] {
    this.#needs ??= this.#arranged().map((row) => row.need ??= needOf(row));
    return this.#needs;
  }

  #make(terms: Terms): Row {
    const row: Row = { terms, totals: makeResourceTotals(), need: undefined };
    this.#byKey.set(terms.key, row);
    this.#added.push(row);
    return row;
  }

  #touch(row: Row): void {
    row.need = undefined;
    this.#needs = undefined;
  }

  #arranged(): readonly Row[] {
    const isWanted = (row: Row): boolean => row.totals.size > 0;
    const old = this.#hasEmpty ? this.#sorted.filter(isWanted) : this.#sorted;
    this.#sorted = merged(old, this.#added.filter(isWanted).sort(byKey));
    this.#added = [];
    this.#hasEmpty = false;
    return this.#sorted;
  }
}
