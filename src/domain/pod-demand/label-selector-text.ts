/**
 * Label selectors in command-line syntax: `app=web,tier!=test,env in (a,b),!old`.
 *
 * Promises: total; accepts what `kubectl -l` accepts, and reports where it fails.
 */
import { type Labels, labelsHold } from '../label-condition.ts';
import type { Requirement, StandardOperator } from '../resources.ts';
import { quoted } from '../text.ts';

type Condition = Requirement<StandardOperator>;

/** A selector, or why the text is malformed. */
export type SelectorReading =
  | {
    readonly _tag: 'Selector';
    readonly selects: (labels: Labels) => boolean;
    /** All hold. */
    readonly conditions: readonly Condition[];
  }
  /** `problem` continues a sentence about the text. */
  | { readonly _tag: 'Malformed'; readonly problem: string };

const KEY = String.raw`[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?`;
const VALUE = String.raw`([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?`;
const SHAPES = {
  equal: new RegExp(`^(?<key>${KEY})\\s*==?\\s*(?<value>${VALUE})$`, 'u'),
  unequal: new RegExp(`^(?<key>${KEY})\\s*!=\\s*(?<value>${VALUE})$`, 'u'),
  set: new RegExp(`^(?<key>${KEY})\\s+(?<word>in|notin)\\s*\\((?<values>[^()]*)\\)$`, 'u'),
  exists: new RegExp(`^(?<key>${KEY})$`, 'u'),
  missing: new RegExp(`^!\\s*(?<key>${KEY})$`, 'u'),
};
const PLAIN_VALUE = new RegExp(`^${VALUE}$`, 'u');

/** Between conditions, not within the parentheses of a set. */
const COMMA = /,(?![^(]*\))/u;

const inSet = (groups: Readonly<Record<string, string>>): Condition | undefined => {
  const values = (groups['values'] ?? '').split(',').map((value) => value.trim());
  if (!values.every((value) => PLAIN_VALUE.test(value))) return undefined;
  const operator = groups['word'] === 'in' ? 'In' : 'NotIn';
  return { key: groups['key'] ?? '', operator, values };
};

const conditionOf = (text: string): Condition | undefined => {
  const found = Object.entries(SHAPES).flatMap(([shape, pattern]) => {
    const groups = pattern.exec(text)?.groups;
    return groups === undefined ? [] : [{ shape, groups }];
  })[0];
  if (found === undefined) return undefined;
  const { shape, groups } = found;
  const [key, value] = [groups['key'] ?? '', groups['value'] ?? ''];
  switch (shape) {
    case 'equal':
      return { key, operator: 'In', values: [value] };
    case 'unequal':
      return { key, operator: 'NotIn', values: [value] };
    case 'set':
      return inSet(groups);
    case 'exists':
      return { key, operator: 'Exists', values: [] };
    default:
      return { key, operator: 'DoesNotExist', values: [] };
  }
};

/** Parses a selector; an empty one selects everything. */
export const readSelector = (text: string): SelectorReading => {
  const parts = text.split(COMMA).map((part) => part.trim());
  const conditions: Condition[] = [];
  for (const part of text.trim() === '' ? [] : parts) {
    const condition = conditionOf(part);
    if (condition === undefined) {
      return { _tag: 'Malformed', problem: `has ${quoted(part)}, which is not a condition` };
    }
    conditions.push(condition);
  }
  return {
    _tag: 'Selector',
    selects: (labels) => conditions.every((condition) => labelsHold(condition, labels)),
    conditions,
  };
};
