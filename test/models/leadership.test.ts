/**
 * A candidate for the lease, walked through every configuration and driven over a fake API server.
 */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect } from 'vitest';
import type { DoneActorEvent, PromiseActorLogic } from 'xstate';
import { clockLayer } from '../../src/effects/effect-clock.ts';
import { leadershipActors } from '../../src/actors/leadership.ts';
import type {
  AcquireOutcome,
  LeaseRecord,
  ReleaseOutcome,
  RenewOutcome,
} from '../../src/domain/lease.ts';
import { simulatedTime } from '../support/time/simulated-time.ts';
import { type KubeAnswer, KubeApi, NotSent } from '../../src/effects/kube-api.ts';
import { leadership, type LeadershipContext } from '../../src/machines/leadership.ts';
import { leadershipHarness } from './cluster/leadership-harness.ts';
import { describeModel, type InvokedActors } from './model.ts';

const why = 'planted';
const US = 'us';

const lease = (holder: string, resourceVersion: string): LeaseRecord => ({
  resourceVersion,
  holder,
  durationSeconds: 15,
  transitions: 1,
  acquireTime: '2026-01-01T00:00:00.000000Z',
});

const times = { sentAtMs: 1000, answeredAtMs: 1100 };
const input = { identity: US, leaseMs: 15_000, renewMs: 10_000, retryMs: 2000, seed: 1 };

/** State outside the process: whether it should lead. */
interface ProcessEnvironment {
  readonly wanted: boolean;
}

type Outcome = AcquireOutcome | RenewOutcome | ReleaseOutcome;
type Answers = readonly (KubeAnswer | 'away')[];

const raw = (
  { resourceVersion, holder, durationSeconds, transitions, acquireTime }: LeaseRecord,
) => ({
  metadata: { resourceVersion },
  spec: {
    holderIdentity: holder,
    leaseDurationSeconds: durationSeconds,
    leaseTransitions: transitions,
    acquireTime,
  },
});

const CONFLICT: KubeAnswer = { status: 409, body: {} };
const MISSING: KubeAnswer = { status: 404, body: {} };
const ok = (record: LeaseRecord): KubeAnswer => ({ status: 200, body: raw(record) });

/** The API server's answers by which an act has this outcome. */
const answersFor = (outcome: Outcome): Answers => {
  switch (outcome._tag) {
    case 'Acquired':
      return [MISSING, { ...ok(outcome.lease), status: 201 }];
    case 'HeldByOther':
      return [ok(outcome.lease)];
    case 'Overtaken':
      return [MISSING, CONFLICT];
    case 'Renewed':
      return [ok(outcome.lease)];
    case 'Taken':
      return [CONFLICT, ok(outcome.lease)];
    case 'Released':
      return [ok(lease(US, '9')), ok(lease('', '10'))];
    case 'NotOurs':
      return [MISSING];
    case 'Fault':
      return ['away'];
  }
};

/** The real acts, over an API server whose answers the driven path determines. */
const wire = (invoked: InvokedActors) => {
  let performing = '';
  let answers: (KubeAnswer | 'away')[] = [];
  const api = Layer.succeed(KubeApi, {
    call: () =>
      Effect.gen(function* () {
        const act = performing;
        if (act !== '') {
          performing = '';
          answers = [...answersFor(yield* Effect.promise(() => invoked.perform<Outcome>(act, {})))];
        }
        const answer = answers.shift() ?? 'away';
        return answer === 'away' ? yield* new NotSent({ why }) : answer;
      }),
    watch: () => Effect.never,
  });
  // Each write reads the clock before the request and after the answer.
  let looks = 0;
  const monotonic = (): number => {
    looks += 1;
    return looks % 2 === 1 ? times.sentAtMs : times.answeredAtMs;
  };
  const clock = clockLayer({ ...simulatedTime(), monotonic });
  const claim = { identity: US, namespace: 'ns', name: 'l', leaseMs: 15_000, timeoutMs: 5000 };
  const real = leadershipActors(ManagedRuntime.make(Layer.merge(api, clock)), claim);
  /** Which request it is: the first request alone does not identify it for the API server. */
  const marked = <Output, Input>(id: string, logic: PromiseActorLogic<Output, Input>) => ({
    ...logic,
    start: (...args: Parameters<NonNullable<typeof logic.start>>) => {
      performing = id;
      looks = 0;
      return logic.start?.(...args);
    },
  });
  return leadership.provide({
    actors: {
      acquireLease: marked('acquireLease', real.acquireLease),
      renewLease: marked('renewLease', real.renewLease),
      releaseLease: marked('releaseLease', real.releaseLease),
    },
  });
};

