/**
 * Work as a count that no machine, runtime or compiler changes: how much of an input is read.
 */
import { onTestFinished, vi } from 'vitest';

/** An input that counts how often something is read from it or from what is in it. */
export interface CountedInput<Value extends object> {
  readonly input: Value;
  readonly reads: () => number;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Wraps a plain value. */
export const countedInput = <Value extends object>(value: Value): CountedInput<Value> => {
  let reads = 0;
  const counted = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get: (target, name, receiver) => {
        reads += 1;
        const read: unknown = Reflect.get(target, name, receiver);
        return isObject(read) ? counted(read) : read;
      },
    });
  return { input: counted(value), reads: () => reads };
};

const lengthOf = (list: unknown): number => Array.isArray(list) ? list.length : 0;

/** Methods that may look at all elements of a list. */
const SEARCHES = [
  'find',
  'findIndex',
  'includes',
  'indexOf',
  'sort',
  'splice',
  'toSorted',
] as const;

/** How many elements the lists have in all that have been searched or sorted since. */
export const countedSearches = (): () => number => {
  const spies = SEARCHES.map((name) => vi.spyOn(Array.prototype, name));
  onTestFinished(() => spies.forEach((spy) => spy.mockRestore()));
  return () =>
    spies.flatMap(({ mock }) => mock.contexts).reduce(
      (sum: number, list) => sum + lengthOf(list),
      0,
    );
};

/** How many entries have been put into maps and sets since. */
export const countedEntries = (): () => number => {
  const spies = [vi.spyOn(Map.prototype, 'set'), vi.spyOn(Set.prototype, 'add')];
  onTestFinished(() => spies.forEach((spy) => spy.mockRestore()));
  return () => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
};
