/** One profile of free capacity and its object, walked through every configuration. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect } from 'vitest';
import { provideAvailableCapacity } from '../../src/actors/upcoming-nodes/available-capacities.ts';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import {
  type AvailableCapacityProjection,
  type CapacityReport,
  capacityReport,
  pendingCapacityWrite,
  projectAvailableCapacity,
} from '../../src/domain/available-capacity.ts';
import { parseJson } from '../../src/domain/json.ts';
import type { WriteOutcome } from '../../src/domain/object-write.ts';
import { availableCapacitiesLayer } from '../../src/effects/available-capacities.ts';
import type { KubeCall } from '../../src/effects/kube-api.ts';
import {
  availableCapacity,
  type AvailableCapacityContext,
} from '../../src/machines/available-capacity.ts';
import { answeringApi, answerOf } from '../support/api/fake-api.ts';
import { availableCapacityHarness } from './cluster/available-capacity-harness.ts';
import { describeModel, type InvokedActors } from './model.ts';

const reported = (availableCount: number): CapacityReport =>
  capacityReport({
    supersedesKey: 'available:p',
    requirements: [],
    resources: { cpu: '1' },
    availableCount,
    confidence: availableCount === 0 ? 'None' : 'High',
    costPerHour: 0.5,
  });

/** What the API server would answer with, by revision. */
const served = new Map<string, object>();

/** The resourceVersion derives from the content, so equal ones mean equal objects. */
const current = (availableCount: number): AvailableCapacityProjection => {
  const raw = {
    metadata: { name: 'ac-1', uid: 'u1', resourceVersion: `r${availableCount}` },
    spec: parseJson(reported(availableCount).spec),
  };
  const projection = projectAvailableCapacity(raw);
  if (projection === undefined) throw new Error('No projection');
  served.set(projection.resourceVersion, raw);
  return projection;
};

type Outcome = WriteOutcome<AvailableCapacityProjection>;

const actIn = ({ method }: KubeCall): string => {
  if (method === 'PATCH') return 'patchObject';
  return method === 'POST' ? 'createObject' : 'deleteObject';
};

/** The statechart with its real effects, down to its requests. */
const wire = (invoked: InvokedActors) => {
  const api = answeringApi((call) =>
    Effect.flatMap(
      Effect.promise(() => invoked.perform<Outcome>(actIn(call), call)),
      (outcome) => answerOf(outcome, (resourceVersion) => served.get(resourceVersion)),
    )
  );
  const layer = availableCapacitiesLayer({ telemetry: silentTelemetry }).pipe(
    Layer.provide(api),
  );
  const deaf = () => {};
  return provideAvailableCapacity(
    ManagedRuntime.make(layer),
    { requestSlot: deaf, recordRefused: deaf, recordFailing: deaf },
    (write) => write,
  );
};

interface World {
  readonly current: AvailableCapacityProjection | null;
  readonly reported: CapacityReport | null;
}

describeModel('availableCapacity', {
  machine: availableCapacity,
  wire,
  harness: availableCapacityHarness,
  inputs: [{ name: 'ac-1', facts: { reported: null, current: null }, seed: 1 }],
  events: {
    'capacity.observed': [{ reported: reported(1) }, { reported: reported(2) }, {
      reported: reported(0),
    }],
    'object.observed': [{ current: current(1) }, { current: current(7) }],
    'object.vanished': [{ uid: 'u1' }, { uid: 'another' }],
    'xstate.done.actor.createObject': [
      { output: { _tag: 'Written', current: current(1) } },
      { output: { _tag: 'Fault', why: 'planted' } },
      { output: { _tag: 'Refused', why: 'planted' } },
    ],
    'xstate.done.actor.patchObject': [
      { output: { _tag: 'Written', current: current(2) } },
      { output: { _tag: 'Absent' } },
    ],
    'xstate.done.actor.deleteObject': [{ output: { _tag: 'Absent' } }],
  },
  project: ({ facts, base, sent, newest, attempt, verdict }: AvailableCapacityContext) => ({
    base,
    sent,
    reported: facts.reported,
    current: facts.current?.resourceVersion,
    newest,
    failing: attempt > 0,
    verdict,
  }),
  invariant: (snapshot, actions) => {
    const { facts } = snapshot.context;
    const begun = actions.filter((action) => action.startsWith('invoke:'));
    expect(begun.length, 'one write at a time').toBeLessThanOrEqual(1);
    if (begun.length > 0) expect(snapshot.hasTag('acting'), 'writes need a turn').toBe(true);
    if (snapshot.hasTag('settled')) expect(pendingCapacityWrite(facts)).toBeUndefined();
    if (actions.includes('invoke:deleteObject')) expect(facts.reported?.exhausted).toBe(true);
  },
  crash: {
    world: { current: null, reported: null } satisfies World,
    record: (world: World, { event, before, after }): World => {
      const { facts } = after.context;
      if (event.type === 'capacity.observed') return { ...world, reported: facts.reported };
      return before === after ? world : { ...world, current: facts.current };
    },
    restart: (world) => ({
      input: { name: 'ac-1', facts: { reported: null, current: world.current }, seed: 1 },
      events: world.reported === null
        ? []
        : [{ type: 'capacity.observed', reported: world.reported }],
    }),
    obligations: ({ context: { facts } }: { context: AvailableCapacityContext }) => ({
      reported: facts.reported,
      pendingWrite: pendingCapacityWrite(facts),
    }),
  },
});
