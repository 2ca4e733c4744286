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
import { projectAvailableCapacity } from '../domain/available-capacity.ts';
import { projectNode } from '../domain/cluster-node.ts';
import { capacityRequestProjector } from '../domain/demand/request.ts';
import type { ClusterId } from '../domain/ids.ts';
import type { Intern } from '../domain/text-pool.ts';
import { projectUpcomingNode } from '../domain/upcoming-node.ts';
import {
  AVAILABLE_CAPACITIES_PATH,
  type AvailableCapacities,
} from '../effects/available-capacities.ts';
import type { CapacityRequests } from '../effects/capacity-requests.ts';
import type { Cordons } from '../effects/cordons.ts';
import type { CredentialFiles, Credentials } from '../effects/credentials.ts';
import type { Events } from '../effects/events.ts';
import type { KubeApi } from '../effects/kube-api.ts';
import { serverVersion } from '../effects/server-version.ts';
import type { ShardCalls } from '../effects/shard-call.ts';
import type { UpcomingNodes } from '../effects/upcoming-nodes.ts';
import { WriteGate } from '../effects/write-gate.ts';
import { type Fitness, operator, type OperatorEnding } from '../machines/operator.ts';
import { startAvailableCapacities } from './available-capacities.ts';
import { type BootstrapTemplate, startBootstrapTemplate } from './bootstrap-template.ts';
import { type EventRecorder, startEventRecorder } from './event-recorder.ts';
import { startFleetSession } from './fleet-session.ts';
import { type Leadership, type LeadershipOptions, startLeadership } from './leadership.ts';
import { startReflector } from './reflector.ts';
import { startRollups } from './rollups.ts';
import { fromEffect } from './seams.ts';
import { startUpcomingNodes } from './upcoming-nodes.ts';
import type { World } from './world.ts';

/** Everything that the operator does to the world. */
export type OperatorServices =
  | KubeApi
  | WriteGate
  | CapacityRequests
  | UpcomingNodes
  | Cordons
  | AvailableCapacities
  | Events
  | ShardCalls
  | Credentials;

/** What an operator is started with. */
export interface OperatorOptions {
  readonly clusterId: ClusterId;
  readonly shardAddress: string;
  readonly rollupIntervalMs: number;
  readonly ackConcurrency: number;
  readonly bootstrapTemplateFile: string | undefined;
  readonly credentialFiles: CredentialFiles | undefined;
  readonly lease: LeadershipOptions;
  /** Keeps equal specs of machines once, in caches and answers alike. */
  readonly intern: Intern;
}

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

const GROUP = '/apis/bigfleet.lucy.sh/v1alpha1';
/** Answers that are waited for on the way out; the pod has 30 s (drain rules: DR-15). */
const SETTLE_MS = 15_000;

type OperatorWorld = World<OperatorServices>;

const startCaches = (world: OperatorWorld, intern: Intern) => {
  const requests = startReflector(world, {
    id: 'capacityrequests',
    path: `${GROUP}/capacityrequests`,
    project: capacityRequestProjector(),
  });
  const upcomingNodes = startReflector(world, {
    id: 'upcomingnodes',
    path: `${GROUP}/upcomingnodes`,
    project: (raw) => projectUpcomingNode(raw, intern),
  });
  const availableCapacities = startReflector(world, {
    id: 'availablecapacities',
    path: AVAILABLE_CAPACITIES_PATH,
    project: projectAvailableCapacity,
  });
  const nodes = startReflector(world, {
    id: 'nodes',
    path: '/api/v1/nodes',
    project: projectNode,
  });
  const all = { requests, upcomingNodes, availableCapacities, nodes };
  return { ...all, all: Object.entries(all) };
};

type Caches = ReturnType<typeof startCaches>;

