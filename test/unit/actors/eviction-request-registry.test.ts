/** Which EvictionRequests have actors, and what these ask of the dispatcher of evictions. */
import { expect, test } from 'vitest';
import { uid } from '../../../src/domain/ids.ts';
import { joined, rawNativeRequest } from '../../support/eviction-requests/native-fixture.ts';
import {
  ACTOR_A,
  ACTOR_B,
  atSeconds,
  B_ACTIVE,
  CREATED_MS,
  entry,
  IMPERATIVE,
  observedRequest,
  statusWith,
} from '../../support/eviction-requests/request-fixture.ts';
import { requestRegistryRig } from '../../support/eviction-requests/request-registry-rig.ts';

const POD = observedRequest().pod.uid;
const WANTED = 'want p-1 z eviction-request';
const WITHDRAWN = `withdraw ${POD} eviction-request`;

const version = (resourceVersion: string) => ({ metadata: { resourceVersion } });

/** No interceptor is left. */
const IMPERATIVE_ACTIVE = statusWith({
  active: IMPERATIVE,
  processed: [ACTOR_B, ACTOR_A],
  interceptors: [entry(IMPERATIVE, { startTime: 0, heartbeatTime: 0 })],
});
const EVICTING = observedRequest({ status: IMPERATIVE_ACTIVE });
const EVICTED = observedRequest({
  ...version('11'),
  status: statusWith({
    active: null,
    processed: [ACTOR_B],
    conditions: [{
      type: 'Evicted',
      status: 'True',
      reason: 'PodDeleted',
      message: '',
      lastTransitionTime: atSeconds(0),
    }],
  }),
});

/** How many requests have an actor. */
const actorsIn = ({ registry }: ReturnType<typeof requestRegistryRig>): number =>
  [...registry.actors()].length;

/** A registry that evicts the pod of its request. */
const evicting = async () => {
  const rig = requestRegistryRig();
  rig.observe(EVICTING);
  await rig.time.settle();
  expect(rig.evictions).toEqual([WANTED]);
  return rig;
};

test.each(['requests', 'pods'] as const)('no request is decided before %s are listed', (last) => {
  const rig = requestRegistryRig({ isNew: true });
  rig.registry.onLeading();
  const lists = { requests: () => rig.list(EVICTING), pods: rig.listPods };
  lists[last === 'pods' ? 'requests' : 'pods']();
  rig.observe(EVICTING);
  expect(actorsIn(rig)).toBe(0);
  lists[last]();
  expect(actorsIn(rig)).toBe(1);
});

test('a registry that does not lead yet decides nothing', () => {
  const rig = requestRegistryRig({ isNew: true });
  rig.listPods();
  rig.list(EVICTING);
  rig.observe(EVICTING);
  expect(actorsIn(rig)).toBe(0);
  rig.registry.onLeading();
  expect(actorsIn(rig)).toBe(1);
});

test('a registry that leads no more decides nothing, and does so again when it leads', () => {
  const rig = requestRegistryRig();
  rig.registry.onLeadershipLost();
  rig.observe(EVICTING);
  rig.list(EVICTING);
  rig.listPods();
  expect([actorsIn(rig), rig.evictions]).toEqual([0, []]);
  rig.registry.onLeading();
  expect(actorsIn(rig)).toBe(1);
});

test('only a leader has series of interceptors', async () => {
  const { registry, series, listPods, putPod } = requestRegistryRig();
  const metric = 'evictionrequest_controller_pod_interceptors';
  registry.onLeadershipLost();
  putPod({});
  listPods();
  expect(await series(metric)).toEqual([]);
  registry.onLeading();
  expect(await series(metric)).toHaveLength(1);
});

test('before the list of pods a new leader has no series of interceptors', async () => {
  const { registry, series, listPods } = requestRegistryRig({ isNew: true });
  registry.onLeading();
  const metric = 'evictionrequest_controller_pod_interceptors';
  expect(await series(metric)).toEqual([]);
  listPods();
  expect(await series(metric)).toHaveLength(1);
});

test('a registry that stops considers no list any more', async () => {
  const rig = requestRegistryRig();
  await rig.registry.stop();
  rig.observe(EVICTING);
  await rig.time.advance(1000);
  expect([actorsIn(rig), rig.writes, rig.evictions]).toEqual([0, [], []]);
});

test('a list that lacks a request ends it, and keeps the others', async () => {
  const rig = await evicting();
  rig.observe({ ...observedRequest({ status: B_ACTIVE }), uid: uid('other') });
  expect(actorsIn(rig)).toBe(2);
  rig.list(EVICTING);
  await rig.time.settle();
  expect([actorsIn(rig), rig.evictions]).toEqual([1, [WANTED]]);
  rig.list();
  await rig.time.settle();
  expect([actorsIn(rig), rig.evictions]).toEqual([0, [WANTED, WITHDRAWN]]);
});

