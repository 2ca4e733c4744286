/** `nodeMaintenance` on a cluster: one object, its stages and its deletion. */
import { Layer, ManagedRuntime } from 'effect';
import { provideNodeMaintenance } from '../../../src/actors/node-maintenance/node-maintenance-actor.ts';
import { LIFECYCLE_GROUP_VERSION } from '../../../src/domain/api-group.ts';
import { listOrEmptyAt, recordAt } from '../../../src/domain/json.ts';
import {
  FINALIZER_MANAGER,
  maintenanceStatusBody,
  STATUS_MANAGER,
} from '../../../src/domain/node-maintenance/maintenance-writes.ts';
import {
  MAINTENANCE_FINALIZER,
  type ObservedMaintenance,
  projectMaintenance,
} from '../../../src/domain/node-maintenance/observed-maintenance.ts';
import { mayFollow } from '../../../src/domain/node-maintenance/stage.ts';
import type { WriteOutcome } from '../../../src/domain/object-write.ts';
import { isOlder } from '../../../src/domain/resource-versions.ts';
import {
  NODE_MAINTENANCES_PATH,
  nodeMaintenancesLayer,
} from '../../../src/effects/node-maintenance.ts';
import type {
  NodeMaintenanceAct,
  NodeMaintenanceInput,
} from '../../../src/machines/node-maintenance-context.ts';
import type { ObservedWindow } from '../../../src/domain/node-maintenance/window.ts';
import { liveEnvironment } from '../../support/api/live-environment.ts';
import type {
  ClusterHarness,
  Moment,
  PathRun,
  PathStep,
  RunEnvironment,
  SessionEnvironment,
  StepSource,
} from './cluster-harness.ts';
import { objectFixture } from './object-fixture.ts';
import { observeCollection } from './observed-collection.ts';
import { hinderWrite, type WriteUnderWay, writeUnderWay } from './write-under-way.ts';

/** The maintenance in the cluster, in the model's terms; null before and after its life. */
interface World extends WriteUnderWay<NodeMaintenanceAct> {
  readonly current: ObservedMaintenance | null;
}

type Outcome = WriteOutcome<ObservedMaintenance>;

/** The objects of the model as an API server has them, by resourceVersion. */
type RawObjects = ReadonlyMap<string, object>;

const ANSWER = /^xstate\.done\.actor\.\w+$/;

const outcomeIn = ({ event }: Moment): Outcome | undefined =>
  ANSWER.test(event.type) ? event['output'] as Outcome : undefined;

const observing = ({ event }: Moment): ObservedMaintenance | undefined =>
  event.type === 'maintenance.observed' ? event['maintenance'] as ObservedMaintenance : undefined;

/** All that a step or a write depends on, besides identities and what a cluster counts. */
const contentOf = (
  { spec, deleting, hasFinalizer, status }: Pick<
    ObservedMaintenance,
    'spec' | 'deleting' | 'hasFinalizer' | 'status'
  >,
): string => JSON.stringify([spec, deleting, hasFinalizer, { ...status, observedGeneration: 0 }]);

/** What a server answers to a write that it accepts. */
const written = (
  current: ObservedMaintenance,
  { write }: NodeMaintenanceAct,
): ObservedMaintenance => {
  switch (write.write) {
    case 'addFinalizer':
      return { ...current, hasFinalizer: true };
    case 'complete':
      return { ...current, spec: { ...current.spec, stage: 'Complete' } };
    case 'setStatus':
      return { ...current, status: write.status };
    case 'removeFinalizer':
      return { ...current, hasFinalizer: false };
  }
};

/** Writes that name the version that they were decided on. */
const isStale = ({ maintenance, write }: NodeMaintenanceAct, current: ObservedMaintenance) =>
  (write.write === 'setStatus' || write.write === 'complete') &&
  maintenance.resourceVersion !== current.resourceVersion;

