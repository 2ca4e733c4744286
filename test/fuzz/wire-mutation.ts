/**
 * Mutations of protobuf messages by their wire format, without a schema. Bytes are the characters
 * of a text, one each.
 *
 * Promises: a message stays one, lengths included, unless its bytes are edited as text; bytes that
 * are no message are edited as text.
 */
import { type Draw, drawBelow, drawOne } from '../support/draws.ts';
import {
  CHARACTERS_MAX,
  drawTimes,
  type Mutate,
  mutateText,
  type Mutation,
  ODD_TEXTS,
  repeatedText,
} from './mutation.ts';

/** One field: its tag, and its content as bytes. */
interface WireField {
  readonly number: number;
  readonly type: 0 | 1 | 2 | 5;
  readonly bytes: string;
}

const VARINT_BYTES_MAX = 10;
const VARINTS: readonly bigint[] = [
  0n,
  1n,
  2n,
  8n,
  9n,
  127n,
  128n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 63n - 1n,
  2n ** 63n,
  2n ** 64n - 1n,
];
const DOUBLES: readonly string[] = [
  '\0\0\0\0\0\0\xf8\x7f',
  '\0\0\0\0\0\0\xf0\x7f',
  '\0\0\0\0\0\0\xf0\xff',
  '\xff\xff\xff\xff\xff\xff\xef\x7f',
  '\x01\0\0\0\0\0\0\0',
  '\0\0\0\0\0\0\0\x80',
];
/** Edits of the bytes themselves, beside those of fields. */
const RAW_SHARE = 0.2;

const varint = (value: bigint): string => {
  let text = '';
  let rest = value;
  while (rest >= 128n) {
    text += String.fromCharCode(Number(rest % 128n) + 128);
    rest /= 128n;
  }
  return text + String.fromCharCode(Number(rest));
};

const varintAt = (text: string, at: number): readonly [value: bigint, end: number] | undefined => {
  let value = 0n;
  for (let index = 0; index < VARINT_BYTES_MAX; index += 1) {
    const byte = text.charCodeAt(at + index);
    if (Number.isNaN(byte)) return undefined;
    value |= BigInt(byte & 127) << BigInt(7 * index);
    if (byte < 128) return [value, at + index + 1];
  }
  return undefined;
};

const contentAt = (
  text: string,
  at: number,
  type: number,
): readonly [string, number] | undefined => {
  if (type === 0) {
    const read = varintAt(text, at);
    return read && [text.slice(at, read[1]), read[1]];
  }
  if (type === 2) {
    const length = varintAt(text, at);
    if (length === undefined || length[0] > text.length - length[1]) return undefined;
    const end = length[1] + Number(length[0]);
    return [text.slice(length[1], end), end];
  }
  const end = at + (type === 1 ? 8 : 4);
  return end > text.length ? undefined : [text.slice(at, end), end];
};

const fieldsIn = (text: string): readonly WireField[] | undefined => {
  const fields: WireField[] = [];
  for (let at = 0; at < text.length;) {
    const tag = varintAt(text, at);
    if (tag === undefined || tag[0] > 0xffff_ffffn) return undefined;
    const [number, type] = [Number(tag[0] >> 3n), Number(tag[0] & 7n)];
    if (number === 0 || (type !== 0 && type !== 1 && type !== 2 && type !== 5)) return undefined;
    const content = contentAt(text, tag[1], type);
    if (content === undefined) return undefined;
    fields.push({ number, type, bytes: content[0] });
    at = content[1];
  }
  return fields;
};

const textOf = (fields: readonly WireField[]): string =>
  fields.map(({ number, type, bytes }) => {
    const tag = varint((BigInt(number) << 3n) | BigInt(type));
    return type === 2 ? tag + varint(BigInt(bytes.length)) + bytes : tag + bytes;
  }).join('');

/** Text as UTF-8, one character a byte. */
const utf8 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

const oddContent = (field: WireField, mutation: Mutation): WireField => {
  const { draw, words } = mutation;
  if (field.type === 0) return { ...field, bytes: varint(drawOne(draw, VARINTS) ?? 0n) };
  if (field.type === 1) return { ...field, bytes: drawOne(draw, DOUBLES) ?? field.bytes };
  if (field.type === 5) return { ...field, bytes: '\xff\xff\xff\x7f' };
  const texts = [
    () => utf8(drawOne(draw, ODD_TEXTS) ?? ''),
    () => utf8(drawOne(draw, words) ?? ''),
    () => repeatedText('x', drawTimes(draw)),
    () => mutateText(field.bytes, mutation),
  ];
  return { ...field, bytes: drawOne(draw, texts)?.() ?? '' };
};

type Edit = (field: WireField, mutation: Mutation) => readonly WireField[];

const within = (field: WireField, mutation: Mutation): WireField => {
  const inner = field.type === 2 ? fieldsIn(field.bytes) : undefined;
  return inner === undefined || inner.length === 0
    ? oddContent(field, mutation)
    : { ...field, bytes: textOf(edited(inner, mutation)) };
};

const repeated = (field: WireField, draw: Draw): readonly WireField[] => {
  const times = Math.min(drawTimes(draw), Math.floor(CHARACTERS_MAX / (field.bytes.length + 8)));
  return Array.from({ length: Math.max(1, times) }, () => field);
};

/** Equal entries of a map are one: each repetition of an entry gets its own key. */
const numbered = (fields: readonly WireField[]): readonly WireField[] =>
  fields.map((field, index) => {
    const [key, ...rest] = field.type === 2 ? fieldsIn(field.bytes) ?? [] : [];
    if (key === undefined || key.number !== 1 || key.type !== 2) return field;
    return { ...field, bytes: textOf([{ ...key, bytes: `${key.bytes}${index}` }, ...rest]) };
  });

const EDITS: readonly Edit[] = [
  (field, mutation) => [within(field, mutation)],
  (field, mutation) => [within(field, mutation)],
  (field, mutation) => [within(field, mutation)],
  (field, mutation) => [within(field, mutation)],
  (field, mutation) => [oddContent(field, mutation)],
  () => [],
  (field, { draw }) => repeated(field, draw),
  (field, { draw }) => numbered(repeated(field, draw)),
  (field, { draw }) => [{ ...field, number: 1 + drawBelow(draw, 12) }],
  (field, { draw, other }) => [field, ...drawOne(draw, [fieldsIn(other) ?? []]) ?? []],
];

const edited = (fields: readonly WireField[], mutation: Mutation): readonly WireField[] => {
  const at = drawBelow(mutation.draw, fields.length);
  const edit = drawOne(mutation.draw, EDITS);
  return fields.flatMap((field, index) => index === at ? edit?.(field, mutation) ?? [] : [field]);
};

/** Edits one field of a message, or its bytes. */
export const mutateWire: Mutate = (text, mutation) => {
  const fields = mutation.draw() < RAW_SHARE ? undefined : fieldsIn(text);
  if (fields === undefined || fields.length === 0) return mutateText(text, mutation);
  const made = textOf(edited(fields, mutation));
  return made.length > CHARACTERS_MAX ? text : made;
};
