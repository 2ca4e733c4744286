/**
 * One profile of free capacity and its AvailableCapacity object, of which this is the only writer.
 *
 * Promises: the object ends as the fleet last said, or is gone when it said that nothing is left;
 * one write is in flight at a time and only in a slot; a write that fails is tried again until it
 * lands or is not owed any more; nothing is written when nothing changed.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import {
  type AvailableCapacityFacts,
  type AvailableCapacityProjection,
  type CapacitySaid,
  type CapacityWrite,
  pendingCapacityWrite,
} from '../domain/available-capacity.ts';
import { backoffMs } from '../domain/backoff.ts';
import type { Revision } from '../domain/ids.ts';
import { verdictOf, type WriteOutcome } from '../domain/object-write.ts';
import type { Seed } from '../domain/random.ts';
import { answersOf } from './act-answers.ts';
import {
  afterAnswer,
  afterTry,
  objectWriter,
  type ObjectWriterContext,
  shownGuards,
  type ShownObject,
  UNTRIED,
  writerDelays,
  writerGuards,
  writing,
} from './object-writer.ts';
import { required } from './required.ts';

/** A profile that cannot be written gives its slot to others at once. */
const BACKOFF = { firstMs: 500, lastMs: 30_000 };

/** The name of the object, and what it is to show. */
export interface AvailableCapacityAct {
  readonly name: string;
  readonly facts: AvailableCapacityFacts;
}

export interface AvailableCapacityInput extends AvailableCapacityAct {
  readonly seed: Seed;
}

export interface AvailableCapacityContext
  extends
    AvailableCapacityInput,
    ShownObject<AvailableCapacityFacts>,
    ObjectWriterContext<{ readonly write: CapacityWrite }> {
  /** The revision that the write under way set out from; none for a creation. */
  readonly base: Revision | null;
}

type Shown = AvailableCapacityProjection;

export type AvailableCapacityEvent =
  | { readonly type: 'capacity.observed'; readonly said: CapacitySaid }
  | { readonly type: 'object.observed'; readonly shown: Shown }
  | { readonly type: 'object.vanished'; readonly uid: string }
  | { readonly type: 'slot.acquired' };

const actOf = ({ context: { name, facts } }: { readonly context: AvailableCapacityContext }) => ({
  name,
  facts,
});

const writes = writing(actOf, answersOf<WriteOutcome<Shown>>()('deciding', 'setAnswer'));

/** The facts, and what is pending because of them. */
const known = (facts: AvailableCapacityFacts) => {
  const write = pendingCapacityWrite(facts);
  return { facts, pendingWrite: write === undefined ? null : { write } };
};

const saidIn = ({ event }: { readonly event: { readonly said: CapacitySaid } }) => event.said;

/** The statechart of a profile's object; `src/actors/upcoming-nodes` provides its writes. */
export const availableCapacity = setup({
  types: {
    context: {} as AvailableCapacityContext,
    events: {} as AvailableCapacityEvent,
    input: {} as AvailableCapacityInput,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'acting' | 'settled',
  },
  actors: {
    createObject: required<WriteOutcome<Shown>, AvailableCapacityAct>('createObject'),
    patchObject: required<WriteOutcome<Shown>, AvailableCapacityAct>('patchObject'),
    deleteObject: required<WriteOutcome<Shown>, AvailableCapacityAct>('deleteObject'),
  },
  actions: {
    requestSlot: () => {},
    recordRefused: () => {},
    recordFailing: () => {},
    setSaid: assign(({ context }, said: CapacitySaid) => known({ ...context.facts, said })),
    setShown: assign(({ context }, shown: Shown) => ({
      ...known({ ...context.facts, shown }),
      newest: shown.revision,
    })),
    setVanished: assign(({ context }) => known({ ...context.facts, shown: null })),
    setAnswer: assign(({ context }, outcome: WriteOutcome<Shown>) => {
      const { facts, newest } = afterAnswer(context, outcome);
      const tries = afterTry(context, outcome, verdictOf(outcome, context.base));
      return { ...tries, ...known(facts), newest };
    }),
    setBase: assign({ base: ({ context }) => context.facts.shown?.revision ?? null }),
    resetVerdict: assign({ verdict: 'Untried' }),
  },
  guards: {
    ...writerGuards,
    ...shownGuards,
    nothingThere: ({ context }) => context.facts.shown === null,
    objectThere: ({ context }) => context.facts.shown !== null,
    saysOtherwise: ({ context }, said: CapacitySaid) => said.spec !== context.facts.said?.spec,
  },
  delays: {
    ...writerDelays,
    slotBackoff: ({ context }) => backoffMs(BACKOFF, context.attempt, context.seed),
  },
}).createMachine({
  id: 'availableCapacity',
  description: 'One profile of free capacity and its AvailableCapacity object.',
  context: ({ input }) => ({
    ...input,
    ...known(input.facts),
    newest: input.facts.shown?.revision ?? null,
    base: null,
    ...UNTRIED,
  }),
  initial: 'settled',
  on: {
    'capacity.observed': { actions: { type: 'setSaid', params: saidIn } },
    'object.observed': {
      guard: { type: 'isNews', params: ({ event }) => event.shown },
      actions: { type: 'setShown', params: ({ event }) => event.shown },
    },
    'object.vanished': {
      guard: { type: 'isShown', params: ({ event }) => event.uid },
      actions: 'setVanished',
    },
  },
  states: objectWriter({
    id: 'availableCapacity',
    settled: {
      description: 'The object shows what the fleet last reported.',
      always: [
        { guard: 'writePending', target: 'waiting' },
        { guard: 'nothingThere', target: 'gone' },
      ],
    },
    further: {
      gone: {
        description: 'Nothing is left of this profile, and there is no object.',
        tags: 'settled',
        always: [
          { guard: 'writePending', target: 'waiting' },
          { guard: 'objectThere', target: 'settled' },
        ],
      },
    },
    writes: {
      creating: writes('createObject', 'Creates the object.'),
      patching: writes('patchObject', 'Writes what changed.'),
      deleting: writes('deleteObject', 'Deletes the object: the fleet has none left, for certain.'),
    },
    branches: [
      { write: 'create', state: 'creating' },
      { write: 'spec_update', state: 'patching' },
      { write: 'delete', state: 'deleting' },
    ],
    retries: 'WithoutSlot',
    setAside: { reason: 'WriteFailing', on: {} },
    refused: {
      reason: 'WriteRefused',
      on: {
        'capacity.observed': {
          guard: { type: 'saysOtherwise', params: saidIn },
          target: 'waiting',
          actions: { type: 'setSaid', params: saidIn },
        },
      },
    },
  }),
});
