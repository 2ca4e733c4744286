/**
 * The `demandSync` statechart with the lists that it needs, and what it holds and releases.
 *
 * Promises: follows leadership and the failures of all collections that demand comes from; knows
 * nothing of how demand is built.
 */
import { map, merge, type Observable, of } from 'rxjs';
import { fromPromise, type SnapshotFrom } from 'xstate';
import { REASONS } from '../../api/reasons.ts';
import type { Telemetry } from '../../api/telemetry.ts';
import type { Identity } from '../../domain/facts.ts';
import {
  demandSync,
  type DemandSyncEvent,
  type MissingRequestsObserved,
} from '../../machines/demand-sync.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { deferredSends, fromStream } from '../actor-logic.ts';
import { actorRegistry } from '../actor-registry.ts';
import type { Informer } from '../informers/informer.ts';
import { failureNote } from '../informers/list-failures.ts';

/** A collection that demand comes from. */
export type DemandCollection = Pick<
  Informer<Identity>,
  'id' | 'refollow' | 'failures' | 'failure'
>;

/** The pods whose requests this process writes. */
export interface DemandOfPods {
  /** Pods and, with a selector, namespaces. */
  readonly collections: readonly DemandCollection[];
  /** Sets whether the caches are current, so that requests are written. */
  readonly setCurrent: (current: boolean) => void;
  /** The number of pods without a request, since `setCurrent(true)`. */
  readonly missing: Observable<number>;
}

/** The collections, and who is told. */
export interface DemandSyncOptions {
  readonly requests: DemandCollection;
  /** Undefined: another process writes the requests of pods. */
  readonly pods: DemandOfPods | undefined;
  readonly hold: () => void;
  readonly release: () => void;
}

/** Whether demand is current. */
export interface DemandSync {
  readonly setLeading: (leading: boolean) => void;
  /**
   * Why roll-ups repeat the demand of before, or there are none: a reason with the collections that
   * do not work, if any. Undefined while demand is current, and without the lease.
   */
  readonly heldBecause: () => string | undefined;
  readonly stop: () => Promise<void>;
}

/** Emits the number of pods without a request; none where another process writes requests. */
const missingRequests = (pods: DemandOfPods | undefined): Observable<MissingRequestsObserved> =>
  (pods?.missing ?? of(0)).pipe(map((missing) => ({ type: 'requests.observed', missing })));

/**
 * Lists all again. What failed after its new list was followed, while another one was still
 * listed, is listed once more (WIRE-05).
 */
const refollowAll = async (
  collections: readonly DemandCollection[],
  signal: AbortSignal,
): Promise<void> => {
  const behind = new Set(collections);
  const failures = merge(
    ...collections.map((one) => one.failures.pipe(map(() => one))),
  ).subscribe((one) => behind.add(one));
  while (behind.size > 0 && !signal.aborted) {
    await Promise.all([...behind].map(async (one) => {
      await one.refollow();
      behind.delete(one);
    }));
  }
  failures.unsubscribe();
};

/** The statechart with its actors and actions. */
export const provideDemandSync = (
  { requests, pods, hold, release }: DemandSyncOptions,
  { log }: Pick<Telemetry, 'log'>,
): typeof demandSync =>
  demandSync.provide({
    actors: {
      listRequests: fromPromise(() => requests.refollow()),
      listPods: fromPromise(({ signal }) => refollowAll(pods?.collections ?? [], signal)),
      observeRequests: fromStream(() => missingRequests(pods)),
    },
    actions: {
      holdDemand: () => {
        hold();
        pods?.setCurrent(false);
      },
      writeRequests: () => pods?.setCurrent(true),
      releaseDemand: release,
      recordLate: ({ context: { missing } }) =>
        log('warn', 'Pods still lack CapacityRequests; demand is sent without them', {
          missing: missing ?? 0,
        }),
    },
  });

/** A reason and its sentence, or those of the collections that do not work. */
const holdReason = (
  snapshot: SnapshotFrom<typeof demandSync> | undefined,
  collections: readonly DemandCollection[],
): string | undefined => {
  if (snapshot?.hasTag('waiting') !== true) return undefined;
  const failing = collections.flatMap(({ id, failure }) => {
    const current = failure();
    if (current === undefined) return [];
    return [`${current.reason}: ${failureNote(id, current.problem)}`];
  });
  if (failing.length > 0) return failing.join('; ');
  const reasons = Object.values(snapshot.getMeta()).flatMap((meta) => meta?.reason ?? []);
  return reasons.map((reason) => `${reason}: ${REASONS[reason].sentence}`).join('; ');
};

/** The one entry of the registry, for a restart after a crash. */
interface SyncEntry {
  leading: boolean;
}

const KEY = 'demand';

/** Starts in standby. */
export const startDemandSync = (
  environment: ActorEnvironment<never>,
  options: DemandSyncOptions,
): DemandSync => {
  const defer = deferredSends(environment.telemetry);
  const entry: SyncEntry = { leading: false };
  const registry = actorRegistry<typeof demandSync, SyncEntry, never>(environment, {
    name: 'demandSync',
    logic: provideDemandSync(options, environment.telemetry),
    keyOf: () => KEY,
    input: () => ({}),
    onStart: ({ leading }, actor) => {
      if (leading) actor.send({ type: 'leadership.won' });
    },
    onSnapshot: (_, snapshot) =>
      environment.telemetry.gauge('tidegate_demand_held', snapshot.hasTag('waiting') ? 1 : 0),
  });
  const send = (event: DemandSyncEvent): void => registry.get(KEY)?.send(event);
  const { requests, pods } = options;
  const ofPods = pods?.collections ?? [];
  const collections = [requests, ...ofPods];
  const failures = merge(
    requests.failures.pipe(map(() => ({ type: 'requests.failed' as const }))),
    ...ofPods.map(({ failures }) => failures.pipe(map(() => ({ type: 'pods.failed' as const })))),
  ).subscribe((event) => defer(() => send(event)));
  registry.consider(entry);
  return {
    setLeading: (leading) => {
      entry.leading = leading;
      send({ type: leading ? 'leadership.won' : 'leadership.lost' });
    },
    heldBecause: () => holdReason(registry.get(KEY)?.getSnapshot(), collections),
    stop: () => {
      failures.unsubscribe();
      return registry.stop();
    },
  };
};
