/**
 * Request bodies of Go clients in protobuf (`application/vnd.kubernetes.protobuf`), decoded to the
 * JSON that the same clients would have sent.
 *
 * Promises: a body without the envelope, of an unregistered kind, or with malformed bytes is a bad
 * request; unknown fields are dropped, as Go drops them. Responses are JSON, which these clients
 * accept as well. Source: `apimachinery/pkg/runtime/serializer/protobuf`, the struct tags of
 * Kubernetes (`src/gen/kubernetes/protobuf.ts`).
 */
import { asRecord, type JsonRecord, parseJson } from '../values/json.ts';
import {
  MalformedProtobuf,
  type ProtobufField,
  protobufFields,
} from '../values/protobuf-fields.ts';
import { rfc3339Seconds } from '../values/time.ts';
import { MESSAGES } from '../gen/kubernetes/protobuf.ts';
import { badRequest } from '../validation/problem.ts';

/** The media type. */
export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** The kind of a body whose envelope has none. */
export interface ExpectedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

type Value = ProtobufField['value'];

/** `k8s`, and a zero byte. */
const PREFIX = [0x6b, 0x38, 0x73, 0x00];
const text = new TextDecoder();

const bytesOf = (value: Value): Uint8Array => {
  if (value instanceof Uint8Array) return value;
  throw new MalformedProtobuf('proto: wrong wireType');
};

const textOf = (value: Value): string => text.decode(bytesOf(value));

const numberOf = (value: Value): number => {
  if (value instanceof Uint8Array) throw new MalformedProtobuf('proto: wrong wireType');
  return Number(value);
};

/** The last field of each number, as Go keeps it. */
const newest = (value: Value): ReadonlyMap<number, Value> =>
  new Map(protobufFields(bytesOf(value)).map((field) => [field.number, field.value]));

const quantity = (value: Value): string => textOf(newest(value).get(1) ?? new Uint8Array());

const INT_OR_STRING = { type: 1, integer: 2, text: 3 };

const intOrString = (value: Value): number | string => {
  const fields = newest(value);
  return numberOf(fields.get(INT_OR_STRING.type) ?? 0n) === 0
    ? numberOf(fields.get(INT_OR_STRING.integer) ?? 0n)
    : textOf(fields.get(INT_OR_STRING.text) ?? new Uint8Array());
};

/** A zero time has no bytes, and is null in JSON. */
const time = (value: Value, hasMicroseconds: boolean): string | null => {
  if (bytesOf(value).length === 0) return null;
  const fields = newest(value);
  const seconds = rfc3339Seconds(numberOf(fields.get(1) ?? 0n) * 1000);
  if (!hasMicroseconds) return seconds;
  const micros = Math.floor(numberOf(fields.get(2) ?? 0n) / 1000);
  return seconds.replace('Z', `.${`${micros}`.padStart(6, '0')}Z`);
};

/** Types that are one of two things in JSON: a schema, or the other field. */
const EITHER = /^apiextensions\.JSONSchemaPropsOr/;

const either = ({ schema, jSONSchemas, property, allows }: JsonRecord): unknown =>
  schema ?? jSONSchemas ?? property ?? allows ?? {};

const messageOf = (value: Value, type: string): unknown => {
  const record = recordOf(bytesOf(value), type);
  return EITHER.test(type) ? either(record) : record;
};

const read = (value: Value, note: string): unknown => {
  switch (note[0]) {
    case 's':
      return textOf(value);
    case 'y':
      return Buffer.from(bytesOf(value)).toString('base64');
    case 'b':
      return numberOf(value) !== 0;
    case 'q':
      return quantity(value);
    case 'o':
      return intOrString(value);
    case 't':
    case 'u':
      return time(value, note === 'u');
    case 'j':
      return parseJson(textOf(newest(value).get(1) ?? new Uint8Array())) ?? null;
    case '.':
      return messageOf(value, note.slice(1));
    default:
      return numberOf(value);
  }
};

/** One entry of a map: a key, and a value, which may be missing when it is zero. */
const entry = (value: Value, note: string): readonly [string, unknown] => {
  const fields = newest(value);
  const inner = fields.get(2) ?? (/^[bin]/.test(note) ? 0n : new Uint8Array());
  return [textOf(fields.get(1) ?? new Uint8Array()), read(inner, note)];
};

const isZero = (value: unknown): boolean => value === '' || value === 0 || value === false;

const put = (record: Record<string, unknown>, spec: string, value: Value): void => {
  const colon = spec.indexOf(':');
  const name = spec.slice(0, colon);
  const isOmitted = spec[colon + 1] === '?';
  const note = spec.slice(colon + (isOmitted ? 2 : 1));
  if (note[0] === '[') {
    const list = record[name];
    const item = read(value, note.slice(1));
    if (Array.isArray(list)) list.push(item);
    else record[name] = [item];
  } else if (note[0] === '{') {
    record[name] = {
      ...asRecord(record[name]),
      ...Object.fromEntries([entry(value, note.slice(1))]),
    };
  } else {
    const inner = read(value, note);
    if (name === '') Object.assign(record, inner);
    else if (!(isOmitted && isZero(inner))) record[name] = inner;
  }
};

const recordOf = (bytes: Uint8Array, type: string): JsonRecord => {
  const specs = MESSAGES[type] ?? {};
  const record: Record<string, unknown> = {};
  for (const { number, value } of protobufFields(bytes)) {
    const spec = specs[`${number}`];
    if (spec !== undefined) put(record, spec, value);
  }
  return record;
};

/** The message of a kind; options of a deletion are of every group. */
const messageType = ({ apiVersion, kind }: ExpectedKind): string => {
  if (kind === 'DeleteOptions') return 'meta.DeleteOptions';
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] ?? '' : 'core';
  return `${group.split('.')[0]}.${kind}`;
};

const ENVELOPE = { typeMeta: 1, raw: 2 };

const decoded = (bytes: Uint8Array, expected: ExpectedKind): JsonRecord => {
  if (!PREFIX.every((byte, index) => bytes[index] === byte)) {
    throw new MalformedProtobuf(
      'provided data does not appear to be a protobuf message, expected prefix ' +
        `[${PREFIX.join(' ')}]`,
    );
  }
  const envelope = newest(bytes.subarray(PREFIX.length));
  const meta = newest(envelope.get(ENVELOPE.typeMeta) ?? new Uint8Array());
  const named = (field: number): string => textOf(meta.get(field) ?? new Uint8Array());
  const type = {
    apiVersion: named(1) || expected.apiVersion,
    kind: named(2) || expected.kind,
  };
  const message = messageType(type);
  if (MESSAGES[message] === undefined) {
    throw new MalformedProtobuf(
      `no kind "${type.kind}" is registered for version "${type.apiVersion}"`,
    );
  }
  return { ...type, ...recordOf(bytesOf(envelope.get(ENVELOPE.raw) ?? new Uint8Array()), message) };
};

/** The body as JSON; a body that cannot be decoded is a bad request. */
export const protobufBody = (bytes: Uint8Array, expected: ExpectedKind): JsonRecord => {
  try {
    return decoded(bytes, expected);
  } catch (cause) {
    if (!(cause instanceof MalformedProtobuf)) throw cause;
    throw badRequest(cause.message);
  }
};
