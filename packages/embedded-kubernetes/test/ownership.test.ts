/** The algebra of server-side apply, for any configurations of a small schema. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { namedFields } from '../src/apply/applied-fields.ts';
import {
  difference,
  type FieldSet,
  intersection,
  isEmptySet,
  LEAF,
  pathsIn,
  union,
} from '../src/apply/field-set.ts';
import { type MapType, typeOfKind } from '../src/apply/field-schemas.ts';
import type { ManagedEntry } from '../src/apply/managed-fields.ts';
import { appliedTo, type OwnedWrite, updatedEntries } from '../src/apply/ownership.ts';
import { customKind } from '../src/kinds/custom-kind.ts';
import { sameJson } from '../src/patches/same-json.ts';
import { ApiProblem } from '../src/validation/problem.ts';
import type { JsonRecord } from '../src/values/json.ts';

const text = { type: 'string' };
const VERSION: JsonRecord = {
  name: 'v1',
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        one: text,
        other: text,
        map: { type: 'object', additionalProperties: text },
        deep: { type: 'object', properties: { one: text, other: text } },
        set: { 'type': 'array', 'items': text, 'x-kubernetes-list-type': 'set' },
        whole: { type: 'array', items: text },
        items: {
          'type': 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          'items': { type: 'object', properties: { name: text, one: text, other: text } },
        },
        open: { 'type': 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
};
const NAMES = { kind: 'Thing', plural: 'things' };
const KIND = customKind({ spec: { group: 'example.com', names: NAMES } }, VERSION);
const TYPE: MapType = typeOfKind(KIND);

const value = fc.constantFrom('a', 'b', 'c');
const key = fc.constantFrom('k', 'l', 'm');
const some = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined, freq: 2 });
const texts = fc.dictionary(key, value, { maxKeys: 3, noNullPrototype: true });
const pair = fc.record({ one: value, other: value }, { requiredKeys: [] });
const withoutUndefined = (object: object): JsonRecord =>
  Object.fromEntries(Object.entries(object).filter(([, one]) => one !== undefined));

/** Configurations; no empty map or list, which owns itself and nothing in it. */
const configs = fc.record({
  one: some(value),
  other: some(value),
  map: some(texts.filter((one) => Object.keys(one).length > 0)),
  deep: some(pair.filter((one) => Object.keys(one).length > 0)),
  set: some(fc.uniqueArray(value, { minLength: 1, maxLength: 3 })),
  whole: some(fc.array(value, { minLength: 1, maxLength: 2 })),
  items: some(fc.uniqueArray(
    fc.tuple(key, pair).map(([name, more]) => ({ name, ...more })),
    { selector: ({ name }) => name, minLength: 1, maxLength: 3 },
  )),
  open: some(texts.filter((one) => Object.keys(one).length > 0)),
}).map(withoutUndefined);

const writeOf = (manager: string): OwnedWrite => ({
  type: TYPE,
  writer: {
    manager,
    apiVersion: 'example.com/v1',
    subresource: undefined,
    time: '2026-01-01T00:00:00Z',
  },
  tracked: (object) => object,
});

interface State {
  readonly object: JsonRecord;
  readonly entries: readonly ManagedEntry[];
}

const EMPTY: State = { object: {}, entries: [] };

const applyWith =
  (isForced: boolean) => (state: State, manager: string, config: JsonRecord): State => {
    const { object, entries } = appliedTo(
      { live: state.object, entries: state.entries, config, isForced },
      writeOf(manager),
    );
    return { object: object ?? state.object, entries };
  };
const applied = applyWith(true);
const appliedUnforced = applyWith(false);

const updated = (state: State, manager: string, object: JsonRecord): State => ({
  object,
  entries: updatedEntries(
    state.entries,
    { before: state.object, after: object },
    writeOf(manager),
  ),
});

const isConflict = (write: () => unknown): boolean => {
  try {
    write();
    return false;
  } catch (cause) {
    if (cause instanceof ApiProblem && cause.code === 409) return true;
    throw cause;
  }
};

/** Order in associative lists has no owner. */
const unordered = (given: unknown): unknown => {
  if (Array.isArray(given)) {
    return given.map(unordered).toSorted((left, right) =>
      JSON.stringify(left) < JSON.stringify(right) ? -1 : 1
    );
  }
  if (typeof given !== 'object' || given === null) return given;
  const fields = Object.entries(given).map(([name, one]) => [name, unordered(one)] as const);
  return Object.fromEntries(fields.toSorted(([left], [right]) => (left < right ? -1 : 1)));
};

const ownedBy = ({ entries }: State, manager: string): FieldSet =>
  entries.find((entry) => entry.manager === manager)?.fieldsV1 ?? LEAF;

const paths = (set: FieldSet): readonly string[] => pathsIn(set).toSorted();

