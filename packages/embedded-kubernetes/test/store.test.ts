/** The store: revisions, order, history and its bound. */
import { describe, expect, test } from 'vitest';
import { textAt } from '../src/values/json.ts';
import { makeStore, type Store } from '../src/storage/store.ts';

const at = (name: string, namespace = 'a') => ({ namespace, name });

const put = (store: Store, name: string, more: { namespace?: string; data?: string } = {}) =>
  store.put('configmaps', at(name, more.namespace), {
    metadata: { name, namespace: more.namespace ?? 'a' },
    data: more.data ?? '',
  });

const names = (objects: Iterable<{ at: { namespace: string; name: string } }> | undefined) =>
  objects === undefined
    ? undefined
    : [...objects].map(({ at: { namespace, name } }) => `${namespace}/${name}`);

describe('store', () => {
  test('counts revisions over all resources', () => {
    const store = makeStore({});
    const first = put(store, 'x');
    const second = store.put('pods', at('y'), { metadata: { name: 'y' } });
    const last = store.remove('configmaps', at('x'));
    expect([first, second, last].map((object) => textAt(object, 'metadata', 'resourceVersion')))
      .toEqual(['2', '3', '4']);
    expect(store.revision()).toBe(4);
  });

  test('lists by namespace and name, whatever the order of writing', () => {
    const store = makeStore({});
    put(store, 'b');
    put(store, 'a', { namespace: 'a-b' });
    put(store, 'a');
    const { ordered, size } = store.collection('configmaps');
    expect(names(ordered())).toEqual(['a-b/a', 'a/a', 'a/b']);
    expect(names(ordered('a'))).toEqual(['a/a', 'a/b']);
    expect(size()).toBe(3);
  });

  test('delivers changes in order, including changes that a listener makes', () => {
    const store = makeStore({});
    const received: string[] = [];
    store.subscribe(({ type, at: { name } }) => {
      if (type === 'ADDED' && name === 'x') put(store, 'y');
    });
    store.subscribe(({ type, revision, at: { name } }) =>
      received.push(`${revision} ${type} ${name}`)
    );
    put(store, 'x');
    store.remove('configmaps', at('x'));
    expect(received).toEqual(['2 ADDED x', '3 ADDED y', '4 DELETED x']);
  });

  test('delivers nothing after unsubscribing', () => {
    const store = makeStore({});
    let received = 0;
    const leave = store.subscribe(() => {
      received += 1;
    });
    put(store, 'x');
    leave();
    put(store, 'y');
    expect(received).toBe(1);
  });

  test('reads the state at a revision', () => {
    const store = makeStore({});
    put(store, 'x', { data: 'old' });
    put(store, 'y');
    const then = store.revision();
    put(store, 'x', { data: 'new' });
    put(store, 'z');
    store.remove('configmaps', at('y'));
    const collection = store.collection('configmaps');
    expect(names(collection.orderedAt(then))).toEqual(['a/x', 'a/y']);
    expect(collection.orderedAt(then)?.[0]?.object['data']).toBe('old');
    expect(names(collection.orderedAt(store.revision(), 'a'))).toEqual(['a/x', 'a/z']);
  });

  test('drops compacted history and reports it as expired', () => {
    const store = makeStore({});
    put(store, 'x');
    const then = store.revision();
    put(store, 'y');
    store.compact(then);
    const collection = store.collection('configmaps');
    expect(collection.since(then)).toHaveLength(1);
    expect(collection.since(then - 1)).toBeUndefined();
    expect(collection.orderedAt(then - 1)).toBeUndefined();
    expect(store.collection('pods').since(then - 1)).toBeUndefined();
  });

  test('keeps no more changes than its limit', () => {
    const store = makeStore({ historyMax: 10 });
    for (let count = 0; count < 100; count += 1) put(store, 'x', { data: `${count}` });
    const collection = store.collection('configmaps');
    expect(collection.since(2)).toBeUndefined();
    expect(collection.since(store.revision() - 1)).toHaveLength(1);
  });

  test('returns the stored object itself', () => {
    const store = makeStore({});
    const kept = put(store, 'x');
    expect(store.collection('configmaps').get(at('x'))).toBe(kept);
  });
});