describeModel('leadership', {
  machine: leadership,
  wire,
  harness: leadershipHarness,
  inputs: [input],
  events: {
    'lease.observed': [
      { lease: null },
      { lease: lease('', '5') },
      { lease: lease(US, '6') },
      { lease: lease('other', '7') },
      { lease: lease('other', '8') },
    ],
    'xstate.done.actor.acquireLease': [
      { output: { _tag: 'Acquired', lease: lease(US, '9'), ...times } },
      { output: { _tag: 'HeldByOther', lease: lease('other', '7') } },
      { output: { _tag: 'Overtaken' } },
      { output: { _tag: 'Fault', why } },
    ],
    'xstate.done.actor.renewLease': [
      { output: { _tag: 'Renewed', lease: lease(US, '9'), ...times } },
      { output: { _tag: 'Renewed', lease: lease(US, '10'), ...times } },
      { output: { _tag: 'Taken', lease: lease('other', '8') } },
      { output: { _tag: 'Fault', why } },
    ],
    'xstate.done.actor.releaseLease': [
      { output: { _tag: 'Released' } },
      { output: { _tag: 'NotOurs' } },
      { output: { _tag: 'Fault', why } },
    ],
  },
  project: (context: LeadershipContext) => ({
    holder: context.lease?.holder ?? null,
    resourceVersion: context.lease?.resourceVersion ?? null,
    expired: context.expiredResourceVersion,
    observedMeanwhile: context.observedMeanwhile,
  }),
  // An expired lease is acquired when it is observed again.
  happens: ({ context }, event) => {
    if (event.type !== 'xstate.done.actor.acquireLease') return true;
    const { output } = event as DoneActorEvent<AcquireOutcome>;
    return output._tag !== 'HeldByOther' ||
      output.lease.resourceVersion !== context.expiredResourceVersion;
  },
  invariant: (snapshot, actions) => {
    const { context } = snapshot;
    const leads = snapshot.matches('leading');
    if (actions.includes('openGate')) expect(leads, 'only who leads opens the gate').toBe(true);
    if (actions.includes('closeGate') && !actions.includes('openGate')) {
      expect(leads, 'the gate closes when leading ends').toBe(false);
    }
    if (leads) {
      expect(context.lease?.holder, 'who leads holds the lease').toBe(US);
      expect(context.deadlineMs, 'the deadline counts from the sending').toBe(11_000);
      expect(context.remainingMs, 'what the answer took is gone').toBe(9900);
    }
    if (context.expiredResourceVersion !== null && !snapshot.matches('releasing')) {
      expect(context.expiredResourceVersion, 'only what was seen can expire').toBe(
        context.lease?.resourceVersion,
      );
    }
  },
  crash: {
    world: { wanted: true },
    record: (world: ProcessEnvironment, { event }) =>
      event.type === 'release.requested' ? { wanted: false } : world,
    restart: ({ wanted }) => ({
      input: { ...input, identity: 'the next one' },
      events: wanted ? [] : [{ type: 'release.requested' }],
    }),
    // Leadership is not inherited: the obligation is to request the lease, or to release it.
    obligations: (snapshot) => ({
      ends: snapshot.status === 'done' || snapshot.matches('releasing'),
    }),
  },
});
