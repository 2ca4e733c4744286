/** One pod that is to leave, walked through every configuration. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect } from 'vitest';
import { providePodEviction } from '../../src/actors/pod-evictions/pod-eviction-actor.ts';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import type { EvictionOutcome } from '../../src/domain/drain/answer.ts';
import type { EvictionNeed, PodFacts } from '../../src/domain/drain/pod-facts.ts';
import { textAt, valueAt } from '../../src/domain/json.ts';
import { podEvictionApiLayer } from '../../src/effects/pod-eviction-api.ts';
import {
  AnswerLost,
  type KubeAnswer,
  type KubeFault,
  NotSent,
} from '../../src/effects/kube-api.ts';
import { Writes } from '../../src/effects/writes.ts';
import { podEviction } from '../../src/machines/pod-eviction.ts';
import type { PodEvictionContext } from '../../src/machines/pod-eviction-context.ts';
import { refusal } from '../support/drains/eviction-refusals.ts';
import { podEvictionHarness } from './cluster/pod-eviction-harness.ts';
import type { Received } from './harness/crash.ts';
import { describeModel, type InvokedActors } from './model.ts';
import { evictionMoves } from './pod-eviction-invariants.ts';

const facts = (more: Partial<PodFacts> = {}): PodFacts => ({
  terminating: false,
  finalizers: false,
  need: { _tag: 'None' },
  kubeletSilent: false,
  intercepted: false,
  serving: false,
  ...more,
});
const ONE: EvictionNeed = { _tag: 'One', budget: 'ns/db' };

const SLOT_BLOCKERS = ['TwoBudgets', 'BudgetBroken', 'BudgetNeverAllows'] as const;

/** State outside the process: the pod, and whether it should be evicted. */
interface World {
  readonly facts: PodFacts | null;
  readonly wanted: boolean;
}

const inputOf = (now: PodFacts) => ({
  uid: 'u1',
  key: 'ns/p1',
  node: 'n1',
  facts: now,
  seed: 1,
});

const OUTCOMES: readonly EvictionOutcome[] = [
  { _tag: 'Accepted' },
  { _tag: 'Gone' },
  { _tag: 'OtherPod' },
  { _tag: 'PolicyRefused', policy: 'guard', why: '' },
  { _tag: 'Unauthenticated', why: '' },
  { _tag: 'BudgetExhausted', why: '' },
  { _tag: 'BudgetUnsettled', retryAfterSeconds: 10, why: '' },
  { _tag: 'Throttled', retryAfterSeconds: 1 },
  { _tag: 'TwoBudgets', why: '' },
  { _tag: 'NamespaceTerminating' },
  { _tag: 'BudgetBroken', why: '' },
  { _tag: 'Forbidden', why: '' },
  { _tag: 'Transient', why: '' },
  { _tag: 'Unknown', why: '' },
  { _tag: 'NotSent', why: '' },
  { _tag: 'Refused', status: 418, why: '' },
];

/** Answers after which there is no such pod. */
const ENDS: ReadonlySet<string | undefined> = new Set(['Gone', 'OtherPod']);

/** The answer of an API server that has this meaning. */
const ANSWERS: Readonly<Record<EvictionOutcome['_tag'], KubeAnswer | KubeFault>> = {
  Accepted: { status: 201, body: {} },
  Gone: refusal(404, 'pods "p1" not found'),
  OtherPod: refusal(409, 'the UID in the precondition (u1) does not match the UID in record (u2)', {
    details: { kind: 'Pod' },
  }),
  PolicyRefused: refusal(403, 'admission webhook "guard" denied the request: no'),
  Unauthenticated: refusal(401, 'Unauthorized'),
  BudgetExhausted: refusal(429, 'Cannot evict pod', { cause: 'DisruptionBudget' }),
  BudgetUnsettled: {
    ...refusal(429, 'Cannot evict pod', { cause: 'DisruptionBudget' }),
    retryAfterSeconds: 10,
  },
  Throttled: { ...refusal(429, 'Too many requests'), retryAfterSeconds: 1 },
  TwoBudgets: refusal(500, 'This pod has more than one PodDisruptionBudget'),
  NamespaceTerminating: refusal(403, 'is being terminated', { cause: 'NamespaceTerminating' }),
  BudgetBroken: refusal(403, 'pdb disruptions allowed is negative'),
  Forbidden: refusal(403, 'User "tidegate" cannot create resource "pods/eviction"'),
  Transient: refusal(503, 'try again'),
  Unknown: new AnswerLost({ why: 'cut' }),
  NotSent: new NotSent({ why: 'refused' }),
  Refused: refusal(418, 'a teapot'),
};

const UNSEEN: World = { facts: null, wanted: true };

