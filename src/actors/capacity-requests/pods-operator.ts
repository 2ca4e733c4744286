/**
 * The pods role as a process of its own: caches, leadership, penalties, registry and Events, under
 * the `operator` statechart, without a session.
 *
 * Promises: a standby keeps its caches warm and writes nothing; only the leader writes; `stop`
 * leaves in order: writes under way, then the lease.
 */
import { Effect } from 'effect';
import { distinctUntilChanged, skipWhile } from 'rxjs';
import { toPromise } from 'xstate';
import type { Events } from '../../effects/events.ts';
import type { KubeApi } from '../../effects/kube-api.ts';
import type { PodRequests } from '../../effects/pod-requests.ts';
import { WriteGate } from '../../effects/write-gate.ts';
import { operator } from '../../machines/operator.ts';
import { preflight } from '../preflight.ts';
import { type EventRecorder, startEventRecorder } from '../event-recorder.ts';
import { type Leadership, type LeadershipOptions, startLeadership } from '../leadership.ts';
import type { Operator } from '../operator.ts';
import { type PenaltyDefaultsInUse, startPenaltyDefaults } from './penalty-defaults.ts';
import { type PodCaches, type PodPolicy, startPodCaches, startPodRole } from './pod-caches.ts';
import type { PodDemandRegistry } from './pod-demands.ts';
import { fromEffect } from '../actor-logic.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** Everything that the role does to the environment. */
export type PodServices = KubeApi | WriteGate | PodRequests | Events;

/** What the role is started with. */
export interface PodsOperatorOptions {
  readonly lease: LeadershipOptions;
  readonly policy: PodPolicy;
}

type PodWorld = ActorEnvironment<PodServices>;

/** Answers that are waited for on the way out; the pod has 30 s (drain rules: DR-15). */
const SETTLE_MS = 15_000;
const STOPS_WRITING = 'this process stops writing';

/** The parts that come to be on the way, and how they end. */
interface Parts {
  readonly recorder: EventRecorder;
  penalties: PenaltyDefaultsInUse | undefined;
  caches: PodCaches | undefined;
  registry: PodDemandRegistry | undefined;
  leadership: Leadership | undefined;
}

const reflectorsOf = ({ pods, requests, namespaces }: PodCaches) =>
  Object.entries({ pods, capacityrequests: requests, namespaces }).flatMap(([name, reflector]) =>
    reflector === undefined ? [] : [{ name, reflector }]
  );

const checkFitness = (environment: PodWorld, { policy }: PodsOperatorOptions, parts: Parts) =>
  Effect.gen(function* () {
    parts.penalties?.stop();
    const started = yield* Effect.promise(() =>
      startPenaltyDefaults(environment, {
        file: policy.penaltyDefaultsFile,
        refused: (note) =>
          void parts.leadership?.leaseSeen.then((regarding) =>
            parts.recorder.record({ regarding, reason: 'PenaltyDefaultsRefused', note })
          ),
      })
    );
    if (started._tag === 'Refused') return { _tag: 'Unfit', why: started.problem } as const;
    parts.penalties = started.inUse;
    const fitness = yield* preflight;
    if (fitness._tag === 'Unreachable') {
      environment.telemetry.log('warn', 'Cannot use the cluster yet', { why: fitness.why });
    }
    return fitness;
  });

/** Waits for the answers of writes that were sent; those that were not are left to the next. */
const settleWrites = (parts: Parts) =>
  Effect.gen(function* () {
    const gate = yield* WriteGate;
    yield* Effect.promise(() => Promise.all([gate.shut(STOPS_WRITING), parts.registry?.stop()]));
  }).pipe(Effect.timeoutOption(SETTLE_MS), Effect.asVoid);

const stopParts = ({ recorder, penalties, caches }: Parts): void => {
  if (caches !== undefined) { for (const { reflector } of reflectorsOf(caches)) reflector.stop(); }
  penalties?.stop();
  recorder.stop();
};

const startCaches = (
  environment: PodWorld,
  { policy }: PodsOperatorOptions,
  parts: Parts,
): Promise<void> | undefined => {
  const { penalties, recorder } = parts;
  if (penalties === undefined) return undefined;
  const caches = startPodCaches(environment, policy);
  parts.caches = caches;
  parts.registry = startPodRole(environment, caches, { penalties, record: recorder.record });
  return Promise.all(reflectorsOf(caches).map(({ reflector }) => reflector.whenSynced))
    .then(() => environment.telemetry.log('info', 'Caches are complete'));
};

const wired = (environment: PodWorld, options: PodsOperatorOptions, parts: Parts) =>
  operator.provide({
    actors: {
      checkFitness: fromEffect(
        environment.runtime,
        () => checkFitness(environment, options, parts),
      ),
      // There is no session to close; what was sent has its answers by `settleWrites`.
      closeSession: fromEffect(environment.runtime, (_: undefined) => Effect.void),
      settleWrites: fromEffect(environment.runtime, () => settleWrites(parts)),
      releaseLease: fromEffect(
        environment.runtime,
        (_: undefined) => Effect.promise(async () => await parts.leadership?.release()),
      ),
    },
    actions: {
      startCaches: ({ self }) => {
        void startCaches(environment, options, parts)?.then(() =>
          self.send({ type: 'caches.synced' })
        );
      },
      seekLease: ({ self }) => {
        if (parts.leadership !== undefined) return;
        parts.leadership = startLeadership(environment, options.lease);
        parts.leadership.leading.pipe(distinctUntilChanged(), skipWhile((leads) => !leads))
          .subscribe((leads) => self.send({ type: leads ? 'leadership.won' : 'leadership.lost' }));
      },
      openSession: () => parts.registry?.lead(true),
      suspendSession: () => parts.registry?.lead(false),
    },
  });

const readinessOf = (actor: Operator['actor'], parts: Parts): Operator['checks'] => [
  { name: 'cluster', failing: () => actor.getSnapshot().context.trouble ?? undefined },
  {
    name: 'caches',
    failing: () => {
      if (parts.caches === undefined) return 'not started';
      const waiting = reflectorsOf(parts.caches).filter(({ reflector }) => !reflector.synced);
      if (waiting.length === 0) return undefined;
      return `no complete list yet of ${waiting.map(({ name }) => name).join(', ')}`;
    },
  },
];

/** Starts it. It runs until `stop`, or until it finds that it cannot work here. */
export const startPodsOperator = (
  environment: PodWorld,
  options: PodsOperatorOptions,
): Operator => {
  const parts: Parts = {
    recorder: startEventRecorder(environment, { instance: options.lease.identity }),
    penalties: undefined,
    caches: undefined,
    registry: undefined,
    leadership: undefined,
  };
  const actor = environment.actor(wired(environment, options, parts), 'operator', {
    seed: environment.seed(),
  });
  const done = toPromise(actor).finally(() => stopParts(parts));
  actor.start();
  return {
    actor,
    checks: readinessOf(actor, parts),
    done,
    stop: async () => {
      actor.send({ type: 'stop.requested' });
      await done;
    },
  };
};
