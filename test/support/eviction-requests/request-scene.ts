/**
 * One pod and its EvictionRequest on a real API server, with the role evictions, requesters and
 * interceptors. Must be called inside a test, with which it ends.
 */
import { INTERCEPTORS_ANNOTATION } from '../../../src/domain/eviction-requests/interceptor-list.ts';
import type { InterceptorTiming } from '../../../src/domain/eviction-requests/interceptor-deadline.ts';
import { type JsonRecord, recordAt } from '../../../src/domain/json.ts';
import { rfc3339Seconds } from '../../../src/domain/time.ts';
import { nameOf, uidOf } from '../api/cluster-client.ts';
import { freshCluster } from '../api/fresh-cluster.ts';
import type { Testbed } from '../api/testbed.ts';
import { DRAIN } from './request-fixture.ts';
import { forwardedTime } from '../time/forwarded-time.ts';
import { activeIn } from './request-reading.ts';
import { conditionsIn, REQUESTS, serveRequests, untilRequest, writers } from './served-requests.ts';

const PODS = '/api/v1/namespaces/default/pods';
/** Far enough apart that a slow machine reaches none of them before a test puts its clock there. */
export const TIMED: InterceptorTiming = { deadlineMs: 120_000, warningMs: 60_000, skewMs: 10_000 };

let scenes = 0;

/** What differs from a pod without interceptors. */
export interface SceneTraits {
  readonly interceptors?: readonly string[];
  readonly metadata?: JsonRecord;
  readonly spec?: JsonRecord;
  readonly timing?: InterceptorTiming;
  /** Default: the role serves from the start. */
  readonly isServed?: boolean;
}

const podOf = (name: string, { interceptors = [], metadata, spec }: SceneTraits): JsonRecord => ({
  metadata: {
    name,
    labels: { app: name },
    annotations: { [INTERCEPTORS_ANNOTATION]: interceptors.join(',') },
    ...metadata,
  },
  spec: {
    containers: [{ name: 'c', image: 'none' }],
    // Nothing else has to exist for it.
    automountServiceAccountToken: false,
    ...spec,
  },
});

/** Creates the pod, and serves its request when there is one. */
export const requestScene = async (bed: Testbed, traits: SceneTraits = {}) => {
  const { timing, isServed = true } = traits;
  const cluster = await freshCluster(bed);
  await cluster.clear(REQUESTS);
  const time = forwardedTime();
  const served = { time, ...(timing === undefined ? {} : { timing }) };
  const role = isServed ? serveRequests(bed, served) : undefined;
  const { request, report } = writers(bed);
  const now = (): string => rfc3339Seconds(time.now());
  const create = async (object: JsonRecord): Promise<JsonRecord> => {
    const { status, body } = await cluster.call('POST', PODS, object);
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body;
  };
  const name = `p-${scenes += 1}`;
  const pod = await create(podOf(name, traits));
  const path = `${REQUESTS}/${uidOf(pod)}`;
  const podPath = `${PODS}/${name}`;
  const until = (what: string, isSo: (one: JsonRecord) => boolean): Promise<JsonRecord> =>
    untilRequest({ cluster, pod }, what, isSo);
  return {
    cluster,
    pod,
    path,
    podPath,
    notes: role?.notes ?? [],
    /** The time of the role, RFC 3339. */
    now,
    /** Puts the clock of the role forward. */
    forward: time.forward,
    /**
     * Resolves when the role has acted on all that was written before: a pod that is made now has
     * been evicted by request.
     */
    caughtUp: async (): Promise<void> => {
      const probe = await create(podOf(`p-${scenes += 1}`, {}));
      await request(probe, DRAIN);
      const what = 'the role to be where the test is';
      await untilRequest(
        { cluster, pod: probe },
        what,
        (one) => conditionsIn(one).includes('Evicted=True PodDeleted'),
      );
    },
    stop: async (): Promise<void> => await role?.stop(),
    serve: () => serveRequests(bed, served),
    join: (requester = DRAIN): Promise<void> => request(pod, requester),
    leave: (requester = DRAIN): Promise<void> => request(pod, requester, { isWanted: false }),
    report: (interceptor: string, fields: JsonRecord): Promise<void> =>
      report(pod, interceptor, fields),
    /** The interceptor reports that it has finished. */
    complete: (interceptor: string): Promise<void> =>
      report(pod, interceptor, { heartbeatTime: now(), completionTime: now() }),
    until,
    untilActive: (interceptor: string): Promise<JsonRecord> =>
      until(`${interceptor} is active`, (one) => activeIn(one) === interceptor),
    /** The request once it has a final condition. */
    untilFinal: (condition: string): Promise<JsonRecord> =>
      until(condition, (one) => conditionsIn(one).includes(condition)),
    stored: async (): Promise<JsonRecord> => (await cluster.call('GET', path)).body,
    /** 200, or 404 when it is gone. */
    podStatus: async (): Promise<number> => (await cluster.call('GET', podPath)).status,
    removePod: async (): Promise<void> => {
      await cluster.call('DELETE', podPath, { gracePeriodSeconds: 0 });
    },
    /** Another pod of the same name. */
    replacePod: async (): Promise<JsonRecord> => {
      await cluster.call('DELETE', podPath, { gracePeriodSeconds: 0 });
      return await create(podOf(nameOf(pod), traits));
    },
    isTerminating: async (): Promise<boolean> =>
      recordAt((await cluster.call('GET', podPath)).body, 'metadata')?.['deletionTimestamp'] !==
        undefined,
  };
};

/** The scene of a test. */
export type RequestScene = Awaited<ReturnType<typeof requestScene>>;
