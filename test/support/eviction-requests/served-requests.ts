/**
 * The role evictions on a real API server, and the requesters and interceptors that write beside
 * it. Must be called inside a test, with which it ends.
 */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect, onTestFinished } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { evictionRequestsRole } from '../../../src/actors/eviction-requests/eviction-requests-role.ts';
import { DefaultInterceptors } from '../../../src/actors/eviction-requests/default-interceptors.ts';
import { drainRequests } from '../../../src/actors/eviction-requests/drain-requests.ts';
import { startPodEvictions } from '../../../src/actors/pod-evictions/pod-evictions.ts';
import { projectNode } from '../../../src/domain/cluster-node.ts';
import { projectBudget } from '../../../src/domain/drain/budget.ts';
import { projectPod } from '../../../src/domain/drain/pod.ts';
import type { EvictionMode } from '../../../src/domain/eviction-requests/drain-requester.ts';
import { objectKey, uid } from '../../../src/domain/ids.ts';
import type { EvictionsApiOption } from '../../../src/domain/native-evictions/evictions-api.ts';
import { sharedInformers } from '../../../src/actors/informers/shared-informers.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { INTERCEPTORS_ANNOTATION } from '../../../src/domain/eviction-requests/interceptor-list.ts';
import type { InterceptorTiming } from '../../../src/domain/eviction-requests/interceptor-deadline.ts';
import { type JsonRecord, listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import type { Time } from '../../../src/domain/time.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { evictionRequestsLayer } from '../../../src/effects/eviction-requests.ts';
import { KubeApi } from '../../../src/effects/kube-api.ts';
import { kubeConnection } from '../../../src/effects/kube-connection.ts';
import { servingGatesLayer } from '../../../src/effects/serving-gates.ts';
import { podEvictionApiLayer } from '../../../src/effects/pod-eviction-api.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { applyCall } from '../../../src/effects/server-side-apply.ts';
import { writeBudget } from '../../../src/effects/write-budget.ts';
import { makeWriteGate, WriteGate } from '../../../src/effects/write-gate.ts';
import { type ClusterClient, nameOf, uidOf } from '../api/cluster-client.ts';
import { fileSource } from '../api/live-environment.ts';
import type { Testbed } from '../api/testbed.ts';
import { eventually } from '../eventually.ts';
import { TIMING } from './request-fixture.ts';

const telemetry = silentTelemetry;
const GROUP_VERSION = 'lifecycle.tidegate.dev/v1alpha1';

/** The collection of requests in the namespace `default`. */
export const REQUESTS = `/apis/${GROUP_VERSION}/namespaces/default/evictionrequests`;
const PODS = '/api/v1/namespaces/default/pods';

/** A connection as the user of a kubeconfig. */
export const connected = (kubeconfig: string) => {
  const gate = makeWriteGate(realTime);
  gate.openUntil(Number.POSITIVE_INFINITY);
  const source = fileSource(kubeconfig);
  const connection = Layer.orDie(kubeConnection({ source, version: 'test', telemetry }));
  const servers = Layer.merge(connection, Layer.succeed(WriteGate, gate));
  const writes = Layer.provideMerge(writeBudget({ qps: 200, burst: 400, telemetry }), servers);
  return ManagedRuntime.make(
    Layer.mergeAll(podEvictionApiLayer(telemetry), servingGatesLayer, evictionRequestsLayer).pipe(
      Layer.provideMerge(writes),
      Layer.provideMerge(clockLayer(realTime)),
    ),
  );
};

/** How the role serves. */
interface ServingOptions {
  /** The clock of the role; its requests follow the real one. */
  readonly time?: Time;
  readonly timing?: InterceptorTiming;
  readonly ttlMs?: number | null;
  readonly kubeconfig?: string;
  readonly api?: EvictionsApiOption;
}

/**
 * Starts the role as the leader, as the administrator unless it is another user; the notes are
 * those that it records as Events.
 */
export const serveRequests = (
  bed: Pick<Testbed, 'kubeconfig'>,
  options: ServingOptions = {},
) => {
  const served = roleOf(bed, options);
  served.begin();
  return served;
};

/** The same after the role has looked for the API that serves them. */
export const serveChosenRequests = async (
  bed: Pick<Testbed, 'kubeconfig'>,
  options: ServingOptions = {},
) => {
  const served = roleOf(bed, options);
  const start = await served.role.discover?.();
  served.begin();
  return { ...served, start };
};

/** The role, which has not begun. */
const roleOf = (
  bed: Pick<Testbed, 'kubeconfig'>,
  { time = realTime, timing = TIMING, ttlMs = null, kubeconfig, api = 'auto' }: ServingOptions,
) => {
  const runtime = connected(kubeconfig ?? bed.kubeconfig);
  const environment = makeActorEnvironment({ time, runtime, telemetry, firstSeed: 1 });
  const informers = sharedInformers(environment);
  const notes: EventNote[] = [];
  const role = evictionRequestsRole(environment, { policy: { timing, ttlMs, api } }, {
    informers,
    record: (note) => notes.push(note),
    recordOnLease: () => {},
  });
  const stop = async (): Promise<void> => {
    await role.stop();
    informers.stop();
    await runtime.dispose();
  };
  let stopped: Promise<void> | undefined;
  const stopOnce = (): Promise<void> => stopped ??= stop();
  onTestFinished(stopOnce);
  const begin = (): void => {
    informers.start();
    // As the operator: the role does not lead before its lists are complete.
    void Promise.all(role.informers.map(({ whenSynced }) => whenSynced)).then(() => {
      if (stopped === undefined) role.onLeading();
    });
  };
  return { notes, role, begin, stop: stopOnce };
};

/**
 * Starts a drain that asks by EvictionRequest, with the role evictions in the same process; the
 * notes are those that both record as Events.
 */
export const askingDrain = async (
  bed: Pick<Testbed, 'kubeconfig'>,
  { mode = 'auto', api = 'auto' }: {
    readonly mode?: EvictionMode;
    readonly api?: EvictionsApiOption;
  } = {},
) => {
  const runtime = connected(bed.kubeconfig);
  const environment = makeActorEnvironment({ time: realTime, runtime, telemetry, firstSeed: 1 });
  const informers = sharedInformers(environment);
  const notes: EventNote[] = [];
  const context = {
    informers,
    record: (note: EventNote) => void notes.push(note),
    recordOnLease: () => {},
  };
  const pods = informers.collection({ id: 'pods', path: '/api/v1/pods', project: projectPod });
  const nodes = informers.collection({ id: 'nodes', path: '/api/v1/nodes', project: projectNode });
  const budgets = informers.collection({
    id: 'poddisruptionbudgets',
    path: '/apis/policy/v1/poddisruptionbudgets',
    project: projectBudget,
  });
  const defaults = new DefaultInterceptors({ names: [], pods, budgets });
  const requested = drainRequests(environment, context, { mode, api, pods, nodes });
  const evictions = startPodEvictions(environment, {
    pods,
    nodes,
    budgets,
    requested: requested?.requesters,
  });
  const role = evictionRequestsRole(environment, {
    policy: { timing: TIMING, ttlMs: null, api },
    drains: { evictions, pods, defaults },
  }, context);
  onTestFinished(async () => {
    await Promise.all([requested?.requesters.stop(), role.stop()]);
    await evictions.stop();
    informers.stop();
    await runtime.dispose();
  });
  const start = await requested?.discover();
  await role.discover?.();
  informers.start();
  await Promise.all([pods, nodes, budgets, ...(requested?.informers() ?? [])]
    .map(({ whenSynced }) => whenSynced));
  role.onLeading();
  requested?.requesters.onLeading();
  return {
    start,
    notes,
    evictions,
    /** The drain wants this pod to leave. */
    want: async (pod: JsonRecord): Promise<void> => {
      const cached = await eventually(() => {
        const found = pods.get(objectKey(nameOf(pod), 'default'));
        if (found?.uid === uidOf(pod)) return Promise.resolve(found);
        throw new Error('not observed');
      }, { what: 'the pod is observed', everyMs: 50 });
      evictions.want(cached, {
        node: cached.node,
        owner: 'reclaim',
        deadlineMonotonicMs: null,
        drainSinceMs: realTime.monotonic(),
        podsLeft: () => 1,
      });
    },
    /** The drain is cancelled. */
    cancel: (pod: JsonRecord) => evictions.withdraw(uid(uidOf(pod)), 'reclaim'),
  };
};

/** One writer with its field manager. */
export const writers = (bed: Testbed) => {
  const runtime = connected(bed.kubeconfig);
  onTestFinished(() => runtime.dispose());
  const apply = async (path: string, object: JsonRecord, fieldManager: string): Promise<void> => {
    const call = applyCall(path, object, { fieldManager, force: true });
    const answer = await runtime.runPromise(
      Effect.flatMap(KubeApi, (api) => api.call({ ...call, timeoutMs: 60_000 })),
    );
    if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  };
  const identified = (pod: JsonRecord) => ({
    apiVersion: GROUP_VERSION,
    kind: 'EvictionRequest',
    metadata: { name: uidOf(pod) },
  });
  const pathOf = (pod: JsonRecord): string => `${REQUESTS}/${uidOf(pod)}`;
  return {
    /** The requester asks that the pod leaves, or asks no more. */
    request: (
      pod: JsonRecord,
      requester: string,
      { isWanted = true, manager = requester }: {
        readonly isWanted?: boolean;
        readonly manager?: string;
      } = {},
    ) =>
      apply(pathOf(pod), {
        ...identified(pod),
        spec: {
          target: { pod: { name: nameOf(pod), uid: uidOf(pod) } },
          requesters: isWanted ? [{ name: requester }] : [],
        },
      }, manager),
    /** The interceptor reports. */
    report: (pod: JsonRecord, name: string, report: JsonRecord) =>
      apply(`${pathOf(pod)}/status`, {
        ...identified(pod),
        status: { interceptors: [{ name, ...report }] },
      }, name),
  };
};

/** A pod without a node, with these interceptors. */
export const createPod = async (
  cluster: ClusterClient,
  name: string,
  interceptors: readonly string[] = [],
): Promise<JsonRecord> => {
  const { status, body } = await cluster.call('POST', PODS, {
    metadata: {
      name,
      labels: { app: name },
      annotations: { [INTERCEPTORS_ANNOTATION]: interceptors.join(',') },
    },
    spec: {
      containers: [{ name: 'c', image: 'none' }],
      // Nothing else has to exist for it.
      automountServiceAccountToken: false,
    },
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body;
};

/** `Evicted=True PodDeleted` and so on, in the order of the types. */
export const conditionsIn = (request: unknown): readonly string[] =>
  listOrEmptyAt(request, 'status', 'conditions')
    .map((one) => `${textAt(one, 'type')}=${textAt(one, 'status')} ${textAt(one, 'reason')}`)
    .toSorted();

/** Waits until the request of a pod is as wanted, and returns it. */
export const untilRequest = async (
  { cluster, pod }: { readonly cluster: ClusterClient; readonly pod: JsonRecord },
  what: string,
  isSo: (request: JsonRecord) => boolean,
): Promise<JsonRecord> =>
  await eventually(async () => {
    const { body } = await cluster.call('GET', `${REQUESTS}/${uidOf(pod)}`);
    if (isSo(body)) return body;
    throw new Error(JSON.stringify(body));
  }, { what, everyMs: 100 });

/** Resolves once these reasons are recorded as Events: the last may follow what it is about. */
export const noted = (
  { notes }: { readonly notes: readonly EventNote[] },
  reasons: readonly string[],
): Promise<void> => expect.poll(() => notes.map(({ reason }) => reason)).toEqual(reasons);
