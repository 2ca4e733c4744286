/** `leadership` on a cluster: one Lease, and others who want it. */
import { Clock, Effect, Layer, ManagedRuntime } from 'effect';
import { clockLayer, effectClock } from '../../../src/effects/effect-clock.ts';
import { leadershipActors } from '../../../src/actors/leadership.ts';
import type { Identity } from '../../../src/domain/facts.ts';
import {
  type AcquireOutcome,
  type LeaseRecord,
  leaseRecordOf,
  type ReleaseOutcome,
  type RenewOutcome,
} from '../../../src/domain/lease.ts';
import { identityOf } from '../../../src/domain/object-meta.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { KubeApi } from '../../../src/effects/kube-api.ts';
import { leasesPath } from '../../../src/effects/leases.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { leadership } from '../../../src/machines/leadership.ts';
import { liveEnvironment } from '../../support/api/live-environment.ts';
import { type ObjectFixture, objectFixture } from './object-fixture.ts';
import { observeCollection } from './observed-collection.ts';
import type {
  ClusterHarness,
  Moment,
  PathRun,
  PathStep,
  RunEnvironment,
  Services,
  StepSource,
} from './cluster-harness.ts';
import { loseRequest } from './troubles.ts';

type Outcome = AcquireOutcome | RenewOutcome | ReleaseOutcome;

interface SeenLease extends Identity {
  readonly lease: LeaseRecord;
}

const US = 'us';
const TYPE = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
const PATH = leasesPath('default');
/** The duration of a write in the model. */
const TIMES = { sentAtMs: 1000, answeredAtMs: 1100 };
const DONE = 200;

const project = (raw: unknown): SeenLease | undefined => {
  const identity = identityOf(raw);
  return identity === undefined ? undefined : { ...identity, lease: leaseRecordOf(raw) };
};

const outcomeIn = ({ event }: Moment): Outcome | undefined =>
  event.type.startsWith('xstate.done.actor.') ? event['output'] as Outcome : undefined;

const hindrance = (_world: null, moment: Moment): string | undefined => {
  const outcome = outcomeIn(moment);
  return outcome?._tag === 'HeldByOther' &&
      outcome.lease.resourceVersion === moment.before.context.expiredResourceVersion
    ? 'an expired lease is acquired when it is observed again'
    : undefined;
};

/** The services on a clock where each write takes as long as in the model. */
const timed = (services: Services): Layer.Layer<KubeApi> => {
  let answered = false;
  const monotonic = (): number => {
    const nowMs = answered ? TIMES.answeredAtMs : TIMES.sentAtMs;
    answered = false;
    return nowMs;
  };
  const api = Layer.effect(
    KubeApi,
    Effect.map(KubeApi, ({ call, watch }) => ({
      watch,
      call: (request) =>
        Effect.provideService(call(request), Clock.Clock, effectClock(realTime)).pipe(
          Effect.tap(({ status }) =>
            Effect.sync(() => {
              answered = request.method !== 'GET' && status >= DONE && status < 300;
            })
          ),
        ),
    })),
  );
  return Layer.merge(
    Layer.provide(api, services),
    clockLayer({ ...simulatedTime(), monotonic }),
  );
};

const heldBy = (holderIdentity: string) => ({
  spec: {
    holderIdentity,
    leaseDurationSeconds: 15,
    leaseTransitions: 1,
    acquireTime: '2026-01-01T00:00:00.000000Z',
  },
});

const runOf = (environment: RunEnvironment, object: ObjectFixture<SeenLease>): PathRun<null> => {
  const { line, names } = environment;
  const runtime = ManagedRuntime.make(timed(environment.services));
  const claim = {
    identity: US,
    namespace: 'default',
    name: object.name,
    leaseMs: 15_000,
    timeoutMs: 60_000,
  };
  /** The holder acquires or renews the lease. */
  const hold = async (holder: string): Promise<LeaseRecord> =>
    (await object.put(heldBy(holder), { anew: true })).lease;
  const isTakeable = ({ before }: PathStep<null>): boolean => {
    const lease = object.now()?.lease;
    if (lease === undefined || lease.holder === '' || lease.holder === US) return true;
    const { expiredResourceVersion } = before.context;
    return expiredResourceVersion !== null &&
      names.translate(lease.resourceVersion) === expiredResourceVersion;
  };
  /** Whether the process was suspended during the renewal. */
  let interrupted = false;
  const byServer = async (pathStep: PathStep<null>, outcome: Outcome): Promise<void> => {
    switch (outcome._tag) {
      case 'Acquired':
        if (!isTakeable(pathStep)) await object.put(heldBy(''));
        return;
      case 'Renewed':
      case 'Interrupted':
        if (object.now()?.lease.holder === 'other') await object.put(heldBy(''));
        return;
      case 'HeldByOther':
      case 'Taken':
        await hold('other');
        return;
      case 'Overtaken':
        if (!isTakeable(pathStep)) await object.put(heldBy(''));
        line.order(
          { kind: 'after', act: () => Promise.resolve() },
          { kind: 'after', act: () => object.put(heldBy('other')) },
        );
        return;
      case 'Released':
        if (object.now()?.lease.holder !== US) await object.put(heldBy(US));
        return;
      case 'NotOurs':
        if (object.now()?.lease.holder === US) await object.put(heldBy('other'));
        return;
      case 'Fault':
        throw new Error('A fault cannot be arranged');
    }
  };
  const observe: PathRun<null>['observe'] = async ({ event, before }) => {
    if (event.type !== 'lease.observed') return { event, by: 'word' };
    const drawn = event['lease'] as LeaseRecord | null;
    if (drawn === null) {
      await object.remove();
      return { event, by: 'watch' };
    }
    const now = object.now()?.lease;
    const again = drawn.resourceVersion === before.context.lease?.resourceVersion &&
      now !== undefined && names.translate(now.resourceVersion) === drawn.resourceVersion;
    const lease = again ? now : (await hold(drawn.holder));
    names.match(lease, drawn);
    return { event: { ...event, lease }, by: 'watch' };
  };
  return {
    machine: leadership.provide({ actors: leadershipActors(runtime, claim, () => interrupted) }),
    arrange: async (pathStep): Promise<StepSource> => {
      const outcome = outcomeIn(pathStep);
      if (outcome === undefined) throw new Error(`Nobody arranges "${pathStep.event.type}"`);
      interrupted = outcome._tag === 'Interrupted';
      if (outcome._tag === 'Fault') return await loseRequest(environment);
      await byServer(pathStep, outcome);
      return 'server';
    },
    observe,
    stop: async () => {
      await runtime.dispose();
      await object.remove();
    },
  };
};

/** The harness of `leadership`. */
export const leadershipHarness: ClusterHarness<null> = {
  world: null,
  hindrance,
  follows: (world) => world,
  open: async ({ hand, source }) => {
    const { environment: world, dispose } = liveEnvironment(source);
    const collection = await observeCollection(world, PATH, project);
    return {
      begin: (environment) => {
        const name = `models-${environment.number}`;
        return Promise.resolve(
          runOf(environment, objectFixture(hand, collection, { ...TYPE, path: PATH, name })),
        );
      },
      close: async () => {
        collection.stop();
        await dispose();
      },
    };
  },
};
