/** The requests that EvictionRequests and Evictions of Kubernetes make up. */
import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { JoinedRequests } from '../../../src/actors/eviction-requests/followed-requests.ts';
import type { ObservedRequest } from '../../../src/domain/eviction-requests/observed-request.ts';
import type { Fact, Identity } from '../../../src/domain/facts.ts';
import type { ObjectKey } from '../../../src/domain/ids.ts';
import type { JsonRecord } from '../../../src/domain/json.ts';
import { isOlder } from '../../../src/domain/resource-versions.ts';
import {
  nativeEviction,
  nativeRequest,
  rawNativeEviction,
  rawNativeRequest,
} from '../../support/eviction-requests/native-fixture.ts';

/** A cache that the test fills. */
const fakePart = <T extends Identity>() => {
  const objects = new Map<ObjectKey, T>();
  const facts = new Subject<Fact<T>>();
  let synced = false;
  return {
    facts,
    get synced() {
      return synced;
    },
    get: (key: ObjectKey) => objects.get(key),
    values: () => objects.values(),
    list: (...all: readonly T[]) => {
      objects.clear();
      for (const one of all) objects.set(one.key, one);
      synced = true;
      facts.next({ _tag: 'Listed', objects: all });
    },
    put: (object: T) => {
      objects.set(object.key, object);
      facts.next({ _tag: 'Present', object });
    },
    remove: (last: T) => {
      objects.delete(last.key);
      facts.next({ _tag: 'Absent', key: last.key, last });
    },
  };
};

const DRAIN = 'nodes.example.com/drain';
const BALANCER = 'zones.example.com/balance';

const at = (version: string, raw: JsonRecord): JsonRecord => ({
  ...raw,
  metadata: { ...Object(raw['metadata']), resourceVersion: version },
});

const request = (requester: string, version: string) =>
  nativeRequest(at(version, rawNativeRequest(requester)));
const eviction = (version: string, options: Parameters<typeof rawNativeEviction>[0] = {}) =>
  nativeEviction(at(version, rawNativeEviction(options)));

const rig = (isController = false) => {
  const evictions = fakePart<ReturnType<typeof nativeEviction>>();
  const requests = fakePart<ReturnType<typeof nativeRequest>>();
  const joined = new JoinedRequests(
    evictions,
    requests,
    ({ native }) => !isController || native.eviction?.isServedByOther !== true,
  );
  const facts: Fact<ObservedRequest>[] = [];
  joined.facts.subscribe((fact) => facts.push(fact));
  const newest = (): ObservedRequest => {
    const [last] = joined.values();
    if (last === undefined) throw new Error('No request');
    return last;
  };
  return { evictions, requests, joined, facts, newest };
};

test('NE-11: nothing is known before both lists are complete', () => {
  const { evictions, requests, joined, facts } = rig();
  requests.list(request(DRAIN, '5'));
  expect([joined.synced, facts]).toEqual([false, []]);
  evictions.list();
  expect(joined.synced).toBe(true);
  expect(facts.at(-1)).toMatchObject({ _tag: 'Listed', objects: [{ pod: { name: 'p-1' } }] });
});

test('NE-11: a requester that comes or goes is a newer version of the request', () => {
  const { evictions, requests, newest } = rig();
  evictions.list(eviction('5'));
  requests.list(request(DRAIN, '6'), request(BALANCER, '7'));
  const before = newest();
  expect(before.requesters).toHaveLength(2);
  // The API server gives a deletion a version of its own.
  requests.remove(request(BALANCER, '9'));
  expect(newest().requesters).toEqual(['drain.nodes.example.com']);
  expect(isOlder(before.resourceVersion, newest().resourceVersion)).toBe(true);
  evictions.put(eviction('8'));
  expect(newest().resourceVersion).toBe('9');
});

test('NE-11: after the end of one request the next one is another', () => {
  const { evictions, requests, facts, newest } = rig();
  requests.list(request(DRAIN, '6'));
  evictions.list();
  const first = newest();
  const conditions = [{ type: 'Failed', status: 'True', reason: 'CanceledDueToNoRequesters' }];
  evictions.put(eviction('7', { status: { observedGeneration: 1, conditions } }));
  expect(newest().uid).not.toBe(first.uid);
  expect(facts.slice(-2)).toMatchObject([
    { _tag: 'Absent', last: { uid: first.uid } },
    { _tag: 'Present', object: { uid: newest().uid } },
  ]);
});

test('NE-05: what another controller serves is no request of the controller', () => {
  const { evictions, requests, joined, facts } = rig(true);
  requests.list(request(DRAIN, '6'));
  evictions.list();
  expect(joined.values()).toHaveLength(1);
  evictions.put(eviction('7', { manager: 'evictionrequest-controller' }));
  expect(joined.values()).toEqual([]);
  expect(facts.at(-1)).toMatchObject({ _tag: 'Absent' });
});

test('NE-11: a pod without objects has no request', () => {
  const { evictions, requests, joined } = rig();
  requests.list(request(DRAIN, '6'));
  evictions.list();
  requests.remove(request(DRAIN, '8'));
  expect(joined.values()).toEqual([]);
});
