/**
 * The operator put together: caches, leadership, session, roll-ups, machines and Events, under the
 * `operator` statechart.
 *
 * Promises: a standby keeps its caches warm and writes nothing; only the leader has a session;
 * `stop` leaves in order: session, writes under way, lease.
 */
import { Effect } from 'effect';
import { distinctUntilChanged, skipWhile } from 'rxjs';
import { type Actor, toPromise } from 'xstate';
import { WriteGate } from '../effects/write-gate.ts';
import { operator, type OperatorEnding } from '../machines/operator.ts';
import {
  type BootstrapTemplate,
  startBootstrapTemplate,
} from './fleet-session/bootstrap-template.ts';
import { preflight } from './preflight.ts';
import { type EventRecorder, startEventRecorder } from './event-recorder.ts';
import { type Leadership, startLeadership } from './leadership.ts';
import {
  type Caches,
  type OperatorEnvironment,
  type OperatorOptions,
  startCaches,
  startRoles,
} from './operator-roles.ts';
import {
  type PenaltyDefaultsInUse,
  startPenaltyDefaults,
} from './capacity-requests/penalty-defaults.ts';
import { fromEffect } from './actor-logic.ts';

/** Something that readiness waits for. */
export interface ReadinessCheck {
  readonly name: string;
  /** Why it is not ready, or undefined. */
  readonly failing: () => string | undefined;
}

/** A running operator. */
export interface Operator {
  readonly actor: Actor<typeof operator>;
  readonly checks: readonly ReadinessCheck[];
  /** Asks for a clean end; resolves when it has come. */
  readonly stop: () => Promise<void>;
  readonly done: Promise<OperatorEnding>;
}

/** Answers that are waited for on the way out; the pod has 30 s (drain rules: DR-15). */
const SETTLE_MS = 15_000;

/** The parts that come to be on the way, and how they end. */
interface Parts {
  readonly recorder: EventRecorder;
  template: BootstrapTemplate | undefined;
  penalties: PenaltyDefaultsInUse | undefined;
  caches: Caches | undefined;
  roles: ReturnType<typeof startRoles> | undefined;
  leadership: Leadership | undefined;
}

/** Reads the penalties of classes, when pods become demand here; says why they cannot be used. */
const usePenaltyDefaults = async (
  environment: OperatorEnvironment,
  { pods }: OperatorOptions,
  parts: Parts,
): Promise<string | undefined> => {
  parts.penalties?.stop();
  if (pods === undefined) return undefined;
  const started = await startPenaltyDefaults(environment, {
    file: pods.penaltyDefaultsFile,
    refused: (note) =>
      void parts.leadership?.leaseSeen.then((regarding) =>
        parts.recorder.record({ regarding, reason: 'PenaltyDefaultsRefused', note })
      ),
  });
  if (started._tag === 'Refused') return started.problem;
  parts.penalties = started.inUse;
  return undefined;
};

const checkFitness = (environment: OperatorEnvironment, options: OperatorOptions, parts: Parts) =>
  Effect.gen(function* () {
    parts.template?.stop();
    const started = yield* Effect.promise(() =>
      startBootstrapTemplate(environment, options.bootstrapTemplateFile)
    );
    if (started._tag === 'Refused') return { _tag: 'Unfit', why: started.problem } as const;
    parts.template = started.template;
    const penalties = yield* Effect.promise(() => usePenaltyDefaults(environment, options, parts));
    if (penalties !== undefined) return { _tag: 'Unfit', why: penalties } as const;
    const fitness = yield* preflight;
    if (fitness._tag === 'Unreachable') {
      environment.telemetry.log('warn', 'Cannot use the cluster yet', { why: fitness.why });
    }
    return fitness;
  });

const STOPS_WRITING = 'this process stops writing';

/** From here on nothing new is sent, to the shard or to the cluster (drain rules: DR-15). */
const closeSession = (parts: Parts) =>
  Effect.gen(function* () {
    const gate = yield* WriteGate;
    void gate.shut(STOPS_WRITING);
    parts.roles?.drains.lead(false);
    yield* Effect.promise(async () => await parts.roles?.session.stop());
  });

