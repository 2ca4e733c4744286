/**
 * Many EvictionRequests on the embedded cluster, their interceptors, and the operator that serves
 * them, on simulated time.
 *
 * Promises: the history is kept at the cluster, from what was stored; it works deadlines out from
 * the objects alone, and not with the code under test.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { ManagedRuntime } from 'effect';
import { parse } from 'yaml';
import { makeCluster } from '../../packages/embedded-kubernetes/src/cluster.ts';
import { makeActorEnvironment } from '../../src/actors/actor-environment.ts';
import { evictionRequestsRole } from '../../src/actors/eviction-requests/eviction-requests-role.ts';
import { startOperator } from '../../src/actors/operator.ts';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import { clusterTime } from '../../src/domain/cluster-time.ts';
import { INTERCEPTORS_ANNOTATION } from '../../src/domain/eviction-requests/interceptor-list.ts';
import { textPool } from '../../src/domain/text-pool.ts';
import { rfc3339Seconds } from '../../src/domain/time.ts';
import { operatorServices } from '../../src/effects/operator-services.ts';
import { nameOf, uidOf } from '../support/api/cluster-connection.ts';
import { DRAIN, TIMING } from '../support/eviction-requests/request-fixture.ts';
import { simulatedTime } from '../support/time/simulated-time.ts';
import { apiLine, passEveryRequest, type Weather } from './api-line.ts';
import { chanceOf, derived } from './chance.ts';
import { processLine } from './process-line.ts';
import { crowdHistory } from './crowd-history.ts';

const GROUP_VERSION = 'lifecycle.tidegate.dev/v1alpha1';
const NAMESPACE = 'shop';
const REQUESTS = `/apis/${GROUP_VERSION}/namespaces/${NAMESPACE}/evictionrequests`;
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
const LEASE = { namespace: 'default', name: 'tidegate' };
const LEASE_TIMES = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2000 };
/** Longer than a process takes to stop. */
const STOP_MS = 60_000;
const SHARED_TEXTS_MAX = 10_000;

const CRDS = new URL('../../charts/tidegate/files/crds/', import.meta.url);

const WEATHER: Weather = {
  outage: false,
  errorShare: 0,
  latencyMs: 15,
  slowList: '',
  slowListMs: 0,
  frameMs: 0,
};

/** How large the crowd is, and how it behaves. */
export interface CrowdOptions {
  readonly requests: number;
  /** Of each pod. */
  readonly interceptors: number;
  /** How often an interceptor reports before it falls silent; undefined: it completes at once. */
  readonly heartbeatsOf: (request: number, interceptor: number) => number | undefined;
  /** One process reports for all requests at the same moment. */
  readonly reportsTogether?: boolean;
  /** The write budget. */
  readonly qps: number;
  readonly burst: number;
}

/**
 * Of five requests one has interceptors that report for a while, and one has some that finish at
 * once; all others are silent.
 */
export const mixedCrowd: CrowdOptions['heartbeatsOf'] = (request, interceptor) => {
  if (request % 5 === 0 && interceptor % 3 === 1) return 3;
  return request % 5 === 1 && interceptor % 3 === 2 ? undefined : 0;
};

/** Between two heartbeats of an interceptor. */
const HEARTBEAT_MS = 180_000;
/** How long an interceptor takes to notice that it is its turn. */
const NOTICE_MS = 300;

const interceptorName = (number: number): string => `i${number}.interceptors.example.com`;

/** A cluster with the CRDs, and how objects come into it. */
const crowdedCluster = (time: ReturnType<typeof simulatedTime>) => {
  const cluster = makeCluster({ time, seed: 1 });
  const send = (method: string, contentType: string) => (path: string, body: unknown) => {
    const response = cluster.answer({
      method,
      path,
      headers: { 'content-type': contentType },
      body,
    });
    if (response._tag !== 'Answer' || response.status >= 300) {
      throw new Error(`${method} ${path}: ${JSON.stringify(response)}`);
    }
    return response.body;
  };
  const create = send('POST', 'application/json');
  for (const file of readdirSync(CRDS).toSorted()) {
    const definition: unknown = parse(readFileSync(new URL(file, CRDS), 'utf8'));
    create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  }
  create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  return { cluster, create, apply: send('PATCH', 'application/apply-patch+yaml') };
};

