/**
 * One profile of free capacity and its AvailableCapacity object; the only writer of that object.
 *
 * Promises: the object ends as the fleet last reported, or is deleted when the fleet reported zero;
 * one write is in flight at a time and only with a slot; a failed write is retried until it lands
 * or is no longer pending; nothing is written when nothing changed.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import {
  type AvailableCapacityFacts,
  type AvailableCapacityProjection,
  type CapacityReport,
  type CapacityWrite,
  pendingCapacityWrite,
} from '../domain/available-capacity.ts';
import { backoffMs } from '../domain/backoff.ts';
import type { ResourceVersion } from '../domain/ids.ts';
import { sameJson } from '../domain/json-equality.ts';
import type { WriteOutcome } from '../domain/object-write.ts';
import type { Seed } from '../domain/random.ts';
import { answersOf } from './act-answers.ts';
import {
  afterAnswer,
  afterWrite,
  currentGuards,
  type CurrentObject,
  objectWriter,
  type ObjectWriterContext,
  UNTRIED,
  writerDelays,
  writerGuards,
  writing,
} from './object-writer.ts';
import { required } from './required.ts';

/** A profile that cannot be written releases its slot at once. */
const BACKOFF = { firstMs: 500, lastMs: 30_000 };

/** The name of the object and its wanted content. */
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
    CurrentObject<AvailableCapacityFacts>,
    ObjectWriterContext<{ readonly write: CapacityWrite }> {
  /** The resourceVersion before the write in flight; none for a creation. */
  readonly base: ResourceVersion | null;
}

type Current = AvailableCapacityProjection;

export type AvailableCapacityEvent =
  | { readonly type: 'capacity.observed'; readonly reported: CapacityReport }
  | { readonly type: 'object.observed'; readonly current: Current }
  | { readonly type: 'object.vanished'; readonly uid: string }
  | { readonly type: 'slot.acquired' };

const actOf = ({ context: { name, facts } }: { readonly context: AvailableCapacityContext }) => ({
  name,
  facts,
});

const writes = writing(actOf, answersOf<WriteOutcome<Current>>()('deciding', 'setAnswer'));

/** The facts and the pending write. */
const known = (facts: AvailableCapacityFacts) => {
  const write = pendingCapacityWrite(facts);
  return { facts, pendingWrite: write === undefined ? null : { write } };
};

const reportedIn = ({ event }: { readonly event: { readonly reported: CapacityReport } }) =>
  event.reported;

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
    createObject: required<WriteOutcome<Current>, AvailableCapacityAct>('createObject'),
    patchObject: required<WriteOutcome<Current>, AvailableCapacityAct>('patchObject'),
    deleteObject: required<WriteOutcome<Current>, AvailableCapacityAct>('deleteObject'),
  },
  actions: {
    requestSlot: () => {},
    recordRefused: () => {},
    recordFailing: () => {},
    setReported: assign(({ context }, reported: CapacityReport) => ({
      ...known({ ...context.facts, reported }),
      sent: sameJson(reported, context.facts.reported) ? context.sent : null,
    })),
    setCurrent: assign(({ context }, current: Current) => ({
      ...known({ ...context.facts, current }),
      newest: current.resourceVersion,
    })),
    setVanished: assign(({ context }) => known({ ...context.facts, current: null })),
    setAnswer: assign(({ context }, outcome: WriteOutcome<Current>) => {
      const { facts, newest } = afterAnswer(context, outcome);
      const next = known(facts);
      const version = context.base;
      const tries = afterWrite({ ...context, version }, outcome, next.pendingWrite);
      return { ...tries, ...next, newest };
    }),
    setBase: assign({
      sent: ({ context }) => context.pendingWrite?.write ?? null,
      base: ({ context }) => context.facts.current?.resourceVersion ?? null,
    }),
    resetVerdict: assign({ verdict: 'Untried' }),
  },
  guards: {
    ...writerGuards,
    ...currentGuards,
    nothingThere: ({ context }) => context.facts.current === null,
    objectThere: ({ context }) => context.facts.current !== null,
    reportsOtherwise: ({ context }, reported: CapacityReport) =>
      reported.spec !== context.facts.reported?.spec,
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
    newest: input.facts.current?.resourceVersion ?? null,
    base: null,
    ...UNTRIED,
  }),
  initial: 'settled',
  on: {
    'capacity.observed': { actions: { type: 'setReported', params: reportedIn } },
    'object.observed': {
      guard: { type: 'isNewer', params: ({ event }) => event.current },
      actions: { type: 'setCurrent', params: ({ event }) => event.current },
    },
    'object.vanished': {
      guard: { type: 'isCurrent', params: ({ event }) => event.uid },
      actions: 'setVanished',
    },
  },
  states: objectWriter({
    id: 'availableCapacity',
    settled: {
      description: 'The object matches the last report of the fleet.',
      always: [
        { guard: 'writePending', target: 'waiting' },
        { guard: 'nothingThere', target: 'gone' },
      ],
    },
    further: {
      gone: {
        description: 'The profile has no capacity and no object.',
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
      deleting: writes(
        'deleteObject',
        'Deletes the object: the fleet certainly has no capacity left.',
      ),
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
          guard: { type: 'reportsOtherwise', params: reportedIn },
          target: 'waiting',
          actions: { type: 'setReported', params: reportedIn },
        },
      },
    },
  }),
});
