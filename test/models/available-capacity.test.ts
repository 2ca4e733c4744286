/** One profile of free capacity and its object, walked through every configuration. */
import { expect } from 'vitest';
import {
  type AvailableCapacityProjection,
  type CapacitySaid,
  capacitySaid,
  owedCapacityWrite,
} from '../../src/domain/available-capacity.ts';
import { objectKey, revision, uid } from '../../src/domain/ids.ts';
import {
  availableCapacity,
  type AvailableCapacityContext,
} from '../../src/machines/available-capacity.ts';
import { describeModel } from './model.ts';

const said = (availableCount: number): CapacitySaid =>
  capacitySaid({
    supersedesKey: 'available:p',
    requirements: [],
    resources: { cpu: '1' },
    availableCount,
    confidence: availableCount === 0 ? 'None' : 'High',
    costPerHour: 0.5,
  });

/** A revision is what the object says, so that equal revisions are equal objects. */
const shown = (availableCount: number): AvailableCapacityProjection => ({
  key: objectKey('ac-1'),
  uid: uid('u1'),
  revision: revision(`r${availableCount}`),
  spec: said(availableCount).spec,
});

interface World {
  readonly shown: AvailableCapacityProjection | null;
  readonly said: CapacitySaid | null;
}

describeModel('availableCapacity', {
  machine: availableCapacity,
  inputs: [{ name: 'ac-1', facts: { said: null, shown: null }, seed: 1 }],
  events: {
    'capacity.observed': [{ said: said(1) }, { said: said(2) }, { said: said(0) }],
    'object.observed': [{ shown: shown(1) }, { shown: shown(7) }],
    'object.vanished': [{ uid: 'u1' }, { uid: 'another' }],
    'xstate.done.actor.createObject': [
      { output: { _tag: 'Written', shown: shown(1) } },
      { output: { _tag: 'Fault', why: 'planted' } },
      { output: { _tag: 'Refused', why: 'planted' } },
    ],
    'xstate.done.actor.patchObject': [
      { output: { _tag: 'Written', shown: shown(2) } },
      { output: { _tag: 'Absent' } },
    ],
    'xstate.done.actor.deleteObject': [{ output: { _tag: 'Absent' } }],
  },
  project: ({ facts, newest, attempt, verdict }: AvailableCapacityContext) => ({
    said: facts.said,
    shown: facts.shown?.revision,
    newest,
    failing: attempt > 0,
    verdict,
  }),
  invariant: (snapshot, acts) => {
    const { facts } = snapshot.context;
    const begun = acts.filter((act) => act.startsWith('invoke:'));
    expect(begun.length, 'one write at a time').toBeLessThanOrEqual(1);
    if (begun.length > 0) expect(snapshot.hasTag('acting'), 'writes need a turn').toBe(true);
    if (snapshot.hasTag('settled')) expect(owedCapacityWrite(facts)).toBeUndefined();
    if (acts.includes('invoke:deleteObject')) expect(facts.said?.exhausted).toBe(true);
  },
  crash: {
    world: { shown: null, said: null } satisfies World,
    record: (world: World, { event, before, after }): World => {
      const { facts } = after.context;
      if (event.type === 'capacity.observed') return { ...world, said: facts.said };
      return before === after ? world : { ...world, shown: facts.shown };
    },
    restart: (world) => ({
      input: { name: 'ac-1', facts: { said: null, shown: world.shown }, seed: 1 },
      events: world.said === null ? [] : [{ type: 'capacity.observed', said: world.said }],
    }),
    obligations: ({ context: { facts } }: { context: AvailableCapacityContext }) => ({
      said: facts.said,
      owes: owedCapacityWrite(facts),
    }),
  },
});