/** The crowd, before any operator has started. */
export const requestCrowd = (options: CrowdOptions) => {
  const time = simulatedTime();
  const { cluster, create, apply } = crowdedCluster(time);
  const names = Array.from({ length: options.interceptors }, (_, at) => interceptorName(at));
  const numberOf = new Map<string, number>();

  const report = (uid: string, name: string, fields: object): void => {
    const path = `${REQUESTS}/${uid}/status?fieldManager=${name}&force=true`;
    const body = {
      apiVersion: GROUP_VERSION,
      kind: 'EvictionRequest',
      metadata: { name: uid },
      status: { interceptors: [{ name, ...fields }] },
    };
    history.stored(apply(path, body));
  };
  /** Reports so often, and no more once another one is active. */
  const beat = (uid: string, name: string, left: number): void => {
    if (left === 0 || history.activeOf(uid) !== name) return;
    report(uid, name, { heartbeatTime: rfc3339Seconds(time.now()), message: `${left} left` });
    time.schedule(HEARTBEAT_MS, () => beat(uid, name, left - 1));
  };
  const history = crowdHistory(time, {
    deadlineMs: TIMING.deadlineMs,
    onActive: (uid, name) => {
      const at = names.indexOf(name);
      if (at < 0) return;
      const beats = options.heartbeatsOf(numberOf.get(uid) ?? 0, at);
      if (beats === 0) return;
      const together = HEARTBEAT_MS - time.now() % HEARTBEAT_MS;
      time.schedule(options.reportsTogether === true ? together : NOTICE_MS, () => {
        if (beats !== undefined) return beat(uid, name, beats);
        report(uid, name, { completionTime: rfc3339Seconds(time.now()) });
      });
    },
  });

  const processes: { readonly kill: () => void; readonly stop: () => Promise<void> }[] = [];
  const start = (): void => {
    const number = processes.length + 1;
    const line = processLine(time);
    const seen = clusterTime(line.time);
    const chance = chanceOf(derived(1, 100 + number));
    const api = apiLine({
      line,
      world: time,
      handle: cluster.answer,
      interceptor: passEveryRequest,
      weather: WEATHER,
      chance,
      tap: {
        leaves: () => () => {},
        done: (call, answer) => history.written(call, answer),
        arrives: () => {},
      },
      onServerDate: seen.observe,
    });
    const clocks = { wallClock: line.time.now, suspendedMs: line.suspendedMs };
    const { qps, burst } = options;
    const services = operatorServices({
      time: seen,
      seed: derived(1, 200 + number),
      clocks,
      telemetry: silentTelemetry,
      intern: textPool(SHARED_TEXTS_MAX),
      qps,
      burst,
    }, api.layer);
    const world = makeActorEnvironment({
      time: seen,
      runtime: ManagedRuntime.make(services),
      telemetry: silentTelemetry,
      firstSeed: derived(1, 200 + number),
    });
    const operator = startOperator(world, {
      lease: { identity: `process-${number}`, ...LEASE, ...LEASE_TIMES },
      roles: (context) => [
        evictionRequestsRole(world, { policy: { timing: TIMING, ttlMs: null } }, context),
      ],
    });
    const kill = (): void => {
      line.kill();
      api.dropWatches('cut');
    };
    processes.push({
      kill,
      stop: async () => {
        await operator.stop();
        kill();
      },
    });
  };

  return {
    time,
    history,
    /** Creates the pods, and one request for each, at this moment. */
    create: (): void => {
      for (let number = 0; number < options.requests; number += 1) {
        const pod = create(PODS, {
          metadata: {
            name: `pod-${number}`,
            labels: { app: `app-${number % 100}`, 'pod-template-hash': '5d4f8c7b9' },
            annotations: { [INTERCEPTORS_ANNOTATION]: names.join(',') },
          },
          spec: {
            containers: [{ name: 'main', image: 'none' }],
            automountServiceAccountToken: false,
          },
        });
        const uid = uidOf(pod);
        numberOf.set(uid, number);
        const request = create(REQUESTS, {
          apiVersion: GROUP_VERSION,
          kind: 'EvictionRequest',
          metadata: { name: uid },
          spec: { target: { pod: { name: nameOf(pod), uid } }, requesters: [{ name: DRAIN }] },
        });
        history.stored(request);
      }
    },
    start,
    /** Kills the last process, as by SIGKILL. */
    kill: () => processes.at(-1)?.kill(),
    /** Stops it, which takes time. */
    stop: async (): Promise<void> => {
      const stopped = processes.at(-1)?.stop();
      await time.advance(STOP_MS);
      await stopped;
    },
  };
};
