/** The connections of interceptors and of the role evictions to an embedded cluster. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import type { ClusterRequest } from '../../../packages/embedded-kubernetes/src/api.ts';
import type { Cluster } from '../../../packages/embedded-kubernetes/src/cluster.ts';
import {
  type KubernetesClient,
  KubernetesError,
  type KubernetesRequest,
  type WithoutSurge,
} from '../../../packages/interceptor/mod.ts';
import {
  type ActorEnvironment,
  makeActorEnvironment,
} from '../../../src/actors/actor-environment.ts';
import { evictionRequestsRole } from '../../../src/actors/eviction-requests/eviction-requests-role.ts';
import { interceptorsRole } from '../../../src/actors/interceptors/interceptors-role.ts';
import { nodeAvailabilityRole } from '../../../src/actors/node-availability/node-availability-role.ts';
import type { LocalVolumes } from '../../../src/domain/drain/kept-pods.ts';
import type { EvictionMode } from '../../../src/domain/eviction-requests/drain-requester.ts';
import { DEGRADED_CONDITIONS_DEFAULT } from '../../../src/domain/node-availability/available-node.ts';
import { nodeMaintenanceRole } from '../../../src/actors/node-maintenance/node-maintenance-role.ts';
import type { Role, RoleContext } from '../../../src/actors/role.ts';
import { sharedInformers } from '../../../src/actors/informers/shared-informers.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import { textAt } from '../../../src/domain/json.ts';
import { type Cordons, cordonsLayer } from '../../../src/effects/cordons.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import {
  type EvictionRequests,
  evictionRequestsLayer,
} from '../../../src/effects/eviction-requests.ts';
import { AnswerLost, KubeApi, WatchRefused } from '../../../src/effects/kube-api.ts';
import {
  type NodeAvailabilityApi,
  nodeAvailabilityLayer,
} from '../../../src/effects/node-availability.ts';
import {
  type NodeMaintenances,
  nodeMaintenancesLayer,
} from '../../../src/effects/node-maintenance.ts';
import { type ServingGates, servingGatesLayer } from '../../../src/effects/serving-gates.ts';
import { type PodEvictionApi, podEvictionApiLayer } from '../../../src/effects/pod-eviction-api.ts';
import { writeBudget } from '../../../src/effects/write-budget.ts';
import type { Writes } from '../../../src/effects/writes.ts';
import { makeWriteGate, WriteGate } from '../../../src/effects/write-gate.ts';
import { watchChannel } from '../api/watch-channel.ts';
import { TIMING } from '../eviction-requests/request-fixture.ts';
import type { SimulatedTime } from '../time/simulated-time.ts';

export type Handle = Cluster['handle'];

type RoleEnvironment = ActorEnvironment<
  | (Cordons | EvictionRequests | KubeApi | NodeAvailabilityApi)
  | (NodeMaintenances | PodEvictionApi | ServingGates | Writes)
>;

/** A fault that a test plants: undefined lets the request pass. */
export type Fault = (
  request: KubernetesRequest,
) => 'cut' | { readonly status: number; readonly body?: unknown } | undefined;

/** The headers of a request. */
export const headersOf = (contentType = 'application/json', agent = 'test') => ({
  'content-type': contentType,
  'user-agent': agent,
});

const requestOf = (
  { method, path, body, contentType }: KubernetesRequest,
  agent: string,
): ClusterRequest => ({
  method,
  path,
  headers: headersOf(contentType, agent),
  ...(body === undefined ? {} : { body: JSON.parse(JSON.stringify(body)) }),
});

/** A client of an interceptor, as over a connection. */
export const clientOn = (
  handle: Handle,
  { sent, fault, agent }: {
    readonly sent: KubernetesRequest[];
    readonly fault: Fault;
    readonly agent: string;
  },
): KubernetesClient => ({
  request: async (request) => {
    sent.push(request);
    const planted = fault(request);
    if (planted === 'cut') throw new Error('the connection was cut');
    if (planted !== undefined) return { body: { message: 'planted' }, ...planted };
    const response = await handle(requestOf(request, agent));
    return response._tag === 'Answer'
      ? { status: response.status, body: response.body }
      : { status: 400, body: undefined };
  },
  watch: async function* (path, signal) {
    const response = await handle({ method: 'GET', path, headers: headersOf() });
    if (response._tag === 'Answer') {
      throw new KubernetesError('Unavailable', textAt(response.body, 'message') ?? 'refused');
    }
    const channel = watchChannel();
    const close = response.open({
      lines: channel.push,
      ended: () => channel.end('eof'),
      cut: () => channel.end('cut'),
    });
    const onAbort = (): void => {
      close();
      channel.end('eof');
    };
    signal.addEventListener('abort', onAbort, { once: true });
    for await (const lines of channel.lines) yield* lines;
  },
});

