/**
 * The registry of EvictionRequests over lists, pods and a dispatcher of the test, on simulated
 * time. It leads, and knows one pod and no request.
 */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { Subject } from 'rxjs';
import type { EventNote } from '../../../src/api/event-note.ts';
import type { PodEvictionStatus } from '../../../src/actors/pod-evictions/pod-evictions.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import {
  EvictionRequestRegistry,
  type EvictionRequestsOptions,
} from '../../../src/actors/eviction-requests/eviction-requests.ts';
import { type DrainPod, projectPod } from '../../../src/domain/drain/pod.ts';
import type { ObservedRequest } from '../../../src/domain/eviction-requests/observed-request.ts';
import type { RequestWrite } from '../../../src/domain/eviction-requests/request-writes.ts';
import {
  type InterceptedPod,
  projectInterceptedPod,
} from '../../../src/domain/eviction-requests/target-pod.ts';
import type { Fact } from '../../../src/domain/facts.ts';
import type { ObjectKey } from '../../../src/domain/ids.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { EvictionRequests } from '../../../src/effects/eviction-requests.ts';
import { liveTelemetry } from '../../../src/observability/live-telemetry.ts';
import { makeMetrics } from '../../../src/observability/metrics.ts';
import { simulatedTime } from '../time/simulated-time.ts';
import { CREATED_MS, type PodTraits, rawPod, TIMING } from './request-fixture.ts';

const podsFrom = (traits: PodTraits) => {
  const [drained, intercepted] = [
    projectPod(rawPod(traits)),
    projectInterceptedPod(rawPod(traits)),
  ];
  if (drained === undefined || intercepted === undefined) throw new Error('No pod');
  return { drained, intercepted };
};

/** What differs from a leader whose lists are complete. */
export interface RequestRegistryOptions
  extends Partial<Pick<EvictionRequestsOptions, 'ttlMs' | 'defaultsFor'>> {
  /** It does not lead yet, and its lists are not complete. */
  readonly isNew?: boolean;
  /** How every write ends, after a second. */
  readonly answer?: 'Fault' | 'Refused' | 'Written';
}

/** Creates it. */
export const requestRegistryRig = (
  { isNew = false, ttlMs = null, answer = 'Fault', ...options }: RequestRegistryOptions = {},
) => {
  const metrics = makeMetrics();
  const telemetry = liveTelemetry({ log: () => {} }, metrics);
  const time = simulatedTime(CREATED_MS);
  const writes: { readonly request: ObservedRequest; readonly write: RequestWrite }[] = [];
  const layer = Layer.succeed(EvictionRequests, {
    choose: () => Effect.succeed({ api: 'tidegate', isServed: true }),
    areServed: Effect.succeed(true),
    access: Effect.succeed('Granted' as const),
    ask: () => Effect.succeed({ _tag: 'Fault', why: 'away' } as const),
    write: (request, write) => {
      writes.push({ request, write });
      const outcome = answer === 'Written'
        ? { _tag: answer, current: request } as const
        : { _tag: answer, why: 'away' } as const;
      return Effect.delay(Effect.succeed(outcome), 1000);
    },
  });
  const runtime = ManagedRuntime.make(Layer.merge(layer, clockLayer(time)));
  const environment = makeActorEnvironment({ time, runtime, telemetry, firstSeed: 1 });
  const { drained, intercepted } = podsFrom({});
  const requestFacts = new Subject<Fact<ObservedRequest>>();
  const podFacts = new Subject<Fact<DrainPod>>();
  const changes = new Subject<string>();
  const requests = new Map<string, ObservedRequest>();
  const pods = new Map<ObjectKey, DrainPod>([[drained.key, drained]]);
  const registered = new Map<ObjectKey, InterceptedPod>([[intercepted.key, intercepted]]);
  const progress: { refusals: number; reason: PodEvictionStatus['reason'] } = {
    refusals: 0,
    reason: 'BlockedByBudget',
  };
  const evictions: string[] = [];
  const notes: EventNote[] = [];
  const registry = new EvictionRequestRegistry(environment, {
    ...options,
    timing: TIMING,
    ttlMs,
    requests: { facts: requestFacts, values: () => requests.values() },
    pods: { facts: podFacts, get: (key) => pods.get(key) },
    registrations: { get: (key) => registered.get(key), values: () => registered.values() },
    evictions: {
      want: ({ name }, { node, owner }) => void evictions.push(`want ${name} ${node} ${owner}`),
      withdraw: (pod, owner) => void evictions.push(`withdraw ${pod} ${owner}`),
      statusOf: () => ({
        ...progress,
        text: 'Budget "b"',
        subject: 'blueberry/b',
        state: 'queued',
        accepted: false,
        inFlight: false,
        noSlotMs: 0,
      }),
      changes,
    },
    record: (note) => void notes.push(note),
  });
  const listPods = (): void => podFacts.next({ _tag: 'Listed', objects: [...pods.values()] });
  const list = (...all: readonly ObservedRequest[]): void => {
    requests.clear();
    for (const one of all) requests.set(one.uid, one);
    requestFacts.next({ _tag: 'Listed', objects: all });
  };
  if (!isNew) {
    registry.onLeading();
    listPods();
    list();
  }
  return {
    time,
    registry,
    /** What was asked of the dispatcher, in order. */
    evictions,
    /** What was written, in order. */
    writes,
    /** Its Events, in order. */
    notes,
    observe: (request: ObservedRequest): void => {
      requests.set(request.uid, request);
      requestFacts.next({ _tag: 'Present', object: request });
    },
    /** A complete list of requests, which may lack some. */
    list,
    listPods,
    remove: (last: ObservedRequest): void => {
      requests.delete(last.uid);
      requestFacts.next({ _tag: 'Absent', key: last.key, last });
    },
    /** The pod changes, or another one takes its name. */
    putPod: (traits: PodTraits): void => {
      const next = podsFrom(traits);
      pods.set(drained.key, next.drained);
      registered.set(drained.key, next.intercepted);
      podFacts.next({ _tag: 'Present', object: next.drained });
    },
    /** It is gone; without a fact, as long as no watch has shown it. */
    removePod: ({ isSeen = true } = {}): void => {
      registered.clear();
      pods.clear();
      if (isSeen) podFacts.next({ _tag: 'Absent', key: drained.key, last: drained });
    },
    /** The dispatcher has evictions of it refused, or reports why it waits. */
    refuse: (refusals: number, reason = progress.reason): void => {
      Object.assign(progress, { refusals, reason });
      changes.next('z');
    },
    /** Whether it follows requests, pods and evictions. */
    follows: () => [requestFacts, podFacts, changes].map(({ observed }) => observed),
    /** The series whose name begins so. */
    series: async (prefix: string) =>
      (await metrics.text()).split('\n').filter((line) => line.startsWith(prefix)),
  };
};
