/**
 * Bodies in protobuf, as client-go encodes them: the envelope `runtime.Unknown` behind the prefix
 * `k8s\0`. Field numbers are those of the `generated.proto` files of Kubernetes.
 */
import type { Sent } from './steps.ts';

/** A field's value: text, an integer, or an encoded message. */
type Value = string | number | Uint8Array;

const WIRE_VARINT = 0;
const WIRE_BYTES = 2;

const varint = (value: number): readonly number[] =>
  value < 0x80 ? [value] : [(value % 0x80) + 0x80, ...varint(Math.floor(value / 0x80))];

const field = (number: number, value: Value): readonly number[] => {
  if (typeof value === 'number') return [number * 8 + WIRE_VARINT, ...varint(value)];
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  return [...varint(number * 8 + WIRE_BYTES), ...varint(bytes.length), ...bytes];
};

/** A message with these fields. */
export const message = (...fields: readonly (readonly [number: number, value: Value])[]) =>
  Uint8Array.from(fields.flatMap(([number, value]) => field(number, value)));

const PREFIX = [...new TextEncoder().encode('k8s'), 0];

/** The envelope of an object; an empty kind leaves its type out. */
export const envelope = (apiVersion: string, kind: string, object: Uint8Array): Uint8Array => {
  const type = kind === '' ? message() : message([1, apiVersion], [2, kind]);
  return Uint8Array.from([
    ...PREFIX,
    ...message([1, type], [2, object], [3, ''], [4, '']),
  ]);
};

/** A body of the media type. */
export const inProtobuf = (body: Uint8Array): Sent => ({
  body,
  headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
});

/** `metadata` with a name; Go also writes empty text where it has no pointer. */
export const metadata = (name: string): Uint8Array =>
  message([1, name], [2, ''], [3, ''], [4, ''], [5, ''], [6, ''], [7, 0], [8, message()]);