/** The value that a configuration has for each of its fields that has no others in it. */
const leaves = (config: JsonRecord): ReadonlyMap<string, unknown> => {
  const found = new Map<string, unknown>();
  const walk = (given: unknown, path: string): void => {
    if (Array.isArray(given) && path !== '.whole') {
      for (const item of given) {
        const isText = typeof item === 'string';
        walk(item, isText ? `${path}[="${item}"]` : `${path}[name="${item.name}"]`);
      }
    } else if (typeof given === 'object' && given !== null && !Array.isArray(given)) {
      for (const [name, one] of Object.entries(given)) walk(one, `${path}.${name}`);
    } else found.set(path, given);
  };
  walk(config, '');
  return found;
};

const differ = (one: JsonRecord, other: JsonRecord): boolean => {
  const others = leaves(other);
  return [...leaves(one)].some(([path, given]) =>
    others.has(path) && !sameJson(others.get(path), given)
  );
};

const share = (one: JsonRecord, other: JsonRecord): boolean =>
  !isEmptySet(intersection(namedFields(one, TYPE), namedFields(other, TYPE)));

describe('server-side apply', () => {
  it('applied twice is applied once', () => {
    fc.assert(fc.property(configs, configs, (before, config) => {
      const once = applied(applied(EMPTY, 'first', before), 'me', config);
      expect(applied(once, 'me', config)).toEqual(once);
    }));
  });

  it('an object has what was applied last', () => {
    fc.assert(fc.property(configs, configs, (before, config) => {
      const { object } = applied(applied(EMPTY, 'first', before), 'me', config);
      const has = leaves(object);
      for (const [path, given] of leaves(config)) expect(has.get(path)).toEqual(given);
    }));
  });

  it('a manager owns exactly what it applied', () => {
    fc.assert(fc.property(fc.array(configs, { minLength: 1, maxLength: 3 }), (list) => {
      const state = list.reduce((at, config) => applied(at, 'me', config), EMPTY);
      const [last = {}] = list.toReversed();
      expect(paths(ownedBy(state, 'me'))).toEqual(paths(namedFields(last, TYPE)));
      expect(unordered(state.object)).toEqual(unordered(last));
    }));
  });

  it('two managers of different fields commute, without a conflict', () => {
    fc.assert(fc.property(configs, configs, (one, other) => {
      fc.pre(!share(one, other));
      const left = appliedUnforced(appliedUnforced(EMPTY, 'a', one), 'b', other);
      const right = appliedUnforced(appliedUnforced(EMPTY, 'b', other), 'a', one);
      expect(unordered(left.object)).toEqual(unordered(right.object));
      expect(paths(ownedBy(left, 'a'))).toEqual(paths(ownedBy(right, 'a')));
      expect(paths(ownedBy(left, 'b'))).toEqual(paths(ownedBy(right, 'b')));
    }));
  });

  it('what a manager gives up leaves the object as it was before', () => {
    fc.assert(fc.property(configs, configs, (before, config) => {
      fc.pre(!differ(before, config));
      const state = applied(EMPTY, 'first', before);
      const after = applied(appliedUnforced(state, 'me', config), 'me', {});
      expect(unordered(after.object)).toEqual(unordered(state.object));
      expect(after.entries).toEqual(state.entries);
    }));
  });

  it('there is a conflict exactly where owners want different values', () => {
    fc.assert(fc.property(configs, configs, (one, other) => {
      const state = applied(EMPTY, 'a', one);
      expect(isConflict(() => appliedUnforced(state, 'b', other))).toBe(differ(one, other));
    }));
  });

  it('after force nobody else owns what differed', () => {
    fc.assert(fc.property(configs, configs, (one, other) => {
      const state = applied(applied(EMPTY, 'a', one), 'b', other);
      const has = leaves(state.object);
      const owned = new Set(pathsIn(ownedBy(state, 'a')));
      for (const [path, given] of leaves(one)) {
        if (!sameJson(has.get(path), given)) expect(owned).not.toContain(path);
      }
    }));
  });

  it('an update owns what it changed, and takes it from appliers', () => {
    fc.assert(fc.property(configs, configs, (config, object) => {
      const state = updated(applied(EMPTY, 'me', config), 'other', object);
      const changed = [...leaves(object)]
        .filter(([path, given]) => !sameJson(leaves(config).get(path), given))
        .map(([path]) => path);
      const [mine, others] = [ownedBy(state, 'me'), ownedBy(state, 'other')].map(paths);
      expect(others).toEqual(expect.arrayContaining(changed));
      for (const path of changed) expect(mine).not.toContain(path);
    }));
  });
});

describe('sets of fields', () => {
  const sets = configs.map((config) => namedFields(config, TYPE));

  it('union, intersection and difference are those of their members', () => {
    fc.assert(fc.property(sets, sets, (one, other) => {
      const [left, right] = [new Set(paths(one)), new Set(paths(other))];
      expect(new Set(paths(union(one, other)))).toEqual(left.union(right));
      expect(new Set(paths(intersection(one, other)))).toEqual(left.intersection(right));
      expect(new Set(paths(difference(one, other)))).toEqual(left.difference(right));
    }));
  });

  it('an operation that changes nothing returns the same set', () => {
    fc.assert(fc.property(sets, (set) => {
      expect(union(set, set)).toBe(set);
      expect(difference(set, LEAF)).toBe(set);
      expect(intersection(set, set)).toBe(set);
    }));
  });
});
