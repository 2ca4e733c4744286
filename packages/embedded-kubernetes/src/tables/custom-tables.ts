/**
 * Table columns of custom resources, from `additionalPrinterColumns`.
 *
 * Promises: supports the JSONPath subset that CRDs use: names, quoted names, indexes, `[*]`, and
 * filters by field value. Of several values the first is shown.
 */
import { asList, asRecord, type JsonRecord, valueAt } from '../values/json.ts';
import type { DeclaredColumn } from '../kinds/kind.ts';
import { AGE, type Column, NAME, since } from './column.ts';

type Step = (value: unknown) => readonly unknown[];

const named = (name: string): Step => (value) => {
  const found = valueAt(value, name);
  return found === undefined ? [] : [found];
};

const all: Step = (value) => asList(value) ?? Object.values(asRecord(value) ?? {});

const placed = (place: number): Step => (value) => {
  const found = asList(value)?.at(place);
  return found === undefined ? [] : [found];
};

const having = (path: string, wanted: string): Step => (value) =>
  all(value).filter((entry) => `${valueAt(entry, ...path.split('.')) ?? ''}` === wanted);

const NAME_STEP = String.raw`\.(?<name>(?:\\.|[^.[\\])+)`;
const PLACE_STEP = String.raw`(?<place>-?\d+)|(?<all>\*)|['"](?<quoted>[^'"]+)['"]`;
const HAVING_STEP = String.raw`\?\(@\.(?<path>[\w.-]+)\s*==\s*['"]?(?<value>[^'")]*)['"]?\)`;
const STEP = new RegExp(`${NAME_STEP}|\\[(?:${PLACE_STEP}|${HAVING_STEP})\\]`, 'y');

const stepOf = (groups: Readonly<Record<string, string | undefined>>): Step => {
  const { name, place, quoted, path, value = '' } = groups;
  if (name !== undefined) return named(name.replaceAll(/\\(.)/g, '$1'));
  if (quoted !== undefined) return named(quoted);
  if (place !== undefined) return placed(Number(place));
  return path === undefined ? all : having(path, value);
};

/** The steps of a path; undefined when it is not supported. */
const stepsOf = (path: string): readonly Step[] | undefined => {
  const steps: Step[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < path.length) {
    const match = STEP.exec(path);
    if (match === null) return undefined;
    steps.push(stepOf(match.groups ?? {}));
  }
  return steps;
};

const cellOf = (value: unknown, type: string, nowMs: number): unknown => {
  if (value === undefined || value === null) return null;
  if (type === 'date') return typeof value === 'string' ? since(value, nowMs) : null;
  if (type === 'integer') return typeof value === 'number' ? Math.trunc(value) : null;
  if (type === 'number') return typeof value === 'number' ? value : null;
  if (type === 'boolean') return typeof value === 'boolean' ? value : null;
  return typeof value === 'object' ? JSON.stringify(value) : `${value}`;
};

const TYPES: Readonly<Record<string, Column['type']>> = {
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
  date: 'date',
};

const declared = ({ name, type, format, priority = 0, description, jsonPath }: DeclaredColumn) => {
  const steps = stepsOf(jsonPath);
  return {
    name,
    type: TYPES[type] ?? 'string',
    priority,
    ...(format === undefined ? {} : { format }),
    ...(description === undefined ? {} : { description }),
    cell: (object: JsonRecord, nowMs: number): unknown => {
      if (steps === undefined) return null;
      const found = steps.reduce<readonly unknown[]>((at, step) => at.flatMap(step), [object]);
      return cellOf(found[0], type, nowMs);
    },
  };
};

/** The columns that a definition declares, after the name; by default the age. */
export const customColumns = (columns: readonly DeclaredColumn[]): readonly Column[] =>
  columns.length === 0 ? [NAME, AGE] : [NAME, ...columns.map(declared)];
