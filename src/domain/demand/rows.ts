/**
 * The needs in the making: one row for each set of terms that somebody asks for.
 *
 * Promises: a row that nothing touched gives the same need again; the order is by key and is not
 * sorted anew when a few rows come or go.
 */
import { compareText } from '../requirements.ts';
import type { Need } from './need.ts';
import { makeResourceTotals, type ResourceTotals } from './resource-totals.ts';
import type { Amounts, Terms } from './terms.ts';

/** What one request adds to the demand. */
export interface Contribution {
  readonly terms: Terms;
  readonly amounts: Amounts;
}

/** One need in the making. */
interface Row {
  readonly terms: Terms;
  readonly totals: ResourceTotals;
  /** `undefined` while it must be made again. */
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

/** Two sorted lists as one; a sort of the whole would cost as much as all of them each time. */
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

  /** Counts a request in. */
  add({ terms, amounts }: Contribution): void {
    const row = this.#byKey.get(terms.key) ?? this.#make(terms);
    row.totals.add(amounts);
    this.#touch(row);
  }

  /** Counts out what was counted in before. */
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

  /** Every need, by key; the same list as before when nothing changed. */
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
