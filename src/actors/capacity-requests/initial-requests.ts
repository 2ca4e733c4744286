/**
 * Counts the pods without a CapacityRequest when a process becomes leader, for the
 * `initialRequests` statechart.
 *
 * Promises: `made` resolves when the statechart ends; never before `expect`.
 */
import { map, type Observable, Subject } from 'rxjs';
import type { Telemetry } from '../../api/telemetry.ts';
import type { Uid } from '../../domain/ids.ts';
import { initialRequests, type InitialRequestsEvent } from '../../machines/initial-requests.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { fromStream } from '../actor-logic.ts';
import { actorRegistry } from '../actor-registry.ts';
import { deferredSends } from '../deferred-sends.ts';

/** The pods that demand waits for. */
export interface InitialRequests {
  /** Sets the pods without a request; only the first call counts. */
  readonly expect: (pods: Iterable<Uid>) => void;
  /** The pod has its request now, or needs none, or cannot get one. */
  readonly settle: (pod: Uid) => void;
  readonly made: Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The statechart with the stream of counts and its log line. */
export const provideInitialRequests = (
  counts: Observable<InitialRequestsEvent>,
  { log }: Pick<Telemetry, 'log'>,
): typeof initialRequests =>
  initialRequests.provide({
    actors: { observeRequests: fromStream(() => counts) },
    actions: {
      recordLate: ({ context: { missing } }) =>
        log('warn', 'Pods still lack CapacityRequests; demand is sent without them', { missing }),
    },
  });

/** Starts without any missing request. */
export const startInitialRequests = (environment: ActorEnvironment<never>): InitialRequests => {
  const { promise: made, resolve } = Promise.withResolvers<void>();
  const missing = new Set<Uid>();
  const changes = new Subject<void>();
  const defer = deferredSends(environment.telemetry);
  const registry = actorRegistry<typeof initialRequests, ReadonlySet<Uid>, never>(environment, {
    name: 'initialRequests',
    logic: provideInitialRequests(
      changes.pipe(map(() => ({ type: 'requests.observed', missing: missing.size }))),
      environment.telemetry,
    ),
    keyOf: () => 'pods',
    input: (pods) => ({ missing: pods.size }),
    onSnapshot: (_, snapshot) => {
      if (snapshot.hasTag('settled')) resolve();
    },
  });
  return {
    expect: (pods) => {
      if (registry.has('pods')) return;
      for (const pod of pods) missing.add(pod);
      registry.consider(missing);
    },
    settle: (pod) => {
      if (missing.delete(pod)) defer(() => changes.next());
    },
    made,
    stop: registry.stop,
  };
};
