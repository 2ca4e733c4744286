/**
 * Requirements in canonical order, so that equivalent lists are equal.
 *
 * Order: by key, then operator, then values; values sorted; duplicates dropped. Texts compare by
 * UTF-16 unit, which for label keys and values is Go's byte order.
 */
import type { Requirement, RequirementOperator } from './resources.ts';

const OPERATOR_NUMBERS: Readonly<Record<RequirementOperator, number>> = {
  In: 1,
  NotIn: 2,
  Exists: 3,
  DoesNotExist: 4,
  Same: 5,
};

/** The operator's number on the wire. */
const operatorNumber = (operator: RequirementOperator): number => OPERATOR_NUMBERS[operator];

/** −1, 0 or 1: the order of texts in canonical lists. */
export const compareText = (left: string, right: string): -1 | 0 | 1 => {
  if (left === right) return 0;
  return left < right ? -1 : 1;
};

// deno-lint-ignore no-control-regex
const SEPARATORS = /[\u0000\u0020%,:;=|]/u;
const EVERY_SEPARATOR = new RegExp(SEPARATORS, 'gu');

const escaped = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

/**
 * Escapes key separators as `%XX`. Valid label keys and values contain none and are unchanged, so
 * two different lists never share a key.
 */
export const escapeSeparators = (text: string): string =>
  SEPARATORS.test(text) ? text.replaceAll(EVERY_SEPARATOR, escaped) : text;

/** Sorted and deduplicated. */
export const canonicalValues = (values: readonly string[]): readonly string[] =>
  [...new Set(values)].sort(compareText);

/** `key:operator:values;`: one requirement in a profile's fingerprint. */
export const requirementText = ({ key, operator, values }: Requirement): string =>
  `${escapeSeparators(key)}:${operatorNumber(operator)}:${values.map(escapeSeparators).join(',')};`;

const compareRequirements = (left: Requirement, right: Requirement): number =>
  compareText(left.key, right.key) ||
  operatorNumber(left.operator) - operatorNumber(right.operator) ||
  compareText(left.values.join('\0'), right.values.join('\0'));

/** The requirements in canonical order. */
export const canonicalRequirements = <Operator extends RequirementOperator>(
  requirements: readonly Requirement<Operator>[],
): readonly Requirement<Operator>[] => {
  const byText = new Map<string, Requirement<Operator>>();
  for (const requirement of requirements) {
    const canonical = { ...requirement, values: canonicalValues(requirement.values) };
    byText.set(requirementText(canonical), canonical);
  }
  return [...byText.values()].sort(compareRequirements);
};

/** The requirements with `Same` on `key`, in canonical order; idempotent. */
export const withSame = (
  requirements: readonly Requirement[],
  key: string,
): readonly Requirement[] =>
  canonicalRequirements([...requirements, { key, operator: 'Same', values: [] }]);
