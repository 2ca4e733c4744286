/** Field errors and the 422 that reports them (`apimachinery/pkg/util/validation/field`). */
import { ApiProblem, type Cause, qualified, type Subject } from './problem.ts';

type FieldReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueDuplicate'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'FieldValueNotFound';

const WORDS: Readonly<Record<FieldReason, string>> = {
  FieldValueRequired: 'Required value',
  FieldValueInvalid: 'Invalid value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
  FieldValueTypeInvalid: 'Invalid value',
  FieldValueNotFound: 'Not found',
};

/** One field error. */
export type FieldProblem = Cause & { readonly field: string };

const withDetail = (text: string, detail: string): string =>
  detail === '' ? text : `${text}: ${detail}`;

const valued = (reason: FieldReason) => (field: string, value: unknown, detail = '') => ({
  reason,
  field,
  message: withDetail(`${WORDS[reason]}: ${JSON.stringify(value) ?? 'null'}`, detail),
});

const plain = (reason: FieldReason) => (field: string, detail = '') => ({
  reason,
  field,
  message: withDetail(WORDS[reason], detail),
});

/** The field is required. */
export const required: (field: string, detail?: string) => FieldProblem = plain(
  'FieldValueRequired',
);
/** The field is forbidden or immutable. */
export const fieldForbidden: (field: string, detail?: string) => FieldProblem = plain(
  'FieldValueForbidden',
);
/** The value is too long. */
export const tooLong: (field: string, detail?: string) => FieldProblem = plain('FieldValueTooLong');
/** The value is invalid. */
export const invalid: (field: string, value: unknown, detail?: string) => FieldProblem = valued(
  'FieldValueInvalid',
);
/** The value has the wrong type. */
export const wrongType: (field: string, value: unknown, detail?: string) => FieldProblem = valued(
  'FieldValueTypeInvalid',
);
/** The value is a duplicate. */
export const duplicate: (field: string, value: unknown) => FieldProblem = valued(
  'FieldValueDuplicate',
);

/** The value is not supported. */
export const notSupported = (
  field: string,
  value: unknown,
  supported: readonly string[],
): FieldProblem => ({
  reason: 'FieldValueNotSupported',
  field,
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${
    supported.map((one) => JSON.stringify(one)).join(', ')
  }`,
});

const problemText = ({ field, message }: FieldProblem): string => `${field}: ${message}`;

/** Joins field errors into one message, without duplicates. */
const aggregate = (problems: readonly FieldProblem[]): string => {
  const [first = '', ...more] = new Set(problems.map(problemText));
  return more.length === 0 ? first : `[${[first, ...more].join(', ')}]`;
};

/** 422. The subject is the object's kind. */
export const invalidObject = (
  subject: Subject,
  name: string,
  problems: readonly FieldProblem[],
): ApiProblem =>
  new ApiProblem({
    code: 422,
    reason: 'Invalid',
    message: `${qualified(subject)} "${name}" is invalid: ${aggregate(problems)}`,
    details: {
      ...(name === '' ? {} : { name }),
      ...(subject.group === '' ? {} : { group: subject.group }),
      kind: subject.kind,
      causes: problems,
    },
  });
