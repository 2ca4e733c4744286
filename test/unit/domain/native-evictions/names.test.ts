/** Names of requesters and interceptors, here and in `lifecycle.k8s.io`. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isQualifiedName,
  isReservedName,
} from '../../../../src/domain/eviction-requests/qualified-name.ts';
import {
  isNativeName,
  nameFromNative,
  nameToNative,
} from '../../../../src/domain/native-evictions/names.ts';

const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?$/);
const key = fc.stringMatching(/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,8}[A-Za-z0-9])?$/);
const qualified = fc.array(label, { minLength: 3, maxLength: 5 }).map((labels) => labels.join('.'));
const native = fc.tuple(fc.array(label, { minLength: 1, maxLength: 4 }), key)
  .map(([labels, name]) => `${labels.join('.')}/${name}`);

test('a domain name is a domain and a key there', () => {
  expect(nameToNative('backup.db.example.com')).toBe('db.example.com/backup');
  expect(nameFromNative('db.example.com/backup')).toBe('backup.db.example.com');
  expect(nameToNative('reclaim.tidegate.dev')).toBe('tidegate.dev/reclaim');
});

test('the imperative eviction has its own name in each API', () => {
  expect(nameToNative('imperative-eviction.k8s.io')).toBe('imperative-eviction.k8s.io/evictor');
  expect(nameFromNative('imperative-eviction.k8s.io/evictor')).toBe('imperative-eviction.k8s.io');
  // Another name must not become that of the imperative eviction.
  expect(nameFromNative('k8s.io/imperative-eviction')).toBe('k8s.io/imperative-eviction');
});

test('a name without a form here stays as it is', () => {
  for (const name of ['example.com/Upper', 'example.com/a.b', 'single/key', 'no-slash', '']) {
    expect(nameFromNative(name)).toBe(name);
  }
});

test('a name of ours that goes there and back is the same, and valid there', () => {
  fc.assert(fc.property(qualified, (name) => {
    fc.pre(isQualifiedName(name) && !isReservedName(name));
    expect(isNativeName(nameToNative(name))).toBe(true);
    expect(nameFromNative(nameToNative(name))).toBe(name);
  }));
});

test('a name of theirs that comes here and goes back is the same', () => {
  fc.assert(fc.property(native, (name) => {
    expect(isNativeName(name)).toBe(true);
    expect(nameToNative(nameFromNative(name))).toBe(name);
  }));
});
