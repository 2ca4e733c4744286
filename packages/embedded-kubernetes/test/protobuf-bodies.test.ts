/** Protobuf bodies that the contract suite cannot send to a real API server, or need not. */
import { describe, expect, test } from 'vitest';
import { makeCluster } from '../src/cluster.ts';
import { MESSAGES } from '../src/gen/kubernetes/protobuf.ts';
import { KIND_FIELDS } from '../src/gen/kubernetes/fields.ts';
import { PROTOBUF, protobufBody } from '../src/http/protobuf-bodies.ts';
import { simulatedTime } from '../src/values/simulated-time.ts';
import { WIDGETS } from './widgets.ts';

const NODE = { apiVersion: 'v1', kind: 'Node' };
const ENVELOPE = [0x6b, 0x38, 0x73, 0x00];

/** The refusal of a body, as its message. */
const refusal = (...bytes: readonly number[]): string => {
  try {
    protobufBody(Uint8Array.from(bytes), NODE);
  } catch (cause) {
    return cause instanceof Error ? cause.message : 'no error';
  }
  return 'none';
};

describe('protobuf bodies', () => {
  test('every built-in kind has a message with the same fields as its JSON', () => {
    for (const [type, fields] of Object.entries(KIND_FIELDS)) {
      const [kind = '', group = 'core'] = type.split('/').toReversed().filter((part) =>
        part !== 'v1'
      );
      const specs = Object.values(MESSAGES[`${group.split('.')[0]}.${kind}`] ?? {});
      const names = specs.map((spec) => spec.split(':')[0] ?? '').sort();
      const wanted = Object.keys(fields).filter((name) => !['apiVersion', 'kind'].includes(name));
      expect([type, names]).toEqual([type, wanted.sort()]);
    }
  });

  test('an object without fields is one without fields', () => {
    expect(protobufBody(Uint8Array.from([...ENVELOPE, 0x12, 0]), NODE)).toEqual(NODE);
  });

  test.each([
    ['of no bytes', []],
    ['with another prefix', [1, 2, 3, 4]],
    ['with a length beyond its end', [...ENVELOPE, 0x12, 9]],
    ['with an endless integer', [...ENVELOPE, 0x08, ...Array.from({ length: 12 }, () => 0xff)]],
    ['with a wire type that is none', [...ENVELOPE, 0x17]],
    ['with a field of number 0', [...ENVELOPE, 0x02, 0]],
    ['with an integer for its object', [...ENVELOPE, 0x10, 1]],
  ])('a body %s is refused', (_, bytes) => {
    expect(refusal(...bytes)).not.toBe('none');
  });

  test('a custom resource in protobuf is of an unsupported media type', () => {
    const cluster = makeCluster({ time: simulatedTime(), seed: 1 });
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    cluster.answer({ method: 'POST', path, body: WIDGETS });
    expect(cluster.answer({
      method: 'POST',
      path: '/apis/example.com/v1/namespaces/default/widgets',
      headers: { 'content-type': PROTOBUF },
      body: Uint8Array.from([...ENVELOPE, 0x12, 0]),
    })).toMatchObject({ status: 415 });
  });
});