/** The statechart with its real effects, down to its request. */
const wire = (invoked: InvokedActors) => {
  const layer = podEvictionApiLayer(silentTelemetry).pipe(
    Layer.provide(Layer.succeed(Writes, {
      send: (_writeClass, call) =>
        Effect.flatMap(
          Effect.promise(() => invoked.perform<EvictionOutcome>('evictPod', call)),
          ({ _tag }) => {
            const answer = ANSWERS[_tag];
            return '_tag' in answer ? Effect.fail(answer) : Effect.succeed(answer);
          },
        ),
    })),
  );
  const ignore = (): void => {};
  return providePodEviction(ManagedRuntime.make(layer), {
    awaitDispatch: ignore,
    cancelDispatch: ignore,
    leaveBackends: ignore,
    stayInBackends: ignore,
    reportAnswer: ignore,
    untilLastTryMs: () => Number.POSITIVE_INFINITY,
    callOf: ({ uid }) => ({
      namespace: 'ns',
      name: 'p1',
      uid,
      graceSeconds: null,
      mayLeave: () => true,
    }),
    inFlight: (eviction) => eviction,
  });
};

const OBSERVED: readonly PodFacts[] = [
  facts(),
  facts({ need: ONE }),
  facts({ need: { _tag: 'One', budget: 'ns/other' } }),
  facts({ terminating: true }),
  facts({ terminating: true, finalizers: true }),
  facts({ terminating: true, kubeletSilent: true }),
  facts({ kubeletSilent: true }),
  facts({ intercepted: true }),
  facts({ serving: true }),
  facts({ need: ONE, serving: true }),
  facts({ need: { _tag: 'Blocked', reason: 'TwoBudgets' } }),
  facts({ need: { _tag: 'Blocked', reason: 'BudgetBroken' } }),
  facts({ need: { _tag: 'Blocked', reason: 'BudgetNeverAllows' } }),
  // The same need and something else that is new: noted, and it leads nowhere.
  facts({ need: ONE, finalizers: true }),
  ...SLOT_BLOCKERS.map((reason) => facts({ need: { _tag: 'Blocked', reason }, finalizers: true })),
];
const FIRST = [
  facts(),
  facts({ need: ONE }),
  facts({ intercepted: true }),
  facts({ need: ONE, serving: true }),
];

const receivedFacts = (value: unknown): PodFacts =>
  [...OBSERVED, ...FIRST].find((one) => one === value) ?? facts();

/** Stale events may arrive; a deleted pod stays deleted. */
const seen = (world: World, now: PodFacts): PodFacts | null =>
  world.facts && { ...now, terminating: now.terminating || world.facts.terminating };

const recorded = (world: World, { event }: Pick<Received, 'event'>): World => {
  switch (event.type) {
    case 'xstate.init':
      return { ...world, facts: receivedFacts(valueAt(event, 'input', 'facts')) };
    case 'pod.observed':
      return { ...world, facts: seen(world, receivedFacts(event['facts'])) };
    case 'pod.vanished':
      return { ...world, facts: null };
    case 'eviction.wanted':
      return { ...world, wanted: true };
    case 'eviction.released':
      return { ...world, wanted: false };
  }
  const answer = textAt(event['output'], '_tag');
  if (answer === 'Accepted') return { ...world, facts: seen(world, facts({ terminating: true })) };
  return ENDS.has(answer) ? { ...world, facts: null } : world;
};

/** The remaining obligation towards the pod, from observable state. */
const pending = (world: World): string => {
  if (world.facts === null) return 'nothing';
  if (world.facts.terminating) return 'its end';
  return world.wanted ? 'an eviction' : 'nothing';
};

describeModel('podEviction', {
  machine: podEviction,
  wire,
  harness: podEvictionHarness,
  inputs: FIRST.map(inputOf),
  events: {
    'pod.observed': OBSERVED.map((now) => ({ facts: now })),
    'xstate.done.actor.evictPod': OUTCOMES.map((output) => ({ output })),
  },
  project: (context: PodEvictionContext) => ({
    facts: context.facts,
    released: context.released,
    vanished: context.vanished,
    accepted: context.accepted,
    asked: context.asked,
    gone: ENDS.has(context.outcome?._tag),
  }),
  invariant: (snapshot, actions) => {
    const { facts: now, released, vanished } = snapshot.context;
    const calls = actions.filter((act) => act === 'invoke:evictPod').length;
    expect(calls, 'two calls for one pod at a time').toBeLessThanOrEqual(1);
    if (calls === 1) {
      expect(now.terminating, 'a terminating pod was evicted').toBe(false);
      expect(released, 'a released pod was evicted').toBe(false);
      expect(vanished, 'a deleted pod was evicted').toBe(false);
      expect(now.intercepted, 'a pod was evicted before its interceptors').toBe(false);
      expect(now.need._tag, 'a pod under two budgets was evicted').not.toBe('Blocked');
    }
    if (snapshot.matches('queued')) expect(now.need._tag).toBe('One');
  },
  stepInvariant: evictionMoves,
  crash: {
    world: UNSEEN,
    record: recorded,
    restart: ({ facts: current, wanted }) => ({
      input: inputOf(current ?? facts()),
      events: [
        ...(current === null ? [{ type: 'pod.vanished' }] : []),
        ...(wanted ? [] : [{ type: 'eviction.released' }]),
      ],
    }),
    obligations: ({ context }) =>
      pending({
        facts: context.vanished || ENDS.has(context.outcome?._tag)
          ? null
          : { ...context.facts, terminating: context.facts.terminating || context.accepted },
        wanted: !context.released,
      }),
    expected: pending,
  },
  forgets: 'pod.observed',
  limit: 20_000,
});
