/** Reading external JSON and metadata. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  asList,
  asRecord,
  booleanAt,
  listOrEmptyAt,
  numberAt,
  parseJson,
  recordAt,
  textAt,
  textRecordOrEmptyAt,
  valueAt,
} from '../../../src/domain/json.ts';
import {
  annotationsOf,
  identityOf,
  isDeleting,
  labelsOf,
} from '../../../src/domain/object-meta.ts';

describe('json', () => {
  it('follows a path to a value of the wanted type', () => {
    const raw = { a: { b: { text: 'x', number: 2, yes: true, list: [1], record: { k: 'v' } } } };
    expect(textAt(raw, 'a', 'b', 'text')).toBe('x');
    expect(numberAt(raw, 'a', 'b', 'number')).toBe(2);
    expect(booleanAt(raw, 'a', 'b', 'yes')).toBe(true);
    expect(listOrEmptyAt(raw, 'a', 'b', 'list')).toEqual([1]);
    expect(recordAt(raw, 'a', 'b', 'record')).toEqual({ k: 'v' });
  });

  it('reads a value of another type as undefined or empty', () => {
    expect(textAt({ a: 1 }, 'a')).toBeUndefined();
    expect(numberAt({ a: Number.NaN }, 'a')).toBeUndefined();
    expect(recordAt({ a: [] }, 'a')).toBeUndefined();
    expect(listOrEmptyAt({ a: {} }, 'a')).toEqual([]);
    expect(asRecord(null)).toBeUndefined();
    expect(asList('text')).toBeUndefined();
    expect(textRecordOrEmptyAt({ a: { k: 'v', n: 1 } }, 'a')).toEqual({ k: 'v' });
  });

  it('does not follow inherited fields', () => {
    expect(valueAt({}, 'constructor', 'name')).toBeUndefined();
    expect(textRecordOrEmptyAt(JSON.parse('{"a":{"__proto__":"x"}}'), 'a')).toEqual(
      JSON.parse('{"__proto__":"x"}'),
    );
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.anything(), fc.array(fc.string()), (value, path) => {
        textAt(value, ...path);
        listOrEmptyAt(value, ...path);
        textRecordOrEmptyAt(value, ...path);
        identityOf(value);
      }),
    );
  });

  it('parses only valid JSON', () => {
    expect(parseJson('{"a":1}')).toEqual({ a: 1 });
    expect(parseJson('{')).toBeUndefined();
  });
});

describe('object metadata', () => {
  const metadata = { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '7' };

  it('gives the identity of an object', () => {
    expect(identityOf({ metadata })).toEqual({ key: 'ns/a', uid: 'u', resourceVersion: '7' });
    expect(identityOf({ metadata: { ...metadata, namespace: undefined } })?.key).toBe('a');
  });

  it('gives no identity to an object without name, UID or resourceVersion', () => {
    expect(identityOf({ metadata: { ...metadata, name: '' } })).toBeUndefined();
    expect(identityOf({ metadata: { ...metadata, uid: undefined } })).toBeUndefined();
    expect(identityOf({ metadata: { ...metadata, resourceVersion: 7 } })).toBeUndefined();
    expect(identityOf('x')).toBeUndefined();
  });

  it('reads labels, annotations and deletion', () => {
    const raw = {
      metadata: { labels: { a: 'b' }, annotations: { c: 'd' }, deletionTimestamp: 't' },
    };
    expect(labelsOf(raw)).toEqual({ a: 'b' });
    expect(annotationsOf(raw)).toEqual({ c: 'd' });
    expect(isDeleting(raw)).toBe(true);
    expect(isDeleting({ metadata })).toBe(false);
  });
});
