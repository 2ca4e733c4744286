/** `fieldSelector` of a query: `metadata.name=a,spec.nodeName!=b`. */
import type { JsonRecord } from '../values/json.ts';
import type { Kind } from '../kinds/kind.ts';
import { nameOf, namespaceOf } from '../kinds/metadata.ts';
import { badRequest } from '../validation/problem.ts';

/** Whether an object matches. */
export type FieldTest = (object: JsonRecord) => boolean;

interface Term {
  readonly field: string;
  readonly value: string;
  readonly equal: boolean;
}

const termOf = (text: string): Term => {
  const match = /^(?<field>[^=!]+)(?<sign>==|!=|=)(?<value>.*)$/.exec(text);
  const { field = '', sign = '', value = '' } = match?.groups ?? {};
  if (match === null) {
    throw badRequest(`invalid selector: '${text}'; can't understand '${text}'`);
  }
  return { field: field.trim(), equal: sign !== '!=', value: value.trim() };
};

const fieldsOf = (object: JsonRecord, kind: Kind): Readonly<Record<string, string>> => ({
  'metadata.name': nameOf(object),
  ...(kind.namespaced ? { 'metadata.namespace': namespaceOf(object) } : {}),
  ...kind.fields?.(object),
});

const assertKnown = (terms: readonly Term[], kind: Kind): void => {
  const known = fieldsOf({}, kind);
  for (const { field } of terms) {
    if (Object.hasOwn(known, field)) continue;
    throw badRequest(
      kind.custom || kind.fields !== undefined
        ? `field label not supported: ${field}`
        : `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
    );
  }
};

/** Parses a field selector; throws for fields that the kind does not support. */
export const fieldTest = (selector: string, kind: Kind): FieldTest | undefined => {
  if (selector.trim() === '') return undefined;
  const terms = selector.split(',').filter((text) => text !== '').map(termOf);
  assertKnown(terms, kind);
  return (object) => {
    const fields = fieldsOf(object, kind);
    return terms.every(({ field, value, equal }) => ((fields[field] ?? '') === value) === equal);
  };
};
