/** JSON patches (RFC 6902), as the API server applies them. */
import { asList, asRecord, asText } from '../values/json.ts';
import { ApiProblem, badRequest } from '../validation/problem.ts';
import { sameJson } from './same-json.ts';

interface Operation {
  readonly op: string;
  readonly path: readonly string[];
  readonly from: readonly string[];
  readonly value: unknown;
}

/** The patch is well-formed but does not apply to the object. */
const misfit = (): ApiProblem =>
  new ApiProblem({
    code: 422,
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
    details: {},
  });

const tokens = (pointer: string): readonly string[] => {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) throw badRequest(`invalid JSON pointer "${pointer}"`);
  return pointer.slice(1).split('/').map((part) =>
    part.replaceAll('~1', '/').replaceAll('~0', '~')
  );
};

const operationOf = (value: unknown): Operation => {
  const entry = asRecord(value);
  const [op, path] = [asText(entry?.['op']), asText(entry?.['path'])];
  if (entry === undefined || op === undefined || path === undefined) {
    throw badRequest('error decoding patch: each operation needs "op" and "path"');
  }
  return {
    op,
    path: tokens(path),
    from: tokens(asText(entry['from']) ?? ''),
    value: entry['value'],
  };
};

const ABSENT = Symbol('absent');

const indexOf = (list: readonly unknown[], token: string): number => {
  if (!/^(0|[1-9][0-9]*)$/.test(token)) throw misfit();
  const index = Number(token);
  if (index >= list.length) throw misfit();
  return index;
};

const at = (value: unknown, [token, ...rest]: readonly string[]): unknown => {
  if (token === undefined) return value;
  const list = asList(value);
  if (list !== undefined) return at(list[indexOf(list, token)], rest);
  const record = asRecord(value);
  if (record === undefined || !Object.hasOwn(record, token)) return ABSENT;
  return at(record[token], rest);
};

/** Applies `change` to the value at the path; `change` receives `ABSENT` for a missing value. */
const changed = (
  value: unknown,
  [token, ...rest]: readonly string[],
  change: (old: unknown) => unknown,
): unknown => {
  if (token === undefined) return change(value);
  const record = asRecord(value);
  if (record === undefined) throw misfit();
  if (rest.length > 0 && !Object.hasOwn(record, token)) {
    throw misfit();
  }
  const next = asList(record[token]) !== undefined && rest.length > 0
    ? changedList(asList(record[token]) ?? [], rest, change)
    : changed(Object.hasOwn(record, token) ? record[token] : ABSENT, rest, change);
  const { [token]: _, ...others } = record;
  return next === ABSENT ? others : { ...record, [token]: next };
};

const changedList = (
  list: readonly unknown[],
  [token = '', ...rest]: readonly string[],
  change: (old: unknown) => unknown,
): unknown => {
  if (rest.length > 0) {
    const index = indexOf(list, token);
    const item = list[index];
    const inner = asList(item) === undefined
      ? changed(item, rest, change)
      : changedList(asList(item) ?? [], rest, change);
    return list.with(index, inner);
  }
  const next = change(INSERT);
  if (next === ABSENT) return list.toSpliced(indexOf(list, token), 1);
  if (next === REPLACE) return list.with(indexOf(list, token), change(REPLACE));
  const index = token === '-' || token === `${list.length}` ? list.length : indexOf(list, token);
  return list.toSpliced(index, 0, next);
};

/** A change at an index receives `INSERT` and returns a value, `ABSENT` or `REPLACE`. */
const INSERT = Symbol('insert');
const REPLACE = Symbol('replace');

const removed = (document: unknown, path: readonly string[]): unknown =>
  changed(document, path, (old) => {
    if (old === ABSENT) throw misfit();
    return ABSENT;
  });

const added = (document: unknown, path: readonly string[], value: unknown): unknown =>
  changed(document, path, () => value);

/** A missing value is replaced all the same, as the real server's library does. */
const replaced = (document: unknown, path: readonly string[], value: unknown): unknown =>
  changed(document, path, (old) => old === INSERT ? REPLACE : value);

const valueOrRefuse = (document: unknown, path: readonly string[]): unknown => {
  const value = at(document, path);
  if (value === ABSENT) throw misfit();
  return value;
};

const applied = (document: unknown, { op, path, from, value }: Operation): unknown => {
  switch (op) {
    case 'add':
      return added(document, path, value);
    case 'remove':
      return removed(document, path);
    case 'replace':
      return replaced(document, path, value);
    case 'move':
      return added(removed(document, from), path, valueOrRefuse(document, from));
    case 'copy':
      return added(document, path, valueOrRefuse(document, from));
    case 'test': {
      const actual = at(document, path);
      if (sameJson(actual === ABSENT ? null : actual, value ?? null)) return document;
      throw misfit();
    }
    default:
      throw misfit();
  }
};

/** The document after all operations of a patch; throws when one does not apply. */
export const jsonPatched = (document: unknown, patch: unknown): unknown => {
  const operations = asList(patch);
  if (operations === undefined) throw badRequest('error decoding patch: a list was expected');
  return operations.map(operationOf).reduce(applied, document);
};
