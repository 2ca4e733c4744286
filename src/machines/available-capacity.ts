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
  owedCapacityWrite,
} from '../domain/available-capacity.ts';
import { backoffMs } from '../domain/backoff.ts';
import type { Revision } from '../domain/ids.ts';
import { verdictOf, type WriteOutcome } from '../domain/object-write.ts';
import type { Seed } from '../domain/random.ts';
import { answersOf } from './act-answers.ts';
import { required } from './required.ts';
import {
  afterAnswer,
  afterTry,
  REFUSAL_BACKOFF_MS,
  shownGuards,
  type ShownObject,
  UNTRIED,
  verdictGuards,
  writes,
  type WriteTries,
} from './writing-in-turns.ts';

/** Between turns: a profile that cannot be written makes room for others at once. */
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
  extends AvailableCapacityInput, ShownObject<AvailableCapacityFacts>, WriteTries {
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

const writing = writes(actOf, answersOf<WriteOutcome<Shown>>()('deciding', 'takeAnswer'));

/** The statechart of a profile's object; `src/actors/machines` provides its acts. */
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
    tellRefused: () => {},
    tellFailing: () => {},
    takeAnswer: assign(({ context }, outcome: WriteOutcome<Shown>) => ({
      ...afterTry(context, outcome, verdictOf(outcome, context.base)),
      ...afterAnswer(context, outcome),
    })),
    noteBase: assign({ base: ({ context }) => context.facts.shown?.revision ?? null }),
    tryAgain: assign({ verdict: 'Untried' }),
  },
  guards: {
    anythingOwed: ({ context }) => owedCapacityWrite(context.facts) !== undefined,
    nothingOwed: ({ context }) => owedCapacityWrite(context.facts) === undefined,
    creationOwed: ({ context }) => owedCapacityWrite(context.facts) === 'create',
    patchOwed: ({ context }) => owedCapacityWrite(context.facts) === 'spec_update',
    deletionOwed: ({ context }) => owedCapacityWrite(context.facts) === 'delete',
    nothingThere: ({ context }) => context.facts.shown === null,
    objectThere: ({ context }) => context.facts.shown !== null,
    ...verdictGuards,
    saysOtherwise: ({ context }, said: CapacitySaid) => said.spec !== context.facts.said?.spec,
    ...shownGuards,
  },
  delays: {
    writeBackoff: ({ context }) => backoffMs(BACKOFF, context.attempt, context.seed),
    refusalBackoff: REFUSAL_BACKOFF_MS,
  },
}).createMachine({
  id: 'availableCapacity',
  description: 'One profile of free capacity and its AvailableCapacity object.',
  context: ({ input }) => ({
    ...input,
    newest: input.facts.shown?.revision ?? null,
    base: null,
    ...UNTRIED,
  }),
  initial: 'settled',
  on: {
    'capacity.observed': {
      actions: assign({ facts: ({ context, event }) => ({ ...context.facts, said: event.said }) }),
    },
    'object.observed': {
      guard: { type: 'isNews', params: ({ event }) => event.shown },
      actions: assign(({ context, event }) => ({
        facts: { ...context.facts, shown: event.shown },
        newest: event.shown.revision,
      })),
    },
    'object.vanished': {
      guard: { type: 'isShown', params: ({ event }) => event.uid },
      actions: assign({ facts: ({ context }) => ({ ...context.facts, shown: null }) }),
    },
  },
  states: {
    settled: {
      description: 'The object shows what the fleet last said.',
      tags: 'settled',
      always: [
        { guard: 'anythingOwed', target: 'waiting' },
        { guard: 'nothingThere', target: 'gone' },
      ],
    },
    gone: {
      description: 'Nothing is left of this profile, and there is no object.',
      tags: 'settled',
      always: [
        { guard: 'anythingOwed', target: 'waiting' },
        { guard: 'objectThere', target: 'settled' },
      ],
    },
    waiting: {
      description: 'A write is pending; waiting for a slot.',
      meta: { reason: 'WriteQueued' },
      tags: 'waiting',
      entry: 'requestSlot',
      always: { guard: 'nothingOwed', target: 'settled' },
      on: { 'slot.acquired': 'acting' },
    },
    acting: {
      description: 'Has a slot: writes until nothing is pending or a write fails.',
      tags: 'acting',
      entry: 'tryAgain',
      initial: 'deciding',
      states: {
        deciding: {
          description: 'Looks at the last answer and at what is owed now.',
          always: [
            { guard: 'refused', target: '#availableCapacity.refused' },
            { guard: 'failed', target: '#availableCapacity.backingOff' },
            { guard: 'creationOwed', target: 'creating' },
            { guard: 'patchOwed', target: 'patching' },
            { guard: 'deletionOwed', target: 'deleting' },
            { target: '#availableCapacity.settled' },
          ],
        },
        creating: writing('createObject', 'Creates the object.'),
        patching: writing('patchObject', 'Writes what changed.'),
        deleting: writing('deleteObject', 'Deletes the object: nothing is left, for certain.'),
      },
    },
    backingOff: {
      description: 'The last write failed; requests another slot after a while.',
      meta: { reason: 'WriteFailing' },
      tags: 'waiting',
      entry: 'tellFailing',
      always: { guard: 'nothingOwed', target: 'settled' },
      after: { writeBackoff: 'waiting' },
    },
    refused: {
      description: 'The API server will not take the object as it is; a person must look.',
      meta: { reason: 'WriteRefused' },
      tags: 'waiting',
      entry: 'tellRefused',
      always: { guard: 'nothingOwed', target: 'settled' },
      on: {
        'capacity.observed': {
          guard: { type: 'saysOtherwise', params: ({ event }) => event.said },
          target: 'waiting',
          actions: assign({
            facts: ({ context, event }) => ({ ...context.facts, said: event.said }),
          }),
        },
      },
      after: { refusalBackoff: 'waiting' },
    },
  },
});
