/** Table columns and the cell formats they share. */
import type { JsonRecord } from '../values/json.ts';
import { asRecord, listOrEmptyAt, recordAt, textAt, textRecordOrEmptyAt } from '../values/json.ts';

/** One column: its name and its cells. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'number' | 'date';
  readonly format?: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority: number;
  readonly description?: string;
  readonly cell: (object: JsonRecord, nowMs: number) => unknown;
}

const column =
  (type: Column['type'], priority: number) => (name: string, cell: Column['cell']): Column => ({
    name,
    type,
    priority,
    cell,
  });

/** Always visible columns: strings, integers. */
export const text = column('string', 0);
export const integer = column('integer', 0);

/** A column for `-o wide`. */
export const wide = column('string', 1);

/** The name of the object. */
export const NAME: Column = {
  ...text('Name', (object) => textAt(object, 'metadata', 'name') ?? ''),
  format: 'name',
};

/** The placeholder of an unknown value. */
const NONE = '<none>';
export const UNKNOWN = '<unknown>';

/** The text at a path, or `<none>`. */
export const orNone = (value: string | undefined): string =>
  value === undefined || value === '' ? NONE : value;

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

const two = (seconds: number, [large, small]: readonly [number, number], units: string): string => {
  const rest = Math.floor((seconds % large) / small);
  const whole = `${Math.floor(seconds / large)}${units[0]}`;
  return rest === 0 ? whole : `${whole}${rest}${units[1]}`;
};

/** A duration as kubectl prints ages: `5s`, `3m20s`, `4h`, `2d3h` (`duration.HumanDuration`). */
const humanDuration = (ms: number): string => {
  const seconds = Math.floor(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return two(seconds, [MINUTE, 1], 'ms');
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return two(seconds, [HOUR, MINUTE], 'hm');
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return two(seconds, [DAY, HOUR], 'dh');
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`;
  if (seconds < 8 * YEAR) return two(seconds, [YEAR, DAY], 'yd');
  return `${Math.floor(seconds / YEAR)}y`;
};

/** The age of a timestamp, human-readable. */
export const since = (time: string | undefined, nowMs: number): string => {
  const then = Date.parse(time ?? '');
  return Number.isNaN(then) ? UNKNOWN : humanDuration(nowMs - then);
};

/** The age of the object. */
export const AGE: Column = text(
  'Age',
  (object, nowMs) => since(textAt(object, 'metadata', 'creationTimestamp'), nowMs),
);

const WORDS: Readonly<Record<string, string>> = { In: 'in', NotIn: 'notin' };

const expressionText = (expression: unknown): string => {
  const [key, operator] = [textAt(expression, 'key') ?? '', textAt(expression, 'operator') ?? ''];
  if (operator === 'Exists') return key;
  if (operator === 'DoesNotExist') return `!${key}`;
  const values = listOrEmptyAt(expression, 'values').map(String).sort();
  return `${key} ${WORDS[operator] ?? operator} (${values.join(',')})`;
};

/** A human-readable label selector: `app=web,tier in (a,b)`. */
export const selectorText = (selector: unknown): string => {
  const record = asRecord(selector);
  if (record === undefined) return NONE;
  const parts = [
    ...Object.entries(textRecordOrEmptyAt(record, 'matchLabels')).sort().map(([key, value]) =>
      `${key}=${value}`
    ),
    ...listOrEmptyAt(record, 'matchExpressions').map(expressionText),
  ];
  return orNone(parts.join(','));
};

/** Human-readable labels: `a=b,c=d`. */
export const labelText = (labels: unknown): string =>
  orNone(
    Object.entries(textRecordOrEmptyAt(labels)).sort().map(([key, value]) => `${key}=${value}`)
      .join(','),
  );

/** The total number of entries in these fields of the object. */
export const countOf = (object: JsonRecord, ...fields: readonly string[]): number =>
  fields.reduce((sum, field) => sum + Object.keys(recordAt(object, field) ?? {}).length, 0);
