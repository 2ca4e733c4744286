/** `leadership` on a cluster: one Lease, and others who want it. */
import { Clock, Effect, Layer, ManagedRuntime } from 'effect';
import { clockLayer, effectClock } from '../../../src/actors/clocks.ts';
import { leadershipActs } from '../../../src/actors/leadership.ts';
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
import { type ObjectScenery, objectScenery } from './object-scenery.ts';
import { watchSight } from './sight.ts';
import type { Cue, Moment, Mover, Place, Scene, Services, Stage } from './stage.ts';
import { loseRequest } from './troubles.ts';

type Outcome = AcquireOutcome | RenewOutcome | ReleaseOutcome;

interface SeenLease extends Identity {
  readonly lease: LeaseRecord;
}

const US = 'us';
const TYPE = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
const PATH = leasesPath('default');
/** What is drawn of the time that a write takes. */
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
      outcome.lease.revision === moment.before.context.expiredRevision
    ? 'a lease that has expired in our eyes is taken when it is met again'
    : undefined;
};

/** The services on a clock by which each write takes as long as it is drawn. */
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

const sceneOf = (place: Place, object: ObjectScenery<SeenLease>): Scene<null> => {
  const { line, names } = place;
  const runtime = ManagedRuntime.make(timed(place.services));
  const claim = {
    identity: US,
    namespace: 'default',
    name: object.name,
    leaseMs: 15_000,
    timeoutMs: 5000,
  };
  /** The holder takes the lease, or writes it anew. */
  const hold = async (holder: string): Promise<LeaseRecord> =>
    (await object.put(heldBy(holder), { anew: true })).lease;
  const isTakeable = ({ before }: Cue<null>): boolean => {
    const lease = object.now()?.lease;
    if (lease === undefined || lease.holder === '' || lease.holder === US) return true;
    const { expiredRevision } = before.context;
    return expiredRevision !== null && names.translate(lease.revision) === expiredRevision;
  };
  const byServer = async (cue: Cue<null>, outcome: Outcome): Promise<void> => {
    switch (outcome._tag) {
      case 'Acquired':
        if (!isTakeable(cue)) await object.put(heldBy(''));
        return;
      case 'Renewed':
        if (object.now()?.lease.holder === 'other') await object.put(heldBy(''));
        return;
      case 'HeldByOther':
      case 'Taken':
        await hold('other');
        return;
      case 'Overtaken':
        if (!isTakeable(cue)) await object.put(heldBy(''));
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
        throw new Error('Nobody arranges a fault');
    }
  };
  const observe: Scene<null>['observe'] = async ({ event, before }) => {
    if (event.type !== 'lease.observed') return { event, by: 'word' };
    const drawn = event['lease'] as LeaseRecord | null;
    if (drawn === null) {
      await object.remove();
      return { event, by: 'watch' };
    }
    const now = object.now()?.lease;
    const again = drawn.revision === before.context.lease?.revision &&
      now !== undefined && names.translate(now.revision) === drawn.revision;
    const lease = again ? now : (await hold(drawn.holder));
    names.match(lease, drawn);
    return { event: { ...event, lease }, by: 'watch' };
  };
  return {
    machine: leadership.provide({ actors: leadershipActs(runtime, claim) }),
    arrange: async (cue): Promise<Mover> => {
      const outcome = outcomeIn(cue);
      if (outcome === undefined) throw new Error(`Nobody arranges "${cue.event.type}"`);
      if (outcome._tag === 'Fault') return await loseRequest(place);
      await byServer(cue, outcome);
      return 'server';
    },
    observe,
    stop: async () => {
      await runtime.dispose();
      await object.remove();
    },
  };
};

/** The stage of `leadership`. */
export const leadershipStage: Stage<null> = {
  world: null,
  hindrance,
  follows: (world) => world,
  open: async ({ hand, source }) => {
    const { environment: world, dispose } = liveEnvironment(source);
    const sight = await watchSight(world, PATH, project);
    return {
      begin: (place) => {
        const name = `models-${place.number}`;
        return Promise.resolve(
          sceneOf(place, objectScenery(hand, sight, { ...TYPE, path: PATH, name })),
        );
      },
      close: async () => {
        sight.stop();
        await dispose();
      },
    };
  },
};