/** Waits for the answers of writes that were sent; those that were not are left to the next. */
const settleWrites = (parts: Parts) =>
  Effect.gen(function* () {
    const gate = yield* WriteGate;
    yield* Effect.promise(() =>
      Promise.all([
        gate.shut(STOPS_WRITING),
        parts.roles?.drains.stop(),
        parts.roles?.machines.stop(),
        parts.roles?.capacities.stop(),
        parts.roles?.pods?.stop(),
      ])
    );
  }).pipe(Effect.timeoutOption(SETTLE_MS), Effect.asVoid);

const stopParts = async (
  { recorder, template, penalties, caches, roles }: Parts,
): Promise<void> => {
  roles?.rollups.stop();
  await roles?.session.stop();
  caches?.stop();
  template?.stop();
  penalties?.stop();
  recorder.stop();
};

const wired = (environment: OperatorEnvironment, options: OperatorOptions, parts: Parts) => {
  const { telemetry, runtime } = environment;
  const act = <A>(run: () => Promise<A>) =>
    fromEffect(runtime, (_: undefined) => Effect.asVoid(Effect.promise(run)));
  return operator.provide({
    actors: {
      checkFitness: fromEffect(runtime, () => checkFitness(environment, options, parts)),
      closeSession: fromEffect(runtime, () => closeSession(parts)),
      settleWrites: fromEffect(runtime, () => settleWrites(parts)),
      releaseLease: act(async () => await parts.leadership?.release()),
    },
    actions: {
      startCaches: ({ self }) => {
        const { template, penalties, recorder } = parts;
        if (template === undefined) return;
        const caches = startCaches(environment, options);
        parts.caches = caches;
        parts.roles = startRoles(environment, options, {
          caches,
          template,
          penalties,
          recorder,
          leaseSeen: () => parts.leadership?.leaseSeen,
        });
        void Promise.all(caches.all.map(([, reflector]) => reflector.whenSynced)).then(() => {
          telemetry.log('info', 'Caches are complete');
          self.send({ type: 'caches.synced' });
        });
      },
      seekLease: ({ self }) => {
        if (parts.leadership !== undefined) return;
        parts.leadership = startLeadership(environment, options.lease);
        parts.leadership.leading.pipe(distinctUntilChanged(), skipWhile((leads) => !leads))
          .subscribe((leads) => self.send({ type: leads ? 'leadership.won' : 'leadership.lost' }));
      },
      openSession: () => {
        parts.roles?.drains.lead(true);
        parts.roles?.pods?.lead(true);
        parts.roles?.session.lead(true);
      },
      suspendSession: () => {
        parts.roles?.drains.lead(false);
        parts.roles?.pods?.lead(false);
        parts.roles?.session.lead(false);
        parts.roles?.machines.renounce();
        parts.roles?.capacities.renounce();
      },
    },
  });
};

const readinessOf = (actor: Operator['actor'], parts: Parts): readonly ReadinessCheck[] => [
  {
    name: 'cluster',
    failing: () => actor.getSnapshot().context.trouble ?? undefined,
  },
  {
    name: 'caches',
    failing: () => {
      if (parts.caches === undefined) return 'not started';
      const waiting = parts.caches.all.filter(([, { synced }]) => !synced).map(([name]) => name);
      return waiting.length === 0 ? undefined : `no complete list yet of ${waiting.join(', ')}`;
    },
  },
];

/** Starts it. It runs until `stop`, or until it finds that it cannot work here. */
export const startOperator = (
  environment: OperatorEnvironment,
  options: OperatorOptions,
): Operator => {
  const parts: Parts = {
    recorder: startEventRecorder(environment, { instance: options.lease.identity }),
    template: undefined,
    penalties: undefined,
    caches: undefined,
    roles: undefined,
    leadership: undefined,
  };
  const actor = environment.actor(wired(environment, options, parts), 'operator', {
    seed: environment.seed(),
  });
  const ended = toPromise(actor);
  const done = ended.finally(() => stopParts(parts));
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
