/** `evictionRequest` on a cluster: one object, its interceptors, and who else deletes it. */
import { Layer, ManagedRuntime } from 'effect';
import { provideEvictionRequest } from '../../../src/actors/eviction-requests/eviction-request-actor.ts';
import type {
  InterceptorReport,
  ObservedRequest,
} from '../../../src/domain/eviction-requests/observed-request.ts';
import { IMPERATIVE_EVICTION } from '../../../src/domain/eviction-requests/qualified-name.ts';
import { evictionRequestsLayer } from '../../../src/effects/eviction-requests.ts';
import type {
  EvictionRequestAct,
  EvictionRequestInput,
} from '../../../src/machines/eviction-request-context.ts';
import type {
  ClusterHarness,
  Moment,
  PathRun,
  PathStep,
  RunEnvironment,
  StepSource,
} from './cluster-harness.ts';
import {
  contentOf,
  hindranceOfVersion,
  observing,
  type OpenRequests,
  openRequests,
  outcomeIn,
} from './eviction-request-objects.ts';
import { hinderWrite, type WriteUnderWay, writeUnderWay } from './write-under-way.ts';

/** The request in the cluster, in the model's terms; null before the start and after its end. */
interface World extends WriteUnderWay<EvictionRequestAct> {
  readonly current: ObservedRequest | null;
}

type Written = Pick<ObservedRequest, 'requesters' | 'labels' | 'status' | 'reports'>;

const NO_REPORT = { startMs: null, heartbeatMs: null, completionMs: null, message: '' };

/** The reports after a write of the status: the starts are the controller's. */
const startedReports = (
  reports: readonly InterceptorReport[],
  { targets, starts }: ObservedRequest['status'],
): readonly InterceptorReport[] =>
  targets.map((name) => ({
    ...(reports.find((one) => one.name === name) ?? { name, ...NO_REPORT }),
    startMs: starts[name] ?? null,
  }));

/** What a server answers to a write that it accepts. */
const written = (current: ObservedRequest, { write }: EvictionRequestAct): Written | undefined => {
  switch (write.write) {
    case 'setStatus':
      return {
        ...current,
        status: write.status,
        reports: startedReports(current.reports, write.status),
      };
    case 'setLabels':
      return { ...current, labels: { ...current.labels, ...write.labels } };
    case 'report':
      return {
        ...current,
        reports: current.reports.map((one) =>
          one.name === IMPERATIVE_EVICTION ? { ...one, ...write.report } : one
        ),
      };
    case 'remove':
      return undefined;
  }
};

const hindranceOfAnswer = ({ current, asked }: World, moment: Moment): string | undefined => {
  const outcome = outcomeIn(moment);
  if (outcome?._tag !== 'Written') return undefined;
  if (current === null) return 'a deleted request cannot be written';
  if (asked?.write.write === 'setStatus' && isStale(asked, current)) {
    return 'a status is written on the version that it was decided on';
  }
  const result = asked === null ? undefined : written(current, asked);
  return result !== undefined && contentOf(result) === contentOf(outcome.current)
    ? undefined
    : 'a server answers with what was written';
};

const isStale = ({ request }: EvictionRequestAct, current: ObservedRequest): boolean =>
  request.resourceVersion !== current.resourceVersion;

const hindranceOfObservation = ({ current }: World, moment: Moment): string | undefined => {
  const seen = observing(moment);
  if (seen === undefined) return undefined;
  if (current === null) return 'a recreated request has another UID';
  return hindranceOfVersion(current, seen);
};

const follows: ClusterHarness<World>['follows'] = (world, step) => {
  const { asked } = world;
  let { current, stale } = world;
  const { event } = step;
  if (event.type === 'xstate.init') {
    current = (event['input'] as EvictionRequestInput).request;
  }
  const outcome = outcomeIn(step);
  if (outcome?._tag === 'Written') current = outcome.current;
  if (outcome?._tag === 'Absent' || event.type === 'request.vanished') {
    current = null;
    stale = true;
  }
  current = observing(step) ?? current;
  return {
    current,
    ...writeUnderWay({ asked, stale }, step, (input) => input as EvictionRequestAct),
  };
};

const runOf = async (
  environment: RunEnvironment,
  requests: OpenRequests,
  drawn: EvictionRequestInput,
): Promise<PathRun<World>> => {
  const { names, services } = environment;
  const runtime = ManagedRuntime.make(Layer.provide(evictionRequestsLayer, services));
  const ignore = (): void => {};
  const request = await requests.put(drawn.request, { anew: false });
  names.match(request, drawn.request);
  return {
    machine: provideEvictionRequest(
      runtime,
      {
        now: () => drawn.nowMs,
        requestSlot: ignore,
        recordRefused: ignore,
        recordFailing: ignore,
        wantEviction: ignore,
        releaseEviction: ignore,
        onWritten: ignore,
      },
      (write) => write,
    ),
    input: { ...drawn, request },
    arrange: async (pathStep: PathStep<World>): Promise<StepSource> => {
      const outcome = outcomeIn(pathStep);
      return await hinderWrite(environment, pathStep, outcome) ?? 'server';
    },
    observe: async (pathStep) => {
      const { event, world } = pathStep;
      const seen = observing(pathStep);
      if (seen !== undefined) {
        const anew = world.current?.resourceVersion !== seen.resourceVersion;
        const live = await requests.put(seen, { anew });
        names.match(live, seen);
        return { event: { ...event, request: live }, by: 'watch' };
      }
      if (event.type !== 'request.vanished') return { event, by: 'word' };
      const isThere = world.current !== null;
      if (isThere) await requests.remove(drawn.request.name);
      return { event, by: isThere ? 'watch' : 'hand' };
    },
    stop: async () => {
      await runtime.dispose();
      await requests.remove(drawn.request.name);
    },
  };
};

/** The harness of `evictionRequest`. */
export const evictionRequestHarness: ClusterHarness<World> = {
  world: { current: null, asked: null, stale: false },
  limit: 1500,
  hindrance: (world, moment) =>
    hindranceOfAnswer(world, moment) ?? hindranceOfObservation(world, moment),
  follows,
  open: async (environment) => {
    const requests = await openRequests(environment, 'blueberry');
    return {
      begin: (run, input) => runOf(run, requests, input as EvictionRequestInput),
      close: requests.close,
    };
  },
};
