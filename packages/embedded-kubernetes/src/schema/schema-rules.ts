/**
 * The CEL rules of a schema (`x-kubernetes-validations`).
 *
 * Promises: a rule that does not compile is reported when the CRD is created, never skipped
 * silently; a transition rule (with `oldSelf`) runs on updates only, where both values exist.
 * Kubernetes' CEL extensions (`isURL`, `quantity`, …) are not supported. Source:
 * `apiextensions-apiserver/pkg/apiserver/schema/cel`.
 */
import { kubernetesEnvironment } from '../cel/expressions.ts';
import { asList, asRecord, asText, type JsonRecord, recordAt } from '../values/json.ts';
import { sameJson } from '../patches/same-json.ts';
import type { FieldProblem } from '../validation/field-problem.ts';

/** Validates an object, and its change when there was one before. */
export type RuleValidator = (
  object: JsonRecord,
  before: JsonRecord | undefined,
) => readonly FieldProblem[];

interface Rule {
  readonly text: string;
  readonly message: string | undefined;
  /** The evaluated `messageExpression`; undefined when it yields none. */
  readonly worded: ((self: unknown, oldSelf: unknown) => string | undefined) | undefined;
  readonly reason: string;
  readonly fieldPath: string;
  readonly isTransition: boolean;
  readonly holds: (self: unknown, oldSelf: unknown) => boolean;
}

const environment = kubernetesEnvironment({ unlistedVariablesAreDyn: true });

const compiled = (text: string): Rule['holds'] => {
  const { valid, type, error } = environment.check(text);
  if (!valid) throw new Error(error?.message.split('\n')[0] ?? `"${text}" is no rule`);
  if (type !== 'bool' && type !== 'dyn') throw new Error(`"${text}" gives ${type}, not bool`);
  const program = environment.parse(text);
  return (self, oldSelf) => program({ self, oldSelf }) === true;
};

/** Like the real server: skips an expression that fails or yields no string. */
const wordedBy = (text: string): NonNullable<Rule['worded']> => {
  const { valid, error } = environment.check(text);
  if (!valid) throw new Error(error?.message.split('\n')[0] ?? `"${text}" is no message`);
  const program = environment.parse(text);
  return (self, oldSelf) => {
    try {
      const words: unknown = program({ self, oldSelf });
      return typeof words === 'string' && words.trim() !== '' ? words : undefined;
    } catch {
      return undefined;
    }
  };
};

const ruleOf = (value: unknown): Rule => {
  const rule = asRecord(value);
  const text = asText(rule?.['rule']) ?? '';
  const words = asText(rule?.['messageExpression']);
  return {
    text,
    message: asText(rule?.['message']),
    worded: words === undefined ? undefined : wordedBy(words),
    reason: asText(rule?.['reason']) ?? 'FieldValueInvalid',
    fieldPath: asText(rule?.['fieldPath']) ?? '',
    isTransition: /\boldSelf\b/.test(text),
    holds: compiled(text),
  };
};

/** Schemas by whether a value of theirs may hold whole numbers. */
const withIntegers = new WeakMap<JsonRecord, boolean>();

const mayHoldIntegers = (schema: JsonRecord): boolean => {
  const known = withIntegers.get(schema);
  if (known !== undefined) return known;
  const inner: readonly unknown[] = [
    ...Object.values(recordAt(schema, 'properties') ?? {}),
    schema['items'],
    schema['additionalProperties'],
  ];
  const may = schema['type'] === 'integer' || schema['x-kubernetes-int-or-string'] === true ||
    inner.some((one) => {
      const below = asRecord(one);
      return below !== undefined && mayHoldIntegers(below);
    });
  withIntegers.set(schema, may);
  return may;
};

/** The value as CEL types it: whole numbers are integers where the schema says so. */
const celValue = (value: unknown, schema: JsonRecord): unknown => {
  if (!mayHoldIntegers(schema)) return value;
  if (typeof value === 'number') {
    const whole = schema['type'] === 'integer' || schema['x-kubernetes-int-or-string'] === true;
    return whole && Number.isInteger(value) ? BigInt(value) : value;
  }
  const list = asList(value);
  if (list !== undefined) {
    const items = recordAt(schema, 'items') ?? {};
    return list.map((item) => celValue(item, items));
  }
  const record = asRecord(value);
  if (record === undefined) return value;
  return Object.fromEntries(
    Object.entries(record).map(([field, inner]) => [
      field,
      celValue(
        inner,
        recordAt(schema, 'properties', field) ?? recordAt(schema, 'additionalProperties') ?? {},
      ),
    ]),
  );
};

