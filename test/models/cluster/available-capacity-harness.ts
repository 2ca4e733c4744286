/** `availableCapacity` on a cluster: one AvailableCapacity, which others may change or delete. */
import { Layer, ManagedRuntime } from 'effect';
import { provideAvailableCapacity } from '../../../src/actors/upcoming-nodes/available-capacities.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import {
  type AvailableCapacityFacts,
  type AvailableCapacityProjection,
  capacityPatch,
  projectAvailableCapacity,
} from '../../../src/domain/available-capacity.ts';
import { asRecord, parseJson, valueAt } from '../../../src/domain/json.ts';
import type { WriteOutcome } from '../../../src/domain/object-write.ts';
import {
  AVAILABLE_CAPACITIES_PATH,
  availableCapacitiesLayer,
} from '../../../src/effects/available-capacities.ts';
import { mergePatched } from '../../../packages/embedded-kubernetes/src/patches/merge-patch.ts';
import type { AvailableCapacityInput } from '../../../src/machines/available-capacity.ts';
import { liveEnvironment } from '../../support/api/live-environment.ts';
import { type ObjectFixture, objectFixture } from './object-fixture.ts';
import { observeCollection } from './observed-collection.ts';
import type {
  ClusterHarness,
  Moment,
  PathRun,
  PathStep,
  RunEnvironment,
  StepSource,
} from './cluster-harness.ts';
import { hinderWrite, type WriteUnderWay, writeUnderWay } from './write-under-way.ts';

type Current = AvailableCapacityProjection;

/** The object in the cluster, and the input of the write in flight. */
interface World extends WriteUnderWay<AvailableCapacityFacts> {
  /** The spec of the object; null when there is none. */
  readonly spec: string | null;
}

const TYPE = { apiVersion: 'bigfleet.lucy.sh/v1alpha1', kind: 'AvailableCapacity' };
const ANSWER = /^xstate\.done\.actor\.(createObject|patchObject|deleteObject)$/;

const outcomeIn = ({ event }: Moment): WriteOutcome<Current> | undefined =>
  ANSWER.test(event.type) ? event['output'] as WriteOutcome<Current> : undefined;

const canonical = (spec: unknown): string =>
  projectAvailableCapacity({ metadata: { name: 'x', uid: 'x', resourceVersion: '1' }, spec })
    ?.spec ?? '';

/** The spec after the write in flight; null when it has no object. */
const written = ({ spec, asked }: World, type: string): string | null => {
  if (asked === null) return null;
  if (type.endsWith('createObject')) return spec ?? asked.reported?.spec ?? null;
  if (spec === null) return null;
  const patch = valueAt(capacityPatch(asked), 'spec') ?? {};
  return canonical(mergePatched(parseJson(spec), patch));
};

const observing = ({ event }: Moment): Current | undefined =>
  event.type === 'object.observed' ? event['current'] as Current : undefined;

const hindrance = (world: World, moment: Moment): string | undefined => {
  const { event, before } = moment;
  const outcome = outcomeIn(moment);
  if (outcome?._tag === 'Written' && outcome.current.spec !== written(world, event.type)) {
    return 'a server answers with what was written';
  }
  if (event.type.endsWith('deleteObject') && world.stale && world.spec !== null) {
    return 'another object of that name is not deleted';
  }
  const current = observing(moment);
  return current?.resourceVersion === before.context.newest && current?.spec !== world.spec
    ? 'an object shown again after a change has another resourceVersion'
    : undefined;
};

const follows = (
  world: World,
  step: Parameters<ClusterHarness<World>['follows']>[1],
): World => {
  const { event } = step;
  const outcome = outcomeIn(step);
  const { asked } = world;
  let { spec, stale } = world;
  if (outcome?._tag === 'Written') spec = outcome.current.spec;
  if (outcome?._tag === 'Absent') spec = null;
  if (event.type === 'object.vanished' && event['uid'] === 'u1') {
    spec = null;
    stale = true;
  }
  const current = observing(step);
  if (current !== undefined) spec = current.spec;
  return {
    spec,
    ...writeUnderWay(
      { asked, stale },
      step,
      (input) => valueAt(input, 'facts') as AvailableCapacityFacts,
    ),
  };
};

const runOf = (
  environment: RunEnvironment,
  object: ObjectFixture<Current>,
  input: object,
): PathRun<World> => {
  const { names, services } = environment;
  const runtime = ManagedRuntime.make(
    availableCapacitiesLayer({ telemetry: silentTelemetry }).pipe(Layer.provide(services)),
  );
  let uid = 'u1';
  const arrange = async (pathStep: PathStep<World>): Promise<StepSource> => {
    const outcome = outcomeIn(pathStep);
    const hindered = await hinderWrite(environment, pathStep, outcome);
    if (hindered !== undefined) return hindered;
    if (outcome?._tag === 'Absent' && pathStep.event.type.endsWith('patchObject')) {
      await object.remove();
    }
    return 'server';
  };
  const observe: PathRun<World>['observe'] = async (pathStep) => {
    const { event } = pathStep;
    const drawn = observing(pathStep);
    if (drawn !== undefined) {
      const spec = asRecord(parseJson(drawn.spec)) ?? {};
      const current = await object.put({ spec });
      names.match(current, drawn);
      uid = current.uid;
      return { event: { ...event, current }, by: 'watch' };
    }
    if (event.type !== 'object.vanished') return { event, by: 'word' };
    if (event['uid'] !== 'u1') return { event, by: 'hand' };
    const last = await object.remove();
    if (last !== undefined) uid = last.uid;
    return { event: { ...event, uid }, by: last === undefined ? 'hand' : 'watch' };
  };
  const deaf = (): void => {};
  return {
    machine: provideAvailableCapacity(
      runtime,
      { requestSlot: deaf, recordRefused: deaf, recordFailing: deaf },
      (write) => write,
    ),
    input: { ...input, name: object.name },
    arrange,
    observe,
    stop: async () => {
      await runtime.dispose();
      await object.remove();
    },
  };
};

/** The harness of `availableCapacity`. */
export const availableCapacityHarness: ClusterHarness<World> = {
  world: { spec: null, asked: null, stale: false },
  hindrance,
  follows,
  open: async ({ hand, source }) => {
    const { environment: world, dispose } = liveEnvironment(source);
    const path = AVAILABLE_CAPACITIES_PATH;
    const collection = await observeCollection(world, path, projectAvailableCapacity);
    return {
      begin: (environment, input) => {
        const name = `models-${environment.number}`;
        const object = objectFixture(hand, collection, { ...TYPE, path, name });
        return Promise.resolve(runOf(environment, object, input as AvailableCapacityInput));
      },
      close: async () => {
        collection.stop();
        await dispose();
      },
    };
  },
};
