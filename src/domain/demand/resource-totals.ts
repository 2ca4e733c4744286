/**
 * Sums of the amounts of many requests and the maximum of each resource, updated incrementally.
 *
 * Promises: sums and maxima are independent of insertion order. Adding and removing touch only the
 * amounts of that request; a removed maximum is searched again on demand, among the distinct
 * amounts and not among the requests. The work grows linearly with the number of resources.
 *
 * A sum has the format of its first non-zero operand, so an order is needed: binary operands first,
 * then decimal ones, then those with an exponent.
 */
import { canonicalQuantity, type Quantity, type QuantityFormat } from '../quantity.ts';
import { compareText } from '../requirements.ts';
import type { ResourceMap } from '../resources.ts';
import type { Amount, Amounts } from './terms.ts';

/** Sums and maxima of the amounts of many requests. */
export interface ResourceTotals {
  /** The number of requests in it. */
  readonly size: number;
  readonly add: (amounts: Amounts) => void;
  /** Removes amounts that were added before. */
  readonly remove: (amounts: Amounts) => void;
  /** Exact sums, canonical, by resource name. */
  readonly sums: () => ResourceMap;
  /** The largest amount of each resource, canonical, by resource name. */
  readonly maxima: () => ResourceMap;
}

/** The order of formats in sums, and between equal maxima. */
const FORMATS: readonly QuantityFormat[] = ['BinarySI', 'DecimalSI', 'DecimalExponent'];

/** One resource. */
interface Column {
  readonly resource: string;
  nanos: bigint;
  /** The number of requests that name the resource. */
  named: number;
  /** The number of non-zero operands in each format, in the order of `FORMATS`. */
  readonly formats: [number, number, number];
  /** `undefined` after the maximum was removed, until the next search. */
  largest: Quantity | undefined;
}

/** The number of requests with exactly these amounts. */
interface Kind {
  readonly amounts: Amounts;
  count: number;
}

const isLarger = (one: Quantity, other: Quantity): boolean =>
  one.nanos === other.nanos
    ? FORMATS.indexOf(one.format) < FORMATS.indexOf(other.format)
    : one.nanos > other.nanos;

const sumOf = ({ nanos, formats }: Column): Quantity => ({
  nanos,
  format: FORMATS.find((_, index) => (formats[index] ?? 0) > 0) ?? 'DecimalSI',
  written: undefined,
});

/** Adds `amount` to (`by` = 1) or removes it from (`by` = −1) its column. */
const shift = (column: Column, { quantity }: Amount, by: 1 | -1): void => {
  column.named += by;
  column.nanos += by === 1 ? quantity.nanos : -quantity.nanos;
  if (quantity.nanos === 0n) return;
  if (quantity.format === 'BinarySI') column.formats[0] += by;
  else if (quantity.format === 'DecimalSI') column.formats[1] += by;
  else column.formats[2] += by;
};

class ExactTotals implements ResourceTotals {
  readonly #kinds = new Map<string, Kind>();
  readonly #columns = new Map<string, Column>();
  /** By resource name; `undefined` after a column came or went. */
  #sorted: readonly Column[] | undefined = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  readonly add = (amounts: Amounts): void => {
    this.#size += 1;
    const kind = this.#kinds.get(amounts.key);
    if (kind === undefined) this.#kinds.set(amounts.key, { amounts, count: 1 });
    else kind.count += 1;
    for (const amount of amounts.list) {
      const column = this.#columnOf(amount.resource);
      const isFirst = column.named === 0;
      shift(column, amount, 1);
      const { largest } = column;
      if (isFirst || (largest !== undefined && isLarger(amount.quantity, largest))) {
        column.largest = amount.quantity;
      }
    }
  };

  readonly remove = (amounts: Amounts): void => {
    const kind = this.#kinds.get(amounts.key);
    if (kind === undefined) return;
    this.#size -= 1;
    kind.count -= 1;
    if (kind.count === 0) this.#kinds.delete(amounts.key);
    for (const amount of amounts.list) {
      const column = this.#columnOf(amount.resource);
      shift(column, amount, -1);
      const isLast = kind.count === 0;
      if (isLast && column.largest?.nanos === amount.quantity.nanos) column.largest = undefined;
      if (column.named === 0) this.#drop(amount.resource);
    }
  };

  readonly sums = (): ResourceMap =>
    Object.fromEntries(
      this.#inOrder().map((column) => [column.resource, canonicalQuantity(sumOf(column))]),
    );

  readonly maxima = (): ResourceMap => {
    const columns = this.#inOrder();
    if (columns.some((column) => column.largest === undefined)) this.#findLargest(columns);
    return Object.fromEntries(
      columns.flatMap(({ resource, largest }) =>
        largest === undefined ? [] : [[resource, canonicalQuantity(largest)]]
      ),
    );
  };

  #columnOf(resource: string): Column {
    const known = this.#columns.get(resource);
    if (known !== undefined) return known;
    const made: Column = {
      resource,
      nanos: 0n,
      named: 0,
      formats: [0, 0, 0],
      largest: undefined,
    };
    this.#columns.set(resource, made);
    this.#sorted = undefined;
    return made;
  }

  #drop(resource: string): void {
    this.#columns.delete(resource);
    this.#sorted = undefined;
  }

  #inOrder(): readonly Column[] {
    this.#sorted ??= [...this.#columns.values()]
      .sort((left, right) => compareText(left.resource, right.resource));
    return this.#sorted;
  }

  #findLargest(columns: readonly Column[]): void {
    const missing = new Map(
      columns.filter(({ largest }) => largest === undefined)
        .map((column) => [column.resource, column]),
    );
    for (const { amounts } of this.#kinds.values()) {
      for (const { resource, quantity } of amounts.list) {
        const column = missing.get(resource);
        if (column === undefined) continue;
        if (column.largest === undefined || isLarger(quantity, column.largest)) {
          column.largest = quantity;
        }
      }
    }
  }
}

/** Totals of no requests. */
export const makeResourceTotals = (): ResourceTotals => new ExactTotals();
