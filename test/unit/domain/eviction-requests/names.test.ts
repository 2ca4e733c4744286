/** Names of requesters and interceptors, and the interceptors that a pod registers. */
import { expect, test } from 'vitest';
import {
  INTERCEPTORS_ANNOTATION,
  interceptorsOf,
} from '../../../../src/domain/eviction-requests/interceptor-list.ts';
import {
  isQualifiedName,
  isReservedName,
  maintenanceRequester,
} from '../../../../src/domain/eviction-requests/qualified-name.ts';

const annotated = (text: string) => ({
  metadata: { annotations: { [INTERCEPTORS_ANNOTATION]: text } },
});

const LONG_LABEL = 'a'.repeat(63);

const NAMES = [
  ['foo.example.com', true],
  ['a-1.b.c.d', true],
  ['example.com', false],
  ['Foo.example.com', false],
  ['foo_bar.example.com', false],
  ['foo.example.com.', false],
  ['foo..example.com', false],
  ['-foo.example.com', false],
  ['', false],
  [`${LONG_LABEL}.${LONG_LABEL}.${LONG_LABEL}.${'a'.repeat(61)}`, true],
  [`${LONG_LABEL}.${LONG_LABEL}.${LONG_LABEL}.${'a'.repeat(62)}`, false],
  [`a${LONG_LABEL}.example.com`, false],
] as const;

test.each(NAMES)('ER-08: a name has three lower-case labels or more: "%s" %s', (name, isValid) => {
  expect(isQualifiedName(name)).toBe(isValid);
});

test('ER-09: the domains of Kubernetes are reserved, and their sound-alikes are not', () => {
  expect(isReservedName('drain.k8s.io')).toBe(true);
  expect(isReservedName('a.node.kubernetes.io')).toBe(true);
  expect(isReservedName('a.notk8s.io')).toBe(false);
  expect(isReservedName('k8s.io.example.com')).toBe(false);
});

test('ER-09: a pod cannot register a reserved name by annotation', () => {
  const list = interceptorsOf(annotated('imperative-eviction.k8s.io, a.example.com,x.k8s.io'));
  expect(list.names).toEqual(['a.example.com']);
  expect(list.problem).toContain('"imperative-eviction.k8s.io", "x.k8s.io"');
});

test('ER-55: invalid and repeated interceptors are dropped, and one text names them', () => {
  const list = interceptorsOf(annotated('b.example.com,Wrong,a.example.com,b.example.com'));
  expect(list.names).toEqual(['b.example.com', 'a.example.com']);
  expect(list.problem).toBe(
    'Interceptors ignored: "Wrong", "b.example.com" invalid, reserved or repeated: ' +
      'use distinct domain names',
  );
});

test('ER-55: dropped interceptors are quoted on one line, and truncated', () => {
  const { problem } = interceptorsOf(annotated(`"a"\nb, ${'x'.repeat(100)}`));
  expect(problem).toBe(
    `Interceptors ignored: "\\"a\\"\\nb", "${'x'.repeat(80)}…" invalid, reserved or repeated: ` +
      'use distinct domain names',
  );
});

test('ER-55: a pod has at most 15 interceptors', () => {
  const names = Array.from({ length: 17 }, (_, index) => `i${index}.example.com`);
  const list = interceptorsOf(annotated(names.join(',')));
  expect(list.names).toEqual(names.slice(0, 15));
  expect(list.problem).toBe('Interceptors ignored: 2 beyond the limit of 15');
});

test('ER-55: the pod field of the API server wins over the annotation', () => {
  const raw = {
    ...annotated('a.example.com'),
    spec: { evictionResponders: [{ name: 'r.k8s.io' }] },
  };
  expect(interceptorsOf(raw).names).toEqual(['r.k8s.io']);
});

test('interceptors of a pod without any are none, whatever its annotations are', () => {
  expect(interceptorsOf({}).names).toEqual([]);
  expect(interceptorsOf(annotated('  ')).problem).toBe('');
});

test('a maintenance has a name that is valid, however long its own is', () => {
  expect(maintenanceRequester('rack-7')).toBe('rack-7.nodemaintenance.tidegate.dev');
  const long = maintenanceRequester('m'.repeat(253));
  expect(isQualifiedName(long)).toBe(true);
  expect(long).not.toBe(maintenanceRequester(`${'m'.repeat(252)}n`));
});