test.each(
  [
    ['deleted', (rig) => rig.remove(EVICTING)],
    ['final', (rig) => rig.observe(EVICTED)],
    ['led by another process', (rig) => rig.registry.onLeadershipLost()],
  ] as const satisfies readonly [string, (rig: ReturnType<typeof requestRegistryRig>) => void][],
)('the eviction of a request is withdrawn once when it is %s', async (_, end) => {
  const rig = await evicting();
  end(rig);
  rig.remove(EVICTING);
  await rig.time.settle();
  expect([actorsIn(rig), rig.evictions]).toEqual([0, [WANTED, WITHDRAWN]]);
});

test('an eviction that is withdrawn by its request is not withdrawn again at its end', async () => {
  const rig = await evicting();
  rig.observe(observedRequest({ status: B_ACTIVE, ...version('11') }));
  await rig.time.settle();
  expect(rig.evictions).toEqual([WANTED, WITHDRAWN]);
  rig.remove(EVICTING);
  await rig.time.settle();
  expect(rig.evictions).toEqual([WANTED, WITHDRAWN]);
});

test('another pod of the same name is not evicted', async () => {
  const { time, putPod, observe, evictions } = requestRegistryRig();
  putPod({ uid: 'another' });
  observe(EVICTING);
  await time.settle();
  expect(evictions).toEqual([]);
});

test('a pod that is gone before its eviction is wanted is not evicted', async () => {
  const { time, observe, removePod, evictions } = requestRegistryRig();
  observe(EVICTING);
  removePod({ isSeen: false });
  await time.settle();
  expect(evictions).toEqual([]);
});

test('a request that is withdrawn before its turn causes no eviction', async () => {
  const rig = requestRegistryRig();
  rig.observe(EVICTING);
  rig.observe(EVICTED);
  await rig.time.settle();
  expect(rig.evictions).toEqual([]);
});

test('a final request has an actor only when it is deleted after a time', () => {
  const kept = requestRegistryRig();
  kept.observe(EVICTED);
  expect([actorsIn(kept), kept.registry.counts()]).toEqual([0, {}]);
  const deleted = requestRegistryRig({ ttlMs: 1000 });
  deleted.observe(EVICTED);
  expect(actorsIn(deleted)).toBe(1);
});

test('a request that becomes final during a write keeps its actor until the answer', async () => {
  const rig = requestRegistryRig();
  rig.observe(observedRequest());
  await rig.time.advance(100);
  expect(rig.writes).toHaveLength(1);
  rig.observe(EVICTED);
  expect(actorsIn(rig)).toBe(1);
  await rig.time.advance(1000);
  expect(actorsIn(rig)).toBe(0);
  expect(await rig.series('tidegate_eviction_requests{state="ended"}'))
    .toEqual(['tidegate_eviction_requests{state="ended"} 0']);
});

test('ER-21: one that becomes final during a write keeps its actor for its time to live', async () => {
  const rig = requestRegistryRig({ ttlMs: 60_000 });
  rig.observe(observedRequest());
  await rig.time.advance(100);
  rig.observe(EVICTED);
  await rig.time.advance(30_000);
  expect([actorsIn(rig), rig.writes.length]).toEqual([1, 1]);
  await rig.time.advance(40_000);
  expect(rig.writes.at(-1)?.write).toEqual({ write: 'remove' });
});

// A requester deletes the request as soon as it sees its end: before this process has its answer.
test('a request that is deleted before the answer to a write has its Event', async () => {
  const rig = requestRegistryRig({ answer: 'Written' });
  rig.observe(observedRequest());
  await rig.time.advance(100);
  expect(rig.writes).toHaveLength(1);
  rig.remove(observedRequest());
  expect([actorsIn(rig), rig.notes]).toEqual([0, []]);
  await rig.time.advance(1000);
  expect(rig.notes.map(({ reason }) => reason)).toEqual(['InterceptorActive']);
  expect(rig.writes).toHaveLength(1);
});

test('the pod of a request is followed by each of its changes', async () => {
  const rig = requestRegistryRig();
  rig.observe(observedRequest({ status: B_ACTIVE }));
  await rig.time.settle();
  const pods = () =>
    [...rig.registry.actors()].map((actor) => actor.getSnapshot().context.facts.pod?.uid ?? null);
  expect(pods()).toEqual([POD]);
  rig.putPod({ uid: 'another' });
  expect(pods()).toEqual(['another']);
  rig.putPod({});
  rig.removePod({ isSeen: false });
  rig.listPods();
  expect(pods()).toEqual([null]);
});

