/**
 * Compatibility with another protobuf implementation: bytes that Python's protobuf wrote
 * (`tools/proto-golden.py`) decode and encode identically.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { type DescMessage, fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { file_bigfleet_v1alpha1_capacity } from '../../../src/gen/bigfleet/v1alpha1/capacity_pb.ts';
import { file_bigfleet_v1alpha1_provider } from '../../../src/gen/bigfleet/v1alpha1/provider_pb.ts';
import {
  file_bigfleet_v1alpha1_shard,
  NodeStateUpdateSchema,
  OperatorMessageSchema,
} from '../../../src/gen/bigfleet/v1alpha1/shard_pb.ts';

/** The generator's output for one message. */
interface Golden {
  readonly message: string;
  readonly cases: readonly {
    readonly json: Readonly<Record<string, string>>;
    readonly hex: string;
  }[];
}

const FOLDER = new URL('./golden/', import.meta.url);
const SCHEMAS: readonly DescMessage[] = [
  file_bigfleet_v1alpha1_capacity,
  file_bigfleet_v1alpha1_provider,
  file_bigfleet_v1alpha1_shard,
].flatMap((file) => file.messages);

const golden = (file: string): Golden =>
  JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Golden;

const goldens = readdirSync(FOLDER).sort().map(golden);
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const schemaOf = (name: string): DescMessage => {
  const schema = SCHEMAS.find((candidate) => candidate.typeName === name);
  if (schema === undefined) throw new Error(`No message "${name}" was generated`);
  return schema;
};

test('the wire has golden bytes for every message', () => {
  expect(goldens.map(({ message }) => message).sort()).toEqual(
    SCHEMAS.map(({ typeName }) => typeName).sort(),
  );
});

describe.each(goldens)('$message', ({ message, cases }) => {
  const schema = schemaOf(message);

  test.each(cases)('decodes bytes of another implementation (case %#)', (example) => {
    const read = fromBinary(schema, Buffer.from(example.hex, 'hex'));
    expect(toJson(schema, read)).toEqual(example.json);
    expect(read.$unknown).toBeUndefined();
  });

  test.each(cases)(
    'encodes the same bytes as another implementation (case %#)',
    (example) => {
      expect(hexOf(toBinary(schema, fromJson(schema, example.json)))).toBe(example.hex);
    },
  );
});

test('a field of a newer contract is preserved and ignored', () => {
  const bytes = Buffer.from('0a0070aa01', 'hex');
  const read = fromBinary(OperatorMessageSchema, bytes);
  expect(read.payload.case).toBe('hello');
  expect(hexOf(toBinary(OperatorMessageSchema, read))).toBe('0a0070aa01');
});

test('a machine state of a newer contract is read as its number', () => {
  expect(fromBinary(NodeStateUpdateSchema, Buffer.from('202a', 'hex')).state).toBe(42);
});
