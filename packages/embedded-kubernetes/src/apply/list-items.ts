/** The items of a list whose items have owners of their own, by path element. */
import { asRecord, type JsonRecord } from '../values/json.ts';
import type { ListType } from './field-schemas.ts';

/** An item without an element: why it has none. */
interface ItemProblem {
  readonly problem: string;
}

const keyed = (item: JsonRecord, { keys }: ListType): string | ItemProblem => {
  const [only] = keys;
  if (keys.length === 1 && only !== undefined && typeof item[only.name] === 'string') {
    return `k:{${JSON.stringify(only.name)}:${JSON.stringify(item[only.name])}}`;
  }
  const given = keys.filter(({ name }) => Object.hasOwn(item, name));
  const missing = keys.find(({ name, fallback }) =>
    !Object.hasOwn(item, name) && fallback === undefined
  );
  if (given.length === 0 && keys.every(({ fallback }) => fallback === undefined)) {
    const names = keys.map(({ name }) => JSON.stringify(name)).join(' ');
    return {
      problem: `associative list with keys has an element that omits all key fields [${names}] ` +
        "(and doesn't have default values for any key fields)",
    };
  }
  const present = missing === undefined ? keys : keys.filter((key) => key !== missing);
  const values = present.map(({ name, fallback }) => [name, item[name] ?? fallback]);
  return `k:${JSON.stringify(Object.fromEntries(values))}`;
};

/** `k:{"name":"main"}` or `v:"value"`: the path element of an item. */
export const itemElement = (item: unknown, type: ListType): string | ItemProblem => {
  if (type.keys.length === 0) {
    if (typeof item === 'object') {
      return { problem: 'associative list without keys has an element' };
    }
    return `v:${JSON.stringify(item)}`;
  }
  const record = asRecord(item);
  if (record !== undefined) return keyed(record, type);
  const what = item === null ? 'a null element' : 'non-map elements';
  return { problem: `associative list with keys may not have ${what}` };
};

/** Items by element, in their order; undefined when one has no element, or two have the same. */
export const itemsByElement = (
  list: readonly unknown[],
  type: ListType,
): ReadonlyMap<string, unknown> | undefined => {
  const items = new Map<string, unknown>();
  for (const item of list) {
    const element = itemElement(item, type);
    if (typeof element !== 'string' || items.has(element)) return undefined;
    items.set(element, item);
  }
  return items;
};
