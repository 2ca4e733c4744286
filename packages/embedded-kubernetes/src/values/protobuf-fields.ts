/**
 * Splits a protobuf message into its fields.
 *
 * Promises: a truncated or malformed message throws `MalformedProtobuf`; a field of a wire type
 * that Kubernetes does not use is skipped or refused, never misread. Source: the protobuf encoding
 * guide (protobuf.dev).
 */

/** A message that cannot be read. */
export class MalformedProtobuf extends Error {
  override readonly name = 'MalformedProtobuf';
}

/** One field: a varint as two's complement of 64 bits, a fixed number, or the bytes of the rest. */
export interface ProtobufField {
  readonly number: number;
  readonly value: bigint | number | Uint8Array;
}

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const VARINT_BYTES_MAX = 10;

interface Cursor {
  readonly bytes: Uint8Array;
  at: number;
}

const varint = (cursor: Cursor): bigint => {
  let value = 0n;
  for (let index = 0; index < VARINT_BYTES_MAX; index += 1) {
    const byte = cursor.bytes[cursor.at];
    if (byte === undefined) throw new MalformedProtobuf('unexpected EOF');
    cursor.at += 1;
    value |= BigInt(byte & 0x7f) << BigInt(7 * index);
    if (byte < 0x80) return BigInt.asIntN(64, value);
  }
  throw new MalformedProtobuf('proto: integer overflow');
};

const slice = (cursor: Cursor, length: number): Uint8Array => {
  const end = cursor.at + length;
  if (!(length >= 0) || end > cursor.bytes.length) throw new MalformedProtobuf('unexpected EOF');
  const part = cursor.bytes.subarray(cursor.at, end);
  cursor.at = end;
  return part;
};

const view = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const valueOf = (cursor: Cursor, type: number): ProtobufField['value'] => {
  switch (type) {
    case WIRE.varint:
      return varint(cursor);
    case WIRE.fixed64:
      return view(slice(cursor, 8)).getFloat64(0, true);
    case WIRE.fixed32:
      return view(slice(cursor, 4)).getFloat32(0, true);
    case WIRE.bytes:
      return slice(cursor, Number(varint(cursor)));
    default:
      throw new MalformedProtobuf(`proto: illegal wireType ${type}`);
  }
};

/** The fields of a message, in the order in which they were written. */
export const protobufFields = (bytes: Uint8Array): readonly ProtobufField[] => {
  const cursor: Cursor = { bytes, at: 0 };
  const fields: ProtobufField[] = [];
  while (cursor.at < bytes.length) {
    const tag = Number(varint(cursor));
    const number = Math.floor(tag / 8);
    if (number <= 0) throw new MalformedProtobuf(`proto: illegal tag ${number}`);
    fields.push({ number, value: valueOf(cursor, tag % 8) });
  }
  return fields;
};
