/**
 * Common Expression Language, with the functions of Kubernetes that are not in the library.
 *
 * Promises: an expression that does not compile, or gives another type than wanted, is reported
 * when it is compiled. Not supported: `quantity`, `url`, `ip`, `cidr`, `format`, and macros of two
 * variables. Source: `apiserver/pkg/cel/library`.
 */
import { Environment } from '@marcbachmann/cel-js';
import { asList, asRecord } from '../values/json.ts';

type Evaluated = (variables: Readonly<Record<string, unknown>>) => unknown;

const firstLine = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).split('\n')[0] ?? '';

const found = (text: string, pattern: string): readonly string[] =>
  [...text.matchAll(new RegExp(pattern, 'gu'))].map(([whole]) => whole);

type Comparable = bigint | number | string | boolean;

const isSorted = (list: readonly Comparable[]): boolean =>
  list.every((item, index) => index === 0 || (list[index - 1] ?? item) <= item);

const least = (list: readonly Comparable[]): Comparable => {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error('min called on empty list');
  return rest.reduce((one, other) => (other < one ? other : one), first);
};

const greatest = (list: readonly Comparable[]): Comparable => {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error('max called on empty list');
  return rest.reduce((one, other) => (other > one ? other : one), first);
};

const sum = (list: readonly (bigint | number)[]): bigint | number =>
  list.every((one) => typeof one === 'bigint')
    ? list.reduce((total: bigint, one) => total + BigInt(one), 0n)
    : list.reduce((total: number, one) => total + Number(one), 0);

/** An environment with the functions that policies and rules of schemas may call. */
export const kubernetesEnvironment = (
  options: { readonly unlistedVariablesAreDyn?: boolean } = {},
): Environment =>
  new Environment({ ...options, enableOptionalTypes: true, homogeneousAggregateLiterals: false })
    .registerFunction(
      'string.find(string): string',
      (text: string, pattern: string) => found(text, pattern)[0] ?? '',
    )
    .registerFunction('string.findAll(string): list<string>', found)
    .registerFunction(
      'string.replace(string, string): string',
      (text: string, from: string, to: string) => text.replaceAll(from, to),
    )
    .registerFunction('list.isSorted(): bool', isSorted)
    .registerFunction('list.min(): dyn', least)
    .registerFunction('list.max(): dyn', greatest)
    .registerFunction('list.sum(): dyn', sum)
    .registerFunction(
      'list.indexOf(dyn): int',
      (list: readonly unknown[], item: unknown) => BigInt(list.indexOf(item)),
    );

/** The type that an expression must give. */
export type WantedType = 'bool' | 'string' | 'any';

const isWanted = (type: string | undefined, wanted: WantedType): boolean =>
  wanted === 'any' || type === wanted || type === 'dyn' ||
  (wanted === 'string' && type === 'null_type');

/** A compiled expression, or the problem why it is none. */
export type Compiled =
  | { readonly _tag: 'Compiled'; readonly evaluate: Evaluated }
  | { readonly _tag: 'Unusable'; readonly why: string };

/** Compiles an expression. */
export const compiled = (
  environment: Environment,
  text: string,
  wanted: WantedType,
): Compiled => {
  const { valid, type, error } = environment.check(text);
  if (!valid) return { _tag: 'Unusable', why: `compilation failed: ERROR: ${firstLine(error)}` };
  if (!isWanted(type, wanted)) {
    return { _tag: 'Unusable', why: `must evaluate to ${wanted} but got ${type}` };
  }
  const program = environment.parse(text);
  return { _tag: 'Compiled', evaluate: (variables) => program(variables) };
};

/** The message of a failed evaluation, with the first letter as Go writes it. */
export const evaluationError = (cause: unknown): string => {
  const text = firstLine(cause);
  return text.slice(0, 1).toLowerCase() + text.slice(1);
};

/** A JSON value as CEL types it: whole numbers are integers. */
export const celJson = (value: unknown): unknown => {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  const list = asList(value);
  if (list !== undefined) return list.map(celJson);
  const record = asRecord(value);
  if (record === undefined) return value;
  const entries = Object.entries(record).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(entries.map(([field, inner]) => [field, celJson(inner)]));
};
