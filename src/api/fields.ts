/**
 * Fields that several resources share, as Effect schemas. Their descriptions and `x-kubernetes-*`
 * annotations are the source of the CRDs and the reference docs.
 */
import { Schema } from 'effect';
import { REQUEST_LIMITS } from '../domain/demand/request-limits.ts';

const UNSIGNED = '(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))';

/**
 * The quantity pattern of Kubernetes' own CRDs. It is looser than the quantity parser (it accepts a
 * fraction in the exponent), so a value that matches may still be invalid. The `u` flag matters:
 * Effect omits patterns without it from JSON Schema.
 */
const QUANTITY_PATTERN = new RegExp(
  `^(\\+|-)?${UNSIGNED}(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?${UNSIGNED}))?$`,
  'u',
);

/** The same texts in fewer characters: the API server limits the cost of a rule by them. */
const RULE_PATTERN = String
  .raw`^[+-]?(\d+\.?\d*|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?(\d+\.?\d*|\.\d+))?$`;

const isQuantity = (value: string): string =>
  `type(${value}) == int || ${value}.matches(r'${RULE_PATTERN}')`;

/**
 * The message for a quantity that the pattern refuses, which names only the pattern. The rule holds
 * for every text that the pattern accepts.
 */
export const quantityMessage = (message: string) => ({
  'x-kubernetes-validations': [{ rule: isQuantity('self'), message }],
});

/**
 * The messages for resources by name. A rule for every resource would cost more than an API server
 * allows, because older ones estimate it for the longest text of an object.
 */
export const resourceMessages = (messages: Readonly<Record<string, string>>) => ({
  'x-kubernetes-validations': Object.entries(messages).map(([name, message]) => ({
    rule: `!('${name}' in self) || ${isQuantity(`self['${name}']`)}`,
    message,
  })),
});

/** A Kubernetes quantity: text, or a whole number. */
export const QuantityField = Schema.Union([
  Schema.Int,
  Schema.String.check(
    Schema.isPattern(QUANTITY_PATTERN),
    Schema.isMaxLength(REQUEST_LIMITS.quantityCharacters),
  ),
]).annotate({ 'x-kubernetes-int-or-string': true });

/** Resource name → quantity. */
export const ResourceMapField = Schema.Record(Schema.String, QuantityField);

const INT32 = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 } as const;

/** A 32-bit integer, from `minimum` when given. */
export const int32Field = (minimum: number = INT32.minimum) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum: INT32.maximum }))
    .annotate({ format: 'int32' });

/** A non-empty text. */
const NonEmptyText = Schema.String.check(Schema.isMinLength(1));

const ShortText = Schema.String.check(Schema.isMaxLength(REQUEST_LIMITS.textCharacters));

/** A label key, or another non-empty text of its length. */
export const LabelKeyField = Schema.String.check(
  Schema.isMinLength(1),
  Schema.isMaxLength(REQUEST_LIMITS.textCharacters),
);

/** RFC 3339. */
export const TimestampField = Schema.String.annotate({ format: 'date-time' });

/** A list that is replaced as a whole; its items may repeat. */
export const atomic = { 'x-kubernetes-list-type': 'atomic' } as const;

/** A list whose items are merged by a key, so that each writer can own its items. */
export const mapBy = (key: string) =>
  ({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] }) as const;

const conditionText = (description: string, max: number) =>
  Schema.String.check(Schema.isMaxLength(max)).annotate({ description });

/** `metav1.Condition`. */
const ConditionField = Schema.Struct({
  type: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(316)).annotate({
    description: 'What the condition is about.',
  }),
  status: Schema.Literals(['True', 'False', 'Unknown']).annotate({
    description: 'Whether it holds.',
  }),
  observedGeneration: Schema.optionalKey(
    Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
      format: 'int64',
      description: 'The generation that it was derived from.',
    }),
  ),
  lastTransitionTime: TimestampField.annotate({ description: 'When its status last changed.' }),
  reason: conditionText('One-word cause.', 1024),
  message: conditionText('Details, for people.', 32_768),
});

/** `status.conditions`, one item a type. */
export const ConditionsField = Schema.Array(ConditionField).annotate(mapBy('type'));

const LABEL_OPERATORS = '`In`, `NotIn`, `Exists` or `DoesNotExist`';

/**
 * A condition on the labels of a machine. `operator` is no enum, as in the Kubernetes types: an
 * Event reports an unknown operator with a remedy, together with the request's other problems. No
 * rule relates operator and values: the shard takes every combination.
 */
const RequirementField = Schema.Struct({
  key: LabelKeyField.annotate({ description: 'Label that the condition is on.' }),
  operator: ShortText.annotate({
    description: `How the label relates to the values: ${LABEL_OPERATORS}.`,
  }),
  values: Schema.optionalKey(
    Schema.Array(ShortText).check(Schema.isMaxLength(REQUEST_LIMITS.values)).annotate({
      ...atomic,
      description: 'One of these (`In`) or none of these (`NotIn`). No meaning for the others.',
    }),
  ),
});

/** Conditions that all hold; at most `max`. */
export const requirementsField = (max: number) =>
  Schema.Array(RequirementField).check(Schema.isMaxLength(max)).annotate(atomic);

/** `metav1.LabelSelector`. */
export const LabelSelectorField = Schema.Struct({
  matchLabels: Schema.optionalKey(
    Schema.Record(Schema.String, ShortText)
      .check(Schema.isMaxProperties(REQUEST_LIMITS.labels))
      .annotate({ description: 'Labels and the values that they must have.' }),
  ),
  matchExpressions: Schema.optionalKey(
    requirementsField(REQUEST_LIMITS.requirements)
      .annotate({ description: 'Conditions on labels; all must hold.' }),
  ),
}).annotate({ 'x-kubernetes-map-type': 'atomic' });

/** A taint that a Node will have. */
const TaintField = Schema.Struct({
  key: NonEmptyText.annotate({ description: 'Name of the taint.' }),
  value: Schema.optionalKey(Schema.String.annotate({ description: 'Value of the taint.' })),
  effect: NonEmptyText.annotate({
    description:
      'What it does to pods without a toleration: `NoSchedule`, `PreferNoSchedule` or `NoExecute`.',
  }),
  timeAdded: Schema.optionalKey(
    TimestampField.annotate({ description: 'When the taint was added.' }),
  ),
});

/** All taints of a Node. */
export const TaintsField = Schema.Array(TaintField).annotate(atomic);

const referencePart = (description: string) =>
  Schema.optionalKey(Schema.String.annotate({ description }));

/** `corev1.ObjectReference`. */
export const ObjectReferenceField = Schema.Struct({
  apiVersion: referencePart('API version of the object.'),
  fieldPath: referencePart('A part of the object, instead of all of it.'),
  kind: referencePart('Kind of the object.'),
  name: referencePart('Name of the object.'),
  namespace: referencePart('Namespace of the object.'),
  resourceVersion: referencePart('Version of the object that was referred to.'),
  uid: referencePart('UID of the object.'),
}).annotate({ 'x-kubernetes-map-type': 'atomic' });
