/** The requests that EvictionRequests and Evictions of Kubernetes make up, and who reads them. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import {
  type FollowOptions,
  followRequests,
  JoinedRequests,
} from '../../../src/actors/eviction-requests/followed-requests.ts';
import type { ObservedRequest } from '../../../src/domain/eviction-requests/observed-request.ts';
import type { Fact, Identity } from '../../../src/domain/facts.ts';
import type { ObjectKey } from '../../../src/domain/ids.ts';
import type { JsonRecord } from '../../../src/domain/json.ts';
import type { EvictionsApi } from '../../../src/domain/native-evictions/evictions-api.ts';
import { isOlder } from '../../../src/domain/resource-versions.ts';
import { evictionRequestsLayer } from '../../../src/effects/eviction-requests.ts';
import { informedEnvironment } from '../../support/actors/informed-environment.ts';
import { answeringApi } from '../../support/api/fake-api.ts';
import {
  nativeEviction,
  nativeRequest,
  rawNativeEviction,
  rawNativeRequest,
} from '../../support/eviction-requests/native-fixture.ts';
import { rawRequest } from '../../support/eviction-requests/request-fixture.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

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

test('NE-05: what another controller has created it serves, though it has no status yet', () => {
  const { evictions, requests, joined } = rig(true);
  requests.list(request(DRAIN, '6'));
  const createdBy = (manager: string) => ({
    managedFields: [{ manager, fieldsV1: { 'f:spec': { 'f:target': {} } } }],
  });
  evictions.list(eviction('5', { metadata: createdBy('evictionrequest-controller') }));
  expect(joined.values()).toEqual([]);
  evictions.put(eviction('7', { metadata: createdBy('tidegate') }));
  expect(joined.values()).toHaveLength(1);
});

test('NE-11: a pod without objects has no request', () => {
  const { evictions, requests, joined } = rig();
  requests.list(request(DRAIN, '6'));
  evictions.list();
  requests.remove(request(DRAIN, '8'));
  expect(joined.values()).toEqual([]);
});

test('NE-11: who subscribes late gets the list at once, and then the changes', () => {
  const { evictions, requests, joined } = rig();
  requests.list(request(DRAIN, '6'));
  const late: Fact<ObservedRequest>[] = [];
  joined.facts.subscribe((fact) => late.push(fact));
  expect(late, 'before both lists are complete').toEqual([]);
  evictions.list();
  const after: Fact<ObservedRequest>[] = [];
  joined.facts.subscribe((fact) => after.push(fact));
  expect(after).toMatchObject([{ _tag: 'Listed', objects: [{ pod: { name: 'p-1' } }] }]);
  requests.put(request(BALANCER, '7'));
  expect(after.slice(1)).toMatchObject([{ _tag: 'Present' }]);
});

test('NE-11: a change before both lists are complete counts with them', () => {
  const { evictions, requests, facts, newest } = rig();
  requests.list();
  requests.put(request(DRAIN, '6'));
  expect(facts).toEqual([]);
  evictions.list();
  expect(newest().requesters).toEqual(['drain.nodes.example.com']);
});

test('NE-11: a list that lacks the objects of a pod ends its request', () => {
  const { evictions, requests, joined, facts } = rig();
  evictions.list();
  requests.list(request(DRAIN, '6'));
  const before = facts.length;
  requests.list();
  expect(joined.values()).toEqual([]);
  expect(facts.slice(before)).toMatchObject([{ _tag: 'Absent' }, { _tag: 'Listed', objects: [] }]);
});

test('NE-11: a change of the same request is no end of it', () => {
  const { evictions, requests, joined, facts, newest } = rig();
  requests.list(request(DRAIN, '6'));
  evictions.list(eviction('5'));
  const before = facts.length;
  requests.put(request(BALANCER, '7'));
  expect(facts.slice(before).map(({ _tag }) => _tag)).toEqual(['Present']);
  expect(joined.get(newest().key)).toEqual(newest());
});

const OWN = '/apis/lifecycle.tidegate.dev/v1alpha1';
const NATIVE = '/apis/lifecycle.k8s.io/v1alpha1';

/** Requests that are followed on an API server with both APIs, in each of which there is one. */
const following = async (api: EvictionsApi, options: FollowOptions = {}) => {
  const time = simulatedTime();
  const listed = new Set<string>();
  const answers = new Map<string, readonly object[]>([
    [`${OWN}/evictionrequests`, [rawRequest()]],
    [`${NATIVE}/evictionrequests`, [at('6', rawNativeRequest(DRAIN))]],
    [`${NATIVE}/evictions`, [at('7', rawNativeEviction({ manager: 'another-controller' }))]],
  ]);
  const runtime = ManagedRuntime.make(evictionRequestsLayer.pipe(
    Layer.provideMerge(answeringApi(({ path }) =>
      Effect.sync(() => {
        const [collection = ''] = path.split('?');
        const items = answers.get(collection);
        if (items !== undefined) listed.add(collection);
        const resources = [{ name: 'evictionrequests' }, { name: 'evictions' }];
        return { status: 200, body: { metadata: { resourceVersion: '20' }, items, resources } };
      })
    )),
  ));
  const { environment, informers } = informedEnvironment(time, runtime);
  const followed = followRequests(environment, informers, options);
  const tags: string[] = [];
  followed.requests.facts.subscribe(({ _tag }) => tags.push(_tag));
  await followed.choose(api);
  informers.start();
  await time.advance(100);
  const awaited = followed.informers().map(({ id, synced }) => `${id} ${synced}`);
  const { requests } = followed;
  const keys = requests.values();
  return { listed: [...listed], awaited, tags, requests, all: [...keys] };
};

test('NE-11: only the collections of the chosen API are listed and awaited', async () => {
  const own = await following('tidegate');
  expect(own.listed).toEqual([`${OWN}/evictionrequests`]);
  expect([own.awaited, own.requests.synced]).toEqual([['evictionrequests true'], true]);
  expect(own.all).toMatchObject([{ uid: 'request-uid' }]);
  const native = await following('native');
  expect(native.listed.toSorted())
    .toEqual([`${NATIVE}/evictionrequests`, `${NATIVE}/evictions`]);
  expect(native.awaited.toSorted())
    .toEqual(['nativeevictionrequests true', 'nativeevictions true']);
  expect([native.requests.synced, native.tags.includes('Listed')]).toEqual([true, true]);
  expect(native.all.map(({ pod }) => pod.name)).toEqual(['p-1']);
});

test.each(['tidegate', 'native'] as const)('requests of %s are found by their key', async (api) => {
  const { requests, all } = await following(api);
  expect(all.map(({ key }) => requests.get(key))).toEqual(all);
});

test('requests that nobody wants are not listed', async () => {
  const isWanted = () => false;
  expect((await following('tidegate', { isWanted })).listed).toEqual([]);
  expect((await following('native', { isWanted })).listed).toEqual([]);
});

test('NE-05: drains follow a request that another controller serves', async () => {
  expect((await following('native')).all).toHaveLength(1);
  expect((await following('native', { isController: true })).all).toHaveLength(0);
  expect((await following('tidegate', { isController: true })).all).toHaveLength(1);
});