const hindranceOfAnswer = ({ current, asked }: World, moment: Moment): string | undefined => {
  const outcome = outcomeIn(moment);
  if (outcome?._tag !== 'Written') return undefined;
  if (current === null) return 'a deleted maintenance cannot be written';
  if (asked !== null && isStale(asked, current)) {
    return 'it is written on the version that the write was decided on';
  }
  if (!isOlder(current.resourceVersion, outcome.current.resourceVersion)) {
    return 'each write makes a newer version';
  }
  return asked !== null && contentOf(written(current, asked)) === contentOf(outcome.current)
    ? undefined
    : 'a server answers with what was written';
};

const hindranceOfObservation = ({ current }: World, moment: Moment): string | undefined => {
  const seen = observing(moment);
  if (seen === undefined) return undefined;
  if (current === null) return 'a recreated maintenance has another UID';
  if (isOlder(seen.resourceVersion, current.resourceVersion)) {
    return 'a cluster does not send stale objects';
  }
  if (current.deleting && !seen.deleting) return 'a deletion is never taken back';
  return mayFollow(current.spec.stage, seen.spec.stage)
    ? undefined
    : 'NM-03: a stage never goes backwards';
};

const follows: ClusterHarness<World>['follows'] = (world, step) => {
  const { asked } = world;
  let { current, stale } = world;
  const { event } = step;
  if (event.type === 'xstate.init') {
    current = (event['input'] as NodeMaintenanceInput).maintenance;
  }
  const outcome = outcomeIn(step);
  if (outcome?._tag === 'Written') current = outcome.current;
  if (outcome?._tag === 'Absent' || event.type === 'maintenance.vanished') {
    current = null;
    stale = true;
  }
  current = observing(step) ?? current;
  return {
    current,
    ...writeUnderWay({ asked, stale }, step, (input) => input as NodeMaintenanceAct),
  };
};

const TYPE = { apiVersion: LIFECYCLE_GROUP_VERSION, kind: 'NodeMaintenance' };

/** Fields that an earlier version may have set. */
const NO_SPEC = { reason: null, window: null };

/** Of another controller. */
const OTHER_FINALIZER = 'maintenances.example.com/held';

/** How a maintenance is written. */
interface PutOptions {
  /** Even if it is so. */
  readonly anew: boolean;
  /** Another controller holds the object when it is deleted. */
  readonly held: boolean;
}

/** The maintenance of the cluster, and the hand of the people who change it. */
const openMaintenances = async (
  { hand, source }: SessionEnvironment,
  rawObjects: RawObjects,
) => {
  const path = NODE_MAINTENANCES_PATH;
  const { environment, dispose } = liveEnvironment(source);
  const collection = await observeCollection(environment, path, projectMaintenance);
  const fixtureOf = (name: string) => objectFixture(hand, collection, { ...TYPE, path, name });
  /** The maintenance as the watch shows it when it has reached the version of the API server. */
  const watched = async (at: string): Promise<ObservedMaintenance> => {
    const made = projectMaintenance(await hand.must('GET', at));
    return await collection.until(() => {
      const seen = made === undefined ? undefined : collection.get(made.key);
      return seen?.resourceVersion === made?.resourceVersion ? seen : undefined;
    });
  };
  return {
    /** Writes the maintenance, each part as its field manager. */
    put: async (wanted: ObservedMaintenance, { anew, held }: PutOptions) => {
      const raw = rawObjects.get(wanted.resourceVersion);
      const at = `${path}/${wanted.name}`;
      const spec = { ...NO_SPEC, ...recordAt(raw, 'spec') };
      let live = await fixtureOf(wanted.name).put({ spec }, { anew });
      if (wanted.hasFinalizer !== live.hasFinalizer) {
        const own = listOrEmptyAt(raw, 'metadata', 'finalizers');
        const object = { ...TYPE, metadata: { uid: live.uid, finalizers: own } };
        const applied = await hand.apply(at, object, FINALIZER_MANAGER);
        live = projectMaintenance(applied) ?? live;
      }
      const status = { ...wanted.status, observedGeneration: live.generation };
      await hand.apply(`${at}/status`, maintenanceStatusBody(live, status), STATUS_MANAGER);
      if (wanted.deleting && !live.deleting) {
        const finalizers = [MAINTENANCE_FINALIZER, ...(held ? [OTHER_FINALIZER] : [])];
        await hand.must('PATCH', at, { metadata: { finalizers } });
        await hand.must('DELETE', at);
      }
      return await watched(at);
    },
    remove: (name: string) => fixtureOf(name).remove(),
    close: async (): Promise<void> => {
      collection.stop();
      await dispose();
    },
  };
};

