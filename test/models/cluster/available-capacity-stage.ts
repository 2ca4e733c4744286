/** `availableCapacity` on a cluster: one AvailableCapacity, which others may change or delete. */
import { Layer, ManagedRuntime } from 'effect';
import { provideAvailableCapacity } from '../../../src/actors/upcoming-nodes/available-capacity-actor.ts';
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
import { type ObjectScenery, objectScenery } from './object-scenery.ts';
import { watchSight } from './sight.ts';
import type { Cue, Moment, Mover, Place, Scene, Stage } from './stage.ts';
import { hinderWrite, type WriteUnderWay, writeUnderWay } from './write-under-way.ts';

type Shown = AvailableCapacityProjection;

/** What the cluster shows, and what the write under way was made from. */
interface World extends WriteUnderWay<AvailableCapacityFacts> {
  /** The spec of the object; null when there is none. */
  readonly spec: string | null;
}

const TYPE = { apiVersion: 'bigfleet.lucy.sh/v1alpha1', kind: 'AvailableCapacity' };
const ANSWER = /^xstate\.done\.actor\.(createObject|patchObject|deleteObject)$/;

const outcomeIn = ({ event }: Moment): WriteOutcome<Shown> | undefined =>
  ANSWER.test(event.type) ? event['output'] as WriteOutcome<Shown> : undefined;

const canonical = (spec: unknown): string =>
  projectAvailableCapacity({ metadata: { name: 'x', uid: 'x', resourceVersion: '1' }, spec })
    ?.spec ?? '';

/** The spec that the write under way leads to; null when there is nothing to write to. */
const written = ({ spec, asked }: World, type: string): string | null => {
  if (asked === null) return null;
  if (type.endsWith('createObject')) return spec ?? asked.said?.spec ?? null;
  if (spec === null) return null;
  const patch = valueAt(capacityPatch(asked), 'spec') ?? {};
  return canonical(mergePatched(parseJson(spec), patch));
};

const observing = ({ event }: Moment): Shown | undefined =>
  event.type === 'object.observed' ? event['shown'] as Shown : undefined;

const hindrance = (world: World, moment: Moment): string | undefined => {
  const { event, before } = moment;
  const outcome = outcomeIn(moment);
  if (outcome?._tag === 'Written' && outcome.shown.spec !== written(world, event.type)) {
    return 'a server answers with what was written';
  }
  if (event.type.endsWith('deleteObject') && world.stale && world.spec !== null) {
    return 'another object of that name is not deleted';
  }
  const shown = observing(moment);
  return shown?.revision === before.context.newest && shown?.spec !== world.spec
    ? 'what is shown again after a change has another revision'
    : undefined;
};

const follows = (
  world: World,
  step: Parameters<Stage<World>['follows']>[1],
): World => {
  const { event } = step;
  const outcome = outcomeIn(step);
  const { asked } = world;
  let { spec, stale } = world;
  if (outcome?._tag === 'Written') spec = outcome.shown.spec;
  if (outcome?._tag === 'Absent') spec = null;
  if (event.type === 'object.vanished' && event['uid'] === 'u1') {
    spec = null;
    stale = true;
  }
  const shown = observing(step);
  if (shown !== undefined) spec = shown.spec;
  return {
    spec,
    ...writeUnderWay(
      { asked, stale },
      step,
      (input) => valueAt(input, 'facts') as AvailableCapacityFacts,
    ),
  };
};

const sceneOf = (
  place: Place,
  object: ObjectScenery<Shown>,
  input: object,
): Scene<World> => {
  const { names, services } = place;
  const runtime = ManagedRuntime.make(
    availableCapacitiesLayer({ telemetry: silentTelemetry }).pipe(Layer.provide(services)),
  );
  let uid = 'u1';
  const arrange = async (cue: Cue<World>): Promise<Mover> => {
    const outcome = outcomeIn(cue);
    const hindered = await hinderWrite(place, cue, outcome);
    if (hindered !== undefined) return hindered;
    if (outcome?._tag === 'Absent' && cue.event.type.endsWith('patchObject')) await object.remove();
    return 'server';
  };
  const observe: Scene<World>['observe'] = async (cue) => {
    const { event } = cue;
    const drawn = observing(cue);
    if (drawn !== undefined) {
      const spec = asRecord(parseJson(drawn.spec)) ?? {};
      const shown = await object.put({ spec });
      names.match(shown, drawn);
      uid = shown.uid;
      return { event: { ...event, shown }, by: 'watch' };
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

/** The stage of `availableCapacity`. */
export const availableCapacityStage: Stage<World> = {
  world: { spec: null, asked: null, stale: false },
  hindrance,
  follows,
  open: async ({ hand, source }) => {
    const { environment: world, dispose } = liveEnvironment(source);
    const path = AVAILABLE_CAPACITIES_PATH;
    const sight = await watchSight(world, path, projectAvailableCapacity);
    return {
      begin: (place, input) => {
        const name = `models-${place.number}`;
        const object = objectScenery(hand, sight, { ...TYPE, path, name });
        return Promise.resolve(sceneOf(place, object, input as AvailableCapacityInput));
      },
      close: async () => {
        sight.stop();
        await dispose();
      },
    };
  },
};
