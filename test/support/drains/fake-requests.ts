/** EvictionRequests in memory, and the interceptors that pods register. */
import { Effect, Layer } from 'effect';
import type {
  RequesterBasis,
  RequesterWrite,
} from '../../../src/domain/eviction-requests/drain-requester.ts';
import type {
  ControlledStatus,
  ObservedRequest,
} from '../../../src/domain/eviction-requests/observed-request.ts';
import type { InterceptedPod } from '../../../src/domain/eviction-requests/target-pod.ts';
import { type ObjectKey, objectKey, resourceVersion, uid } from '../../../src/domain/ids.ts';
import type { WriteOutcome } from '../../../src/domain/object-write.ts';
import type { Time } from '../../../src/domain/time.ts';
import { EvictionRequests } from '../../../src/effects/eviction-requests.ts';
import { fakeCollection } from './fake-collection.ts';

const NAMESPACE = 'ns';
const WATCH_MS = 2;

const UNSERVED: ControlledStatus = {
  observedGeneration: 0,
  conditions: [],
  targets: [],
  active: null,
  processed: [],
  starts: {},
};

/** An API server that has only EvictionRequests. */
export const fakeRequests = (time: Time) => {
  const stored = new Map<ObjectKey, ObservedRequest>();
  const cache = fakeCollection<ObservedRequest>(time, WATCH_MS);
  const writes: string[] = [];
  const interceptors = new Map<ObjectKey, readonly string[]>();
  let at = 0;
  let refusal = '';
  let fault = '';

  const store = (next: ObservedRequest): ObservedRequest => {
    at += 1;
    const one = { ...next, resourceVersion: resourceVersion(`${at}`) };
    stored.set(one.key, one);
    cache.put(one);
    return one;
  };

  const joined = ({ requester, pod }: RequesterBasis): ObservedRequest => {
    const key = objectKey(pod.uid, pod.namespace);
    const known = stored.get(key);
    return store({
      key,
      uid: known?.uid ?? uid(`request-${at}`),
      resourceVersion: resourceVersion('0'),
      namespace: pod.namespace,
      name: pod.uid,
      generation: (known?.generation ?? 0) + 1,
      createdMs: known?.createdMs ?? time.now(),
      deleting: false,
      pod: { name: pod.name, uid: pod.uid },
      requesters: [...new Set([...known?.requesters ?? [], requester])],
      labels: {},
      copiedLabels: [],
      status: known?.status ?? UNSERVED,
      reports: [],
    });
  };

  const written = (
    basis: RequesterBasis,
    { write }: RequesterWrite,
  ): WriteOutcome<ObservedRequest> => {
    const { requester, pod, request } = basis;
    writes.push(`${write} ${pod.name}`);
    if (refusal !== '') return { _tag: 'Refused', why: refusal };
    if (fault !== '') return { _tag: 'Fault', why: fault };
    if (write === 'join') return { _tag: 'Written', current: joined(basis) };
    const known = stored.get(objectKey(pod.uid, pod.namespace));
    if (known === undefined || known.uid !== request?.uid) return { _tag: 'Absent' };
    if (write === 'remove') {
      stored.delete(known.key);
      cache.remove(known);
      return { _tag: 'Absent' };
    }
    const requesters = known.requesters.filter((name) => name !== requester);
    const generation = known.generation + 1;
    return { _tag: 'Written', current: store({ ...known, requesters, generation }) };
  };

  return {
    /** `join p1`, `leave p1` and so on, in order. */
    writes,
    layer: Layer.succeed(EvictionRequests, {
      choose: () => Effect.succeed({ api: 'tidegate', isServed: true }),
      areServed: Effect.succeed(true),
      access: Effect.succeed('Granted' as const),
      write: () => Effect.succeed({ _tag: 'Fault' as const, why: 'no controller' }),
      ask: (basis, write) => Effect.sync(() => written(basis, write)),
    }),
    cache: {
      ...cache.reflector,
      synced: true,
      values: () => [...stored.values()],
    },
    registrations: {
      get: (key: ObjectKey): InterceptedPod | undefined => {
        const names = interceptors.get(key);
        return names === undefined ? undefined : {
          key,
          uid: uid('any'),
          resourceVersion: resourceVersion('1'),
          interceptors: { names, problem: '' },
          grouped: false,
        };
      },
    },
    /** The pod registers interceptors. */
    register: (pod: string, names: readonly string[]) =>
      void interceptors.set(objectKey(pod, NAMESPACE), names),
    /** Every write is refused from now on. */
    refuse: (why: string) => {
      refusal = why;
    },
    /** Every write fails from now on, until it is called with an empty text. */
    fail: (why: string) => {
      fault = why;
    },
    /** Another client deletes the request of a pod. */
    remove: (pod: string): void => {
      for (const one of [...stored.values()].filter(({ pod: { name } }) => name === pod)) {
        stored.delete(one.key);
        cache.remove(one);
      }
    },
    /** The list is complete once more. */
    relist: () => cache.relist(),
    /** Whether anybody follows the requests. */
    isFollowed: cache.isFollowed,
    of: (pod: string): ObservedRequest | undefined =>
      [...stored.values()].find((one) => one.pod.name === pod),
    /** Another writer changes the request of a pod. */
    change: (pod: string, change: (request: ObservedRequest) => Partial<ObservedRequest>) => {
      const known = [...stored.values()].find((one) => one.pod.name === pod);
      if (known === undefined) throw new Error(`No request of ${pod}`);
      store({ ...known, ...change(known) });
    },
  };
};
