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
import { textAt, valueAt } from '../../src/domain/json.ts';
import type { Step } from './harness/interpreter.ts';
import { follows, type Line, must } from './harness/step-invariants.ts';
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
    case 'Interrupted':
      return [ok(lease(US, '9'))];
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
  let interrupted = false;
  const api = Layer.succeed(KubeApi, {
    call: () =>
      Effect.gen(function* () {
        const act = performing;
        if (act !== '') {
          performing = '';
          const outcome = yield* Effect.promise(() => invoked.perform<Outcome>(act, {}));
          interrupted = outcome._tag === 'Interrupted';
          answers = [...answersFor(outcome)];
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
  const runtime = ManagedRuntime.make(Layer.merge(api, clock));
  const real = leadershipActors(runtime, claim, () => interrupted);
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

const answers = (tag: string) => ({ event }: Step): boolean =>
  valueAt(event['output'], '_tag') === tag;
const answered = (act: string, tag: string, line: Omit<Line, 'on'>): Line => ({
  on: `xstate.done.actor.${act}`,
  when: answers(tag),
  ...line,
});

const ACQUIRES = { to: 'acquiring', does: ['invoke:acquireLease'] };
const RENEWS = { to: 'leading.renewing', does: ['invoke:renewLease'] };
const RELEASES = { to: 'releasing.asking', does: ['invoke:releaseLease'] };

/** Whether the lease in the event was released, is missing or is ours. */
const isFree = ({ event }: Step): boolean => {
  const holder = valueAt(event['lease'], 'holder');
  return holder === undefined || holder === '' || holder === US;
};

const transitions = follows([
  { on: 'xstate.init', ...ACQUIRES },
  answered('acquireLease', 'Acquired', { to: 'leading.holding', does: ['openGate'] }),
  answered('acquireLease', 'Overtaken', { to: 'retrying' }),
  answered('acquireLease', 'Fault', { to: 'retrying' }),
  {
    on: 'xstate.done.actor.acquireLease',
    when: ({ before }) => before.context.observedMeanwhile,
    ...ACQUIRES,
  },
  { on: 'xstate.done.actor.acquireLease', to: 'standby' },
  { on: 'lease.observed', from: ['standby'], when: isFree, ...ACQUIRES },
  { on: 'lease.observed' },
  // The lease is free, or it may be ours, when a deadline is over.
  { on: 'after leaseExpiry', from: ['standby'], ...ACQUIRES },
  { on: 'after retryPeriod', from: ['retrying'], ...ACQUIRES },
  { on: 'after renewPeriod', ...RENEWS },
  { on: 'after renewRetryPeriod', ...RENEWS },
  { on: 'after renewDeadline', from: ['leading'], to: 'retrying', does: ['closeGate'] },
  answered('renewLease', 'Renewed', { to: 'leading.holding', does: ['closeGate', 'openGate'] }),
  answered('renewLease', 'Taken', { to: 'standby', does: ['closeGate'] }),
  answered('renewLease', 'Interrupted', { to: 'retrying', does: ['closeGate'] }),
  answered('renewLease', 'Fault', { to: 'leading.renewalFailed' }),
  { on: 'release.requested', from: ['standby'], to: 'released' },
  {
    on: 'release.requested',
    from: ['leading'],
    to: 'releasing.asking',
    does: ['closeGate', 'invoke:releaseLease'],
  },
  { on: 'release.requested', ...RELEASES },
  answered('releaseLease', 'Fault', { to: 'releasing.pausing' }),
  { on: 'xstate.done.actor.releaseLease', to: 'released' },
  { on: 'after releaseRetry', ...RELEASES },
  { on: 'after releaseDeadline', to: 'released' },
]);

/** What was heard last is what is known. */
const remembers = ({ event, before, after }: Step): void => {
  const known: LeadershipContext = after.context;
  const received = valueAt(event['output'], 'lease') ?? event['lease'];
  if (after.matches('standby')) {
    must(
      received === undefined || JSON.stringify(known.lease) === JSON.stringify(received),
      'a standby knows the lease that it saw last',
    );
  }
  if (event.type === 'lease.observed' && before.matches('acquiring')) {
    must(known.observedMeanwhile, 'a change was seen while the lease was requested');
  }
  if (event.type !== 'lease.observed' && after.matches('acquiring')) {
    must(!known.observedMeanwhile, 'a new request starts anew');
  }
  if (event.type.startsWith('xstate.after.leaseExpiry.')) {
    must(
      known.expiredResourceVersion === (before.context.lease?.resourceVersion ?? null),
      'the lease that stayed unchanged has expired',
    );
  }
  const cause = valueAt(event['output'], 'why');
  if (cause !== undefined) must(known.problem === cause, 'a failure has its cause');
  const ends = event.type.startsWith('xstate.after.renewDeadline.');
  const lost = ['Overtaken', 'Interrupted'].includes(textAt(event['output'], '_tag') ?? '');
  if (ends || lost) must(known.problem !== '', 'a wait has a cause');
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
      { output: { _tag: 'Fault', why, retryAfterMs: 0 } },
    ],
    'xstate.done.actor.renewLease': [
      { output: { _tag: 'Renewed', lease: lease(US, '9'), ...times } },
      { output: { _tag: 'Renewed', lease: lease(US, '10'), ...times } },
      { output: { _tag: 'Taken', lease: lease('other', '8') } },
      { output: { _tag: 'Interrupted' } },
      { output: { _tag: 'Fault', why, retryAfterMs: 0 } },
    ],
    'xstate.done.actor.releaseLease': [
      { output: { _tag: 'Released' } },
      { output: { _tag: 'NotOurs' } },
      { output: { _tag: 'Fault', why, retryAfterMs: 0 } },
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
  stepInvariant: (step) => {
    transitions(step);
    remembers(step);
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
    expected: ({ wanted }) => ({ ends: !wanted }),
  },
  forgets: 'release.requested',
});
