/**
 * The objects of one namespace of one resource, by name and in name order.
 *
 * Promises: `named` costs one look-up; an ordered iteration sorts only after names were added or
 * removed.
 */
import type { JsonRecord } from '../values/json.ts';

/** Objects by name. */
export interface NamespaceStore {
  readonly get: (name: string) => JsonRecord | undefined;
  readonly put: (name: string, object: JsonRecord) => void;
  readonly remove: (name: string) => void;
  readonly size: () => number;
  /** In no particular order, at no cost. */
  readonly objects: () => Iterable<JsonRecord>;
  /** In the order of names. */
  readonly names: () => readonly string[];
}

/** A namespace without objects. */
export const makeNamespaceStore = (): NamespaceStore => {
  const objects = new Map<string, JsonRecord>();
  let sorted: readonly string[] | undefined = [];
  return {
    get: (name) => objects.get(name),
    put: (name, object) => {
      if (!objects.has(name)) sorted = undefined;
      objects.set(name, object);
    },
    remove: (name) => {
      if (objects.delete(name)) sorted = undefined;
    },
    size: () => objects.size,
    objects: () => objects.values(),
    names: () => sorted ??= [...objects.keys()].sort(),
  };
};