test('a pod that has left its request without a change is not observed again', async () => {
  const rig = requestRegistryRig();
  rig.observe(observedRequest({ status: B_ACTIVE }));
  await rig.time.settle();
  let snapshots = 0;
  for (const actor of rig.registry.actors()) actor.subscribe(() => void (snapshots += 1));
  rig.putPod({});
  rig.listPods();
  expect(snapshots).toBe(0);
});

test('the status of an eviction shows what holds the pod back, and not that it leaves', async () => {
  const rig = await evicting();
  const progress = () =>
    [...rig.registry.actors()].map((actor) => actor.getSnapshot().context.progress);
  rig.refuse(3);
  expect(progress()).toEqual([{ refusals: 3, blocker: 'Budget "b"' }]);
  rig.refuse(3, 'WaitingForTurn');
  expect(progress()).toEqual([{ refusals: 3, blocker: '' }]);
  rig.refuse(3, 'Terminating');
  expect(progress()).toEqual([{ refusals: 3, blocker: '' }]);
});

test('ER-55: the interceptors of a pod without any are the defaults of the moment', async () => {
  const { time, observe, putPod, writes } = requestRegistryRig({
    defaultsFor: ({ name }) => name === 'p-1' ? ['surge.tidegate.dev'] : [],
  });
  putPod({ annotation: '' });
  observe(observedRequest());
  await time.settle();
  const [first] = writes;
  expect(first?.write).toMatchObject({
    write: 'setStatus',
    status: { targets: ['surge.tidegate.dev', IMPERATIVE] },
  });
});

test('ER-55: a pod that is observed after its request has the defaults, too', async () => {
  const { time, observe, putPod, removePod, writes } = requestRegistryRig({
    defaultsFor: () => ['surge.tidegate.dev'],
  });
  removePod();
  observe(observedRequest());
  await time.settle();
  putPod({ annotation: '' });
  await time.advance(1500);
  expect(writes.map(({ write }) => write)).toMatchObject([
    { write: 'setStatus', unlessPodExists: true },
    { write: 'setStatus', status: { targets: ['surge.tidegate.dev', IMPERATIVE] } },
  ]);
});

test('ER-55: a request of Kubernetes itself has no defaults', async () => {
  const { time, observe, putPod, writes } = requestRegistryRig({
    defaultsFor: () => ['surge.tidegate.dev'],
  });
  putPod({ annotation: '' });
  observe(joined({ requests: [rawNativeRequest('nodes.example.com/drain')] }));
  await time.settle();
  expect(writes.map(({ write }) => write)).toMatchObject([
    { write: 'setStatus', status: { targets: [IMPERATIVE] } },
  ]);
});

/** B is active and has reported so many seconds after the creation. */
const reported = (heartbeatTime: number) =>
  observedRequest({
    ...version(`${heartbeatTime}`),
    status: statusWith({
      active: ACTOR_B,
      interceptors: [entry(ACTOR_B, { startTime: 0, heartbeatTime })],
    }),
  });

test('ER-34: a heartbeat of the future takes nothing from the one that counts', async () => {
  const { time, observe, writes } = requestRegistryRig();
  const reasons = () => [
    ...new Set(
      writes.flatMap(({ write }) =>
        write.write === 'setStatus' ? write.notes.map(({ reason }) => reason) : []
      ),
    ),
  ];
  await time.advance(1_190_000);
  observe(reported(1190));
  await time.advance(180_000);
  observe(reported(1385));
  await time.advance(60_000);
  expect(reasons()).toEqual([]);
  observe(reported(9000));
  await time.advance(1_100_000);
  expect(reasons()).toEqual(['InterceptorSilent']);
  await time.advance(900_000);
  expect(reasons()).toEqual(['InterceptorSilent', 'InterceptorTimedOut', 'InterceptorActive']);
});

test('the time of an interceptor begins when the turn to write has come', async () => {
  const { time, observe, writes } = requestRegistryRig({ answer: 'Refused' });
  const many = Array.from({ length: 33 }, (_, index) => ({
    ...observedRequest(),
    uid: uid(`u-${index}`),
  }));
  for (const one of many) observe(one);
  await time.settle();
  expect(writes).toHaveLength(32);
  await time.advance(1500);
  const last = writes.findLast(({ request }) => request.uid === 'u-32');
  expect(last?.write).toMatchObject({
    write: 'setStatus',
    status: { starts: { [ACTOR_B]: CREATED_MS + 1000 } },
  });
});