type OpenMaintenances = Awaited<ReturnType<typeof openMaintenances>>;

/** The object is still there when our finalizer has left it. */
const outlivesUs = ({ rest }: PathStep<World>): boolean =>
  rest.some((step) => {
    const isRemoval = step.event.type === 'xstate.done.actor.removeFinalizer';
    return isRemoval && outcomeIn(step)?._tag === 'Written';
  });

const ignore = (): void => {};

const runOf = async (
  environment: RunEnvironment,
  maintenances: OpenMaintenances,
  drawn: NodeMaintenanceInput,
): Promise<PathRun<World>> => {
  const { names, services } = environment;
  const runtime = ManagedRuntime.make(Layer.provide(nodeMaintenancesLayer, services));
  const { name } = drawn.maintenance;
  const maintenance = await maintenances.put(drawn.maintenance, { anew: false, held: false });
  let { generation } = maintenance;
  names.match(maintenance, drawn.maintenance);
  const actions = {
    requestSlot: ignore,
    recordRefused: ignore,
    recordFailing: ignore,
    recordWindowClosed: ignore,
    recordWindowMalformed: ignore,
    recordCrossed: ignore,
    recordYielding: ignore,
    yieldNode: ignore,
    drainAgain: ignore,
    beginNodes: ignore,
    withholdNodes: ignore,
    requestWindow: ignore,
    cordonNodes: ignore,
    drainNodes: ignore,
    releaseNodes: ignore,
    requestPreview: ignore,
  };
  return {
    machine: provideNodeMaintenance(runtime, actions, (write) => write),
    input: { ...drawn, maintenance },
    arrange: async (pathStep: PathStep<World>): Promise<StepSource> => {
      const outcome = outcomeIn(pathStep);
      return await hinderWrite(environment, pathStep, outcome) ?? 'server';
    },
    observe: async (pathStep) => {
      const { event, world } = pathStep;
      const seen = observing(pathStep);
      if (seen !== undefined) {
        const anew = world.current?.resourceVersion !== seen.resourceVersion;
        const live = await maintenances.put(seen, { anew, held: outlivesUs(pathStep) });
        names.match(live, seen);
        ({ generation } = live);
        return { event: { ...event, maintenance: live }, by: 'watch' };
      }
      if (event.type === 'window.observed') {
        const window = event['window'] as ObservedWindow;
        return { event: { ...event, window: { ...window, generation } }, by: 'word' };
      }
      if (event.type !== 'maintenance.vanished') return { event, by: 'word' };
      const isThere = world.current !== null;
      if (isThere) await maintenances.remove(name);
      return { event, by: isThere ? 'watch' : 'hand' };
    },
    stop: async () => {
      await runtime.dispose();
      await maintenances.remove(name);
    },
  };
};

/** The harness of `nodeMaintenance`. */
export const nodeMaintenanceHarness = (rawObjects: RawObjects): ClusterHarness<World> => ({
  world: { current: null, asked: null, stale: false },
  limit: 3000,
  hindrance: (world, moment) =>
    hindranceOfAnswer(world, moment) ?? hindranceOfObservation(world, moment),
  follows,
  open: async (environment) => {
    const maintenances = await openMaintenances(environment, rawObjects);
    return {
      begin: (run, input) => runOf(run, maintenances, input as NodeMaintenanceInput),
      close: maintenances.close,
    };
  },
});