/** What acts on the world; made before the caches are complete, quiet until they are. */
const startRoles = (
  world: OperatorWorld,
  options: OperatorOptions,
  { caches, template, recorder, leaseSeen }: {
    readonly caches: Caches;
    readonly template: BootstrapTemplate;
    readonly recorder: EventRecorder;
    readonly leaseSeen: () => Leadership['leaseSeen'] | undefined;
  },
) => {
  const session = startFleetSession(world, {
    clusterId: options.clusterId,
    address: options.shardAddress,
    rollupIntervalMs: options.rollupIntervalMs,
    ...(options.credentialFiles === undefined ? {} : { credentialFiles: options.credentialFiles }),
    render: template.render,
    record: (reason, note) => {
      void leaseSeen()?.then((regarding) => recorder.record({ regarding, reason, note }));
    },
  });
  const { record } = recorder;
  const { news } = session;
  const machines = startUpcomingNodes(world, {
    news,
    record,
    upcomingNodes: caches.upcomingNodes,
    nodes: caches.nodes,
    intern: options.intern,
  });
  const capacities = startAvailableCapacities(world, {
    news,
    record,
    availableCapacities: caches.availableCapacities,
  });
  const rollups = startRollups(world, {
    session,
    record,
    requests: caches.requests,
    intervalMs: options.rollupIntervalMs,
    ackConcurrency: options.ackConcurrency,
  });
  return { session, machines, capacities, rollups };
};

const lookAtCluster = serverVersion.pipe(
  Effect.match({
    onSuccess: (seen): Fitness => {
      if (seen._tag === 'Supported') return { _tag: 'Fit', version: seen.version };
      return { _tag: seen._tag === 'TooOld' ? 'Unfit' : 'Unreachable', why: seen.why };
    },
    onFailure: ({ why }): Fitness => ({ _tag: 'Unreachable', why }),
  }),
);

/** The parts that come to be on the way, and how they end. */
interface Parts {
  readonly recorder: EventRecorder;
  template: BootstrapTemplate | undefined;
  caches: Caches | undefined;
  roles: ReturnType<typeof startRoles> | undefined;
  leadership: Leadership | undefined;
}

const checkFitness = (world: OperatorWorld, options: OperatorOptions, parts: Parts) =>
  Effect.gen(function* () {
    parts.template?.stop();
    const started = yield* Effect.promise(() =>
      startBootstrapTemplate(world, options.bootstrapTemplateFile)
    );
    if (started._tag === 'Refused') return { _tag: 'Unfit', why: started.problem } as const;
    parts.template = started.template;
    const fitness = yield* lookAtCluster;
    if (fitness._tag === 'Unreachable') {
      world.telemetry.log('warn', 'Cannot use the cluster yet', { why: fitness.why });
    }
    return fitness;
  });

/** Waits for the answers of writes that were sent; those that were not are left to the next. */
const settleWrites = (parts: Parts) =>
  Effect.gen(function* () {
    const gate = yield* WriteGate;
    const shut = gate.shut('this process stops writing');
    yield* Effect.promise(() =>
      Promise.all([shut, parts.roles?.machines.stop(), parts.roles?.capacities.stop()])
    );
  }).pipe(Effect.timeoutOption(SETTLE_MS), Effect.asVoid);

const stopParts = async ({ recorder, template, caches, roles }: Parts): Promise<void> => {
  roles?.rollups.stop();
  await roles?.session.stop();
  for (const [, reflector] of caches?.all ?? []) reflector.stop();
  template?.stop();
  recorder.stop();
};

const wired = (world: OperatorWorld, options: OperatorOptions, parts: Parts) => {
  const { telemetry, runtime } = world;
  const act = <A>(run: () => Promise<A>) =>
    fromEffect(runtime, (_: undefined) => Effect.asVoid(Effect.promise(run)));
  return operator.provide({
    actors: {
      checkFitness: fromEffect(runtime, () => checkFitness(world, options, parts)),
      closeSession: act(async () => await parts.roles?.session.stop()),
      settleWrites: fromEffect(runtime, () => settleWrites(parts)),
      releaseLease: act(async () => await parts.leadership?.release()),
    },
    actions: {
      startCaches: ({ self }) => {
        const { template, recorder } = parts;
        if (template === undefined) return;
        const caches = startCaches(world, options.intern);
        parts.caches = caches;
        parts.roles = startRoles(world, options, {
          caches,
          template,
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
        parts.leadership = startLeadership(world, options.lease);
        parts.leadership.leading.pipe(distinctUntilChanged(), skipWhile((leads) => !leads))
          .subscribe((leads) => self.send({ type: leads ? 'leadership.won' : 'leadership.lost' }));
      },
      openSession: () => parts.roles?.session.lead(true),
      suspendSession: () => {
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
export const startOperator = (world: OperatorWorld, options: OperatorOptions): Operator => {
  const parts: Parts = {
    recorder: startEventRecorder(world, { instance: options.lease.identity }),
    template: undefined,
    caches: undefined,
    roles: undefined,
    leadership: undefined,
  };
  const actor = world.actor(wired(world, options, parts), 'operator', { seed: world.seed() });
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