interface Level {
  readonly schema: JsonRecord;
  readonly rules: readonly Rule[];
  readonly fields: ReadonlyMap<string, Level>;
  readonly each: Level | undefined;
  readonly items: Level | undefined;
}

/** The parts of a schema that contain rules; undefined when there are none. */
const levelOf = (schema: JsonRecord | undefined): Level | undefined => {
  if (schema === undefined) return undefined;
  const rules = (asList(schema['x-kubernetes-validations']) ?? []).map(ruleOf);
  const fields = new Map<string, Level>();
  for (const [field, property] of Object.entries(recordAt(schema, 'properties') ?? {})) {
    const level = levelOf(asRecord(property));
    if (level !== undefined) fields.set(field, level);
  }
  const each = levelOf(recordAt(schema, 'additionalProperties'));
  const items = levelOf(recordAt(schema, 'items'));
  const empty = rules.length === 0 && fields.size === 0 && each === undefined &&
    items === undefined;
  return empty ? undefined : { schema, rules, fields, each, items };
};

interface Place {
  readonly value: unknown;
  readonly before: unknown;
  readonly path: string;
}

/** A place, converted for CEL once for all of its rules. */
const celPlace = ({ value, before }: Place, schema: JsonRecord) => {
  let converted: { readonly self: unknown; readonly oldSelf: unknown } | undefined;
  return () => converted ??= { self: celValue(value, schema), oldSelf: celValue(before, schema) };
};

const outcome = (rule: Rule, place: ReturnType<typeof celPlace>): string | undefined => {
  try {
    const { self, oldSelf } = place();
    if (rule.holds(self, oldSelf)) return undefined;
    return rule.worded?.(self, oldSelf) ?? rule.message ?? `failed rule: ${rule.text}`;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
    return `rule evaluation error: ${why}`;
  }
};

const ownProblems = ({ rules, schema }: Level, place: Place): readonly FieldProblem[] => {
  const converted = celPlace(place, schema);
  return rules.filter(({ isTransition }) => !isTransition || place.before !== undefined).flatMap(
    (rule) => {
      const message = outcome(rule, converted);
      if (message === undefined) return [];
      const text = rule.reason === 'FieldValueRequired' || rule.reason === 'FieldValueForbidden'
        ? `${rule.reason === 'FieldValueRequired' ? 'Required value' : 'Forbidden'}: ${message}`
        : `Invalid value: ${valueText(place.value, schema)}: ${message}`;
      return [{ reason: rule.reason, field: `${place.path}${rule.fieldPath}`, message: text }];
    },
  );
};

const valueText = (value: unknown, schema: JsonRecord): string => {
  const type = asText(schema['type']) ?? 'object';
  return type === 'object' || type === 'array' ? JSON.stringify(type) : JSON.stringify(value);
};

const ruleProblems = (level: Level, place: Place): readonly FieldProblem[] => {
  const { value, before, path } = place;
  if (value === undefined || value === null) return [];
  const own = ownProblems(level, place);
  const list = asList(value);
  const { items } = level;
  if (list !== undefined) {
    if (items === undefined) return own;
    return [
      ...own,
      ...list.flatMap((item, index) =>
        ruleProblems(items, { value: item, before: undefined, path: `${path}[${index}]` })
      ),
    ];
  }
  const inner = Object.entries(asRecord(value) ?? {}).flatMap(([field, item]) => {
    const next = level.fields.get(field) ?? level.each;
    if (next === undefined) return [];
    const old = asRecord(before)?.[field];
    return ruleProblems(next, {
      value: item,
      before: old,
      path: path === '' ? field : `${path}.${field}`,
    });
  });
  return [...own, ...inner];
};

/** The rule validator of a schema without rules. */
export const NO_RULES: RuleValidator = () => [];

/** The rule validator of a schema; throws when a rule does not compile. */
export const ruleValidator = (schema: JsonRecord): RuleValidator => {
  const level = levelOf(schema);
  if (level === undefined) return NO_RULES;
  return (object, before) =>
    before !== undefined && sameJson(object, before)
      ? []
      : ruleProblems(level, { value: object, before, path: '' });
};