/** The same cluster for the operator. */
const operatorApi = (handle: Handle) =>
  Layer.succeed(KubeApi, {
    call: ({ method, path, query, body, contentType }) =>
      Effect.tryPromise({
        try: async () => {
          const response = await handle({
            method,
            path: `${path}?${new URLSearchParams(query)}`,
            headers: headersOf(contentType, 'tidegate'),
            ...(body === undefined ? {} : { body: JSON.parse(JSON.stringify(body)) }),
          });
          if (response._tag === 'Watch') throw new Error('a watch');
          return { status: response.status, body: response.body };
        },
        catch: (cause) => new AnswerLost({ why: String(cause) }),
      }),
    watch: ({ path, query }) =>
      Effect.gen(function* () {
        const target = `${path}?${new URLSearchParams({ ...query, watch: 'true' })}`;
        const response = yield* Effect.promise(() =>
          handle({ method: 'GET', path: target, headers: headersOf() })
        );
        if (response._tag === 'Answer') {
          return yield* new WatchRefused({ status: response.status, message: '' });
        }
        const channel = watchChannel();
        yield* Effect.acquireRelease(
          Effect.sync(() =>
            response.open({
              lines: channel.push,
              ended: () => channel.end('eof'),
              cut: () => channel.end('cut'),
            })
          ),
          (close) => Effect.sync(close),
        );
        return channel.lines;
      }),
  });

/** What a role is made by, and what it records and logs to. */
interface ServedRole<Made extends Role> {
  readonly make: (environment: RoleEnvironment, context: RoleContext) => Made;
  readonly record?: RoleContext['record'];
  readonly recordOnLease?: RoleContext['recordOnLease'];
  readonly telemetry?: Telemetry;
}

/** Starts a role as the leader; returns how to stop it. */
const serveRole = (
  handle: Handle,
  time: SimulatedTime,
  options: ServedRole<Role>,
): () => Promise<void> => {
  const { role, stop } = startRole(handle, time, options);
  role.onLeading();
  return stop;
};

/** Starts the lists of a role that does not lead yet. */
export const startRole = <Made extends Role>(
  handle: Handle,
  time: SimulatedTime,
  { make, record = () => {}, recordOnLease = () => {}, telemetry = silentTelemetry }: ServedRole<
    Made
  >,
): { readonly role: Made; readonly stop: () => Promise<void> } => {
  const gate = makeWriteGate(time);
  gate.openUntil(Number.POSITIVE_INFINITY);
  const servers = Layer.merge(operatorApi(handle), Layer.succeed(WriteGate, gate));
  const writes = Layer.provideMerge(
    writeBudget({ qps: 200, burst: 400, telemetry: silentTelemetry }),
    servers,
  );
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(
      podEvictionApiLayer(silentTelemetry),
      servingGatesLayer,
      evictionRequestsLayer,
      cordonsLayer(silentTelemetry),
      nodeMaintenancesLayer,
      nodeAvailabilityLayer,
    ).pipe(
      Layer.provideMerge(writes),
      Layer.provideMerge(clockLayer(time)),
    ),
  );
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry,
    firstSeed: 1,
  });
  const informers = sharedInformers(environment);
  const role = make(environment, { informers, record, recordOnLease });
  informers.start();
  const stop = async (): Promise<void> => {
    await role.stop();
    informers.stop();
    await runtime.dispose();
  };
  return { role, stop };
};

/** Starts the role evictions as the leader; returns how to stop it. */
export const serveEvictions = (
  handle: Handle,
  time: SimulatedTime,
  defaultInterceptors: readonly string[] = [],
): () => Promise<void> =>
  serveRole(handle, time, {
    make: (environment, context) =>
      evictionRequestsRole(environment, {
        policy: { timing: TIMING, ttlMs: null, defaultInterceptors },
      }, context),
  });

/** Starts the role interceptors as the leader; returns how to stop it. */
export const serveInterceptors = (
  handle: Handle,
  time: SimulatedTime,
  { withoutSurge = 'evict', telemetry = silentTelemetry }: {
    readonly withoutSurge?: WithoutSurge;
    readonly telemetry?: Telemetry;
  } = {},
): () => Promise<void> =>
  serveRole(handle, time, {
    make: (environment, context) => interceptorsRole(environment, { withoutSurge }, context),
    telemetry,
  });

/** Starts the role maintenance as the leader; returns how to stop it. */
export const serveMaintenance = (
  handle: Handle,
  time: SimulatedTime,
  { record, localVolumes = 'evict', via = 'evictions' }: {
    readonly record: RoleContext['record'];
    readonly localVolumes?: LocalVolumes;
    readonly via?: EvictionMode;
  },
): () => Promise<void> =>
  serveRole(handle, time, {
    make: (environment, context) =>
      nodeMaintenanceRole(environment, {
        policy: { own: null, paused: false, localVolumes, via },
        drains: undefined,
      }, context),
    record,
  });

/** Starts the role availability as the leader; returns how to stop it. */
export const serveAvailability = (
  handle: Handle,
  time: SimulatedTime,
  { stormLimitPercent, ...context }: {
    readonly stormLimitPercent: number;
    readonly record: RoleContext['record'];
    readonly recordOnLease: RoleContext['recordOnLease'];
    readonly telemetry: Telemetry;
  },
): () => Promise<void> =>
  serveRole(handle, time, {
    make: (environment, roleContext) =>
      nodeAvailabilityRole(environment, {
        policy: {
          offlineAfterMs: 60_000,
          degradedAfterMs: 30_000,
          cleanAfterMs: 60_000,
          degradedBy: DEGRADED_CONDITIONS_DEFAULT,
          stormLimitPercent,
        },
        drainPolicy: { own: null, paused: false },
        drains: undefined,
      }, roleContext),
    ...context,
  });
