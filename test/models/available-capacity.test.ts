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
import { resourceVersion } from '../../src/domain/ids.ts';
import { parseJson, textAt, valueAt } from '../../src/domain/json.ts';
import type { WriteOutcome } from '../../src/domain/object-write.ts';
import { isOlder } from '../../src/domain/resource-versions.ts';
import { availableCapacitiesLayer } from '../../src/effects/available-capacities.ts';
import type { KubeCall } from '../../src/effects/kube-api.ts';
import {
  availableCapacity,
  type AvailableCapacityContext,
} from '../../src/machines/available-capacity.ts';
import { answeringApi, answerOf } from '../support/api/fake-api.ts';
import { availableCapacityHarness } from './cluster/available-capacity-harness.ts';
import type { Received } from './harness/crash.ts';
import type { StepEvent } from './harness/interpreter.ts';
import { writerInvariant } from './harness/writer-invariants.ts';
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

/** What outlives the process: the object, and what the fleet reports. */
interface World {
  readonly current: AvailableCapacityProjection | null;
  readonly newest: string | null;
  readonly reported: CapacityReport | null;
}

const NOTHING: World = { current: null, newest: null, reported: null };
const REPORTS = [reported(1), reported(2), reported(0)];

const reportIn = ({ reported: received }: StepEvent): CapacityReport | undefined =>
  REPORTS.find((one) => one === received);

/** The object that is written about: as served, not as the machine remembers it. */
const objectIn = (value: unknown): AvailableCapacityProjection | undefined =>
  projectAvailableCapacity(served.get(textAt(value, 'resourceVersion') ?? ''));

/** An older object, and the echo of a known one, says nothing. */
const withObject = (world: World, seen: AvailableCapacityProjection, isEcho: boolean): World =>
  world.newest !== null && (isEcho || isOlder(seen.resourceVersion, resourceVersion(world.newest)))
    ? world
    : { ...world, current: seen, newest: seen.resourceVersion };

const recorded = (world: World, { event }: Pick<Received, 'event'>): World => {
  if (event.type === 'capacity.observed') {
    return { ...world, reported: reportIn(event) ?? world.reported };
  }
  if (event.type === 'object.vanished') {
    return event['uid'] === world.current?.uid ? { ...world, current: null } : world;
  }
  const written = objectIn(valueAt(event['output'], 'current'));
  if (written !== undefined) return withObject(world, written, false);
  if (textAt(event['output'], '_tag') === 'Absent') return { ...world, current: null };
  const seen = objectIn(event['current']);
  return seen === undefined
    ? world
    : withObject(world, seen, seen.resourceVersion === world.newest);
};

const checkWriter = writerInvariant({
  pendingIn: ({ context }) => pendingCapacityWrite(context.facts),
  actorOf: { create: 'createObject', spec_update: 'patchObject', delete: 'deleteObject' },
  baseOf: ({ context }) => context.facts.current?.resourceVersion ?? null,
  restsIn: ({ context }) => context.facts.current === null ? 'gone' : 'settled',
  retries: 'WithoutSlot',
  reconsiders: ({ event, before }) =>
    before.matches('refused') && event.type === 'capacity.observed' &&
    reportIn(event)?.spec !== before.context.facts.reported?.spec,
});

describeModel('availableCapacity', {
  machine: availableCapacity,
  wire,
  harness: availableCapacityHarness,
  inputs: [{ name: 'ac-1', facts: { reported: null, current: null }, seed: 1 }],
  events: {
    'capacity.observed': REPORTS.map((received) => ({ reported: received })),
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
    if (actions.includes('invoke:deleteObject')) expect(facts.reported?.exhausted).toBe(true);
  },
  stepInvariant: checkWriter,
  crash: {
    world: NOTHING,
    record: recorded,
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
  forgets: 'object.observed',
});
