/**
 * Mutations of JSON that keep it JSON: the readers behind the API server see nothing else.
 *
 * Promises: a text that is not JSON is edited as text.
 */
import { asList, asRecord, parseJson } from '../../src/domain/json.ts';
import { type Draw, drawBelow, drawOne } from '../support/draws.ts';
import {
  CHARACTERS_MAX,
  drawTimes,
  type Mutate,
  mutateText,
  type Mutation,
  ODD_TEXTS,
  repeatedText,
} from './mutation.ts';

/** A value with its place; the root has none. */
type Path = readonly (string | number)[];

const NUMBERS: readonly number[] = [
  0,
  -0,
  1,
  -1,
  0.1,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  Number.MAX_SAFE_INTEGER,
  2 ** 63,
  1e308,
  5e-324,
];
/** A walk from the root ends at each value with this chance. */
const STOP = 0.2;
/** Deeper than any object of the API. */
const DEPTHS: readonly number[] = [1, 2, 3, 100];

const keysOf = (value: unknown): readonly (string | number)[] => {
  const list = asList(value);
  if (list !== undefined) return [...list.keys()];
  return Object.keys(asRecord(value) ?? {});
};

const childOf = (value: unknown, key: string | number): unknown =>
  typeof key === 'number'
    ? asList(value)?.[key]
    : Object.getOwnPropertyDescriptor(asRecord(value) ?? {}, key)?.value;

const drawPath = (root: unknown, draw: Draw): Path => {
  const path: (string | number)[] = [];
  for (let at = root; path.length === 0 || draw() >= STOP;) {
    const key = drawOne(draw, keysOf(at));
    if (key === undefined) break;
    path.push(key);
    at = childOf(at, key);
  }
  return path;
};

const valueIn = (root: unknown, path: Path): unknown =>
  path.reduce<unknown>((value, key) => childOf(value, key), root);

/** Entries as an object; also one with the key `__proto__`. */
const recordOf = (entries: readonly (readonly [string, unknown])[]): object =>
  Object.fromEntries(entries);

/** The root with `change` applied to the entries of the container at the path's end. */
const changed = (
  root: unknown,
  [key, ...rest]: Path,
  change: (value: unknown) => readonly unknown[],
): unknown => {
  if (key === undefined) return change(root)[0];
  const list = asList(root);
  const isLast = rest.length === 0;
  const replaced = (value: unknown): readonly unknown[] =>
    isLast ? change(value) : [changed(value, rest, change)];
  if (list !== undefined) {
    return list.flatMap((value, index) => index === key ? replaced(value) : [value]);
  }
  return recordOf(
    Object.entries(asRecord(root) ?? {}).flatMap(([name, value]) => {
      if (name !== key) return [[name, value] as const];
      return replaced(value).map((one, index) =>
        [index === 0 ? name : `${name}${index}`, one] as const
      );
    }),
  );
};

const oddValue = ({ draw, words }: Mutation): unknown =>
  drawOne(draw, [
    () => null,
    () => draw() < 0.5,
    () => drawOne(draw, NUMBERS),
    () => drawOne(draw, ODD_TEXTS),
    () => drawOne(draw, words),
    () => repeatedText(drawOne(draw, ['x', 'a.', '\u{1f600}', '1']) ?? '', drawTimes(draw)),
    () => [],
    () => ({}),
    () => [[]],
    () => recordOf([[drawOne(draw, ODD_TEXTS) ?? '', 'x']]),
  ])?.();

const nested = (value: unknown, depth: number): unknown => {
  let outer = value;
  for (let level = 0; level < depth; level += 1) {
    outer = level % 2 === 0 ? [outer] : { nested: outer };
  }
  return outer;
};

type Edit = (root: unknown, path: Path, mutation: Mutation) => unknown;

const withName: Edit = (root, path, mutation) => {
  const { draw, words } = mutation;
  const name = drawOne(draw, draw() < 0.5 ? ODD_TEXTS : words) ?? '';
  const parent = path.slice(0, -1);
  const last = path.at(-1);
  return changed(root, parent, (value) => {
    const record = asRecord(value);
    if (record === undefined) return [value];
    const entries = Object.entries(record);
    return [recordOf(
      draw() < 0.5
        ? entries.map(([key, one]) => [key === last ? name : key, one] as const)
        : [...entries, [name, oddValue(mutation)] as const],
    )];
  });
};

const EDITS: readonly Edit[] = [
  (root, path, mutation) => changed(root, path, () => [oddValue(mutation)]),
  (root, path, mutation) => changed(root, path, () => [oddValue(mutation)]),
  (root, path) => changed(root, path, () => []),
  withName,
  (root, path, { draw }) =>
    changed(root, path, (value) => {
      const size = JSON.stringify(value)?.length ?? 1;
      const times = Math.min(drawTimes(draw), Math.floor(CHARACTERS_MAX / (size + 1)) || 1);
      return Array.from({ length: times }, () => value);
    }),
  (root, path, { draw, other }) => {
    const donor = parseJson(other);
    const part = valueIn(donor, drawPath(donor, draw));
    return changed(root, path, () => [part]);
  },
  (root, path, mutation) =>
    changed(root, path, (value) => [
      typeof value === 'string' ? mutateText(value, mutation) : oddValue(mutation),
    ]),
  (root, path, mutation) =>
    changed(root, path, (value) => [
      typeof value === 'string' ? mutateText(value, mutation) : oddValue(mutation),
    ]),
  (root, path, { draw }) =>
    changed(root, path, (value) => [
      typeof value === 'number' ? value + drawBelow(draw, 3) - 1 : value,
    ]),
  (root, path, { draw }) =>
    changed(root, path, (value) => [nested(value, drawOne(draw, DEPTHS) ?? 1)]),
];

/** Edits one place of a JSON value. */
export const mutateJson: Mutate = (text, mutation) => {
  const root = parseJson(text);
  if (root === undefined) return mutateText(text, mutation);
  const edit = drawOne(mutation.draw, EDITS);
  const edited = edit?.(root, drawPath(root, mutation.draw), mutation);
  const made = JSON.stringify(edited) ?? 'null';
  return made.length > CHARACTERS_MAX ? text : made;
};

/** Smaller JSON than this, largest steps first. */
export const smallerJson = function* (text: string): Generator<string> {
  const root = parseJson(text);
  const paths: Path[] = [];
  const collect = (value: unknown, path: Path): void => {
    for (const key of keysOf(value)) {
      paths.push([...path, key]);
      if (paths.length < 2000) collect(childOf(value, key), [...path, key]);
    }
  };
  collect(root, []);
  for (const path of paths.toSorted((left, right) => left.length - right.length)) {
    yield JSON.stringify(changed(root, path, () => []));
  }
};
