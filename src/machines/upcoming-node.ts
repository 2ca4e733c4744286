/**
 * One machine of the fleet and its UpcomingNode object, of which this is the only writer.
 *
 * Promises: whatever comes when, the object ends as the shard and the machine's drain last said,
 * and frames never undo what a drain has shown (drain rules: DR-40); one write is in flight at a
 * time and only in a slot; facts replace what is wanted and never restart a write that is under
 * way; a write that fails is tried again until it lands or is not owed any more; nothing is written
 * when nothing changed. All that a restart must know is in the object and on the Node.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import { endsObject } from '../domain/machine-phase.ts';
import type { NodeLink } from '../domain/node-link.ts';
import { verdictOf, type WriteOutcome, type WriteVerdict } from '../domain/object-write.ts';
import { isOlder } from '../domain/revisions.ts';
import type { HoldingFact } from '../domain/shown-phase.ts';
import {
  type OwedWrite,
  owedWrite,
  readinessUntold,
  type Sighting,
  standingOf,
  UNBOUND,
  type UpcomingNodeProjection,
} from '../domain/upcoming-node.ts';
import { answersOf } from './act-answers.ts';
import { required } from './required.ts';
import type {
  UpcomingNodeAct,
  UpcomingNodeContext,
  UpcomingNodeEvent,
  UpcomingNodeInput,
} from './upcoming-node-terms.ts';
import {
  afterAnswer,
  afterTry,
  shownGuards,
  slotDelays,
  slotGuards,
  UNTRIED,
  writes,
} from './writing-in-turns.ts';

type Shown = UpcomingNodeProjection;

const owed = (context: UpcomingNodeContext): OwedWrite | undefined =>
  owedWrite(context.machineId, context.facts);

const actOf = ({ context }: { readonly context: UpcomingNodeContext }): UpcomingNodeAct => ({
  machineId: context.machineId,
  name: context.name,
  facts: context.facts,
});

/** True when the object's time is over and it is not there, or never was. */
const ended = ({ facts }: UpcomingNodeContext): boolean => {
  const standing = standingOf(facts);
  return facts.shown === null && (standing === null || endsObject(standing));
};

/** A Node that is as it was has not taken the patch. */
const releaseVerdict = (outcome: WriteOutcome<NodeLink>): WriteVerdict => {
  if (outcome._tag === 'Refused') return 'Refused';
  if (outcome._tag === 'Fault') return 'Failed';
  return outcome._tag === 'Written' && outcome.shown.releasable ? 'Failed' : 'Landed';
};

const saidIn = ({ event }: { readonly event: { readonly said: Sighting } }) => event.said;
const drainIn = ({ event }: { readonly event: { readonly drain: HoldingFact | null } }) =>
  event.drain;

const takingSaid = { type: 'takeSaid', params: saidIn } as const;
const takingDrain = { type: 'takeDrain', params: drainIn } as const;

/** What a machine that waits for better times does when something else is to be shown. */
const reconsidering = {
  'machine.observed': {
    guard: { type: 'saysOtherwise', params: saidIn },
    target: 'waiting',
    actions: takingSaid,
  },
  'drain.observed': {
    guard: { type: 'drainSaysOtherwise', params: drainIn },
    target: 'waiting',
    actions: takingDrain,
  },
} as const;

const writing = writes(actOf, answersOf<WriteOutcome<Shown>>()('deciding', 'takeAnswer'));

/** The statechart of a machine's object; `src/actors/machines` provides its acts. */
export const upcomingNode = setup({
  types: {
    context: {} as UpcomingNodeContext,
    events: {} as UpcomingNodeEvent,
    input: {} as UpcomingNodeInput,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'acting' | 'settled',
  },
  actors: {
    createObject: required<WriteOutcome<Shown>, UpcomingNodeAct>('createObject'),
    patchStatus: required<WriteOutcome<Shown>, UpcomingNodeAct>('patchStatus'),
    patchSpec: required<WriteOutcome<Shown>, UpcomingNodeAct>('patchSpec'),
    deleteObject: required<WriteOutcome<Shown>, UpcomingNodeAct>('deleteObject'),
    releaseNode: required<WriteOutcome<NodeLink>, UpcomingNodeAct>('releaseNode'),
  },
  actions: {
    requestSlot: () => {},
    tellNodeReady: () => {},
    tellRefused: () => {},
    tellFailing: () => {},
    rememberReadiness: assign(({ context }) => ({ toldReady: context.facts.node?.uid ?? '' })),
    takeSaid: assign(({ context }, said: Sighting) => ({ facts: { ...context.facts, said } })),
    takeDrain: assign(({ context }, drain: HoldingFact | null) => ({
      facts: { ...context.facts, drain },
    })),
    takeAnswer: assign(({ context }, outcome: WriteOutcome<Shown>) => ({
      ...afterTry(context, outcome, verdictOf(outcome, context.base)),
      ...afterAnswer(context, outcome),
    })),
    takeRelease: assign(({ context }, outcome: WriteOutcome<NodeLink>) => {
      const tried = afterTry(context, outcome, releaseVerdict(outcome));
      if (tried.verdict !== 'Landed') return tried;
      const node = outcome._tag === 'Written' ? outcome.shown : null;
      return { ...tried, facts: { ...context.facts, node } };
    }),
    noteBase: assign({ base: ({ context }) => context.facts.shown?.revision ?? null }),
    tryAgain: assign({ verdict: 'Untried' }),
  },
  guards: {
    anythingOwed: ({ context }) => owed(context) !== undefined,
    nothingOwed: ({ context }) => owed(context) === undefined,
    creationOwed: ({ context }) => owed(context) === 'create',
    statusOwed: ({ context }) => owed(context) === 'status_update',
    specOwed: ({ context }) => owed(context) === 'spec_update',
    deletionOwed: ({ context }) => owed(context) === 'delete',
    releaseOwed: ({ context }) => owed(context) === 'node_release',
    objectEnded: ({ context }) => ended(context),
    objectPresent: ({ context }) => !ended(context),
    readinessUntold: ({ context }) => readinessUntold(context.facts, context.toldReady),
    ...slotGuards,
    saysOtherwise: ({ context }, said: Sighting) =>
      JSON.stringify(said) !== JSON.stringify(context.facts.said),
    drainSaysOtherwise: ({ context }, drain: HoldingFact | null) =>
      JSON.stringify(drain) !== JSON.stringify(context.facts.drain),
    ...shownGuards,
  },
  delays: slotDelays,
}).createMachine({
  id: 'upcomingNode',
  description: 'One machine of the fleet and its UpcomingNode object.',
  context: ({ input }) => ({
    ...input,
    newest: input.facts.shown?.revision ?? null,
    base: null,
    ...UNTRIED,
  }),
  initial: 'settled',
  on: {
    'machine.observed': { actions: takingSaid },
    'machine.unbound': { actions: { type: 'takeSaid', params: UNBOUND } },
    'object.observed': {
      guard: { type: 'isNews', params: ({ event }) => event.shown },
      actions: assign(({ context, event }) => ({
        facts: { ...context.facts, shown: event.shown },
        newest: event.shown.revision,
      })),
    },
    'object.vanished': {
      guard: { type: 'isShown', params: ({ event }) => event.last.uid },
      actions: assign(({ context: { facts, newest }, event: { last } }) => ({
        facts: { ...facts, shown: null },
        newest: newest !== null && isOlder(last.revision, newest) ? newest : last.revision,
      })),
    },
    'node.observed': {
      actions: assign({ facts: ({ context, event }) => ({ ...context.facts, node: event.node }) }),
    },
    'drain.observed': { actions: takingDrain },
  },
  states: {
    settled: {
      description: 'The object shows what shard and drain last said.',
      tags: 'settled',
      always: [
        { guard: 'anythingOwed', target: 'waiting' },
        { guard: 'objectEnded', target: 'gone' },
        { guard: 'readinessUntold', actions: ['tellNodeReady', 'rememberReadiness'] },
      ],
    },
    gone: {
      description: 'The machine is not ours, or never was, and there is no object.',
      tags: 'settled',
      always: [
        { guard: 'anythingOwed', target: 'waiting' },
        { guard: 'objectPresent', target: 'settled' },
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
      description: 'Has a slot: writes until nothing is pending or others need the slot.',
      tags: 'acting',
      entry: 'tryAgain',
      initial: 'deciding',
      states: {
        deciding: {
          description: 'Looks at the last answer and at what is owed now.',
          always: [
            { guard: 'refused', target: '#upcomingNode.refused' },
            { guard: 'triesSpent', target: '#upcomingNode.setAside' },
            { guard: 'failed', target: 'backingOff' },
            { guard: 'creationOwed', target: 'creating' },
            { guard: 'statusOwed', target: 'patchingStatus' },
            { guard: 'specOwed', target: 'patchingSpec' },
            { guard: 'deletionOwed', target: 'deleting' },
            { guard: 'releaseOwed', target: 'releasingNode' },
            { target: '#upcomingNode.settled' },
          ],
        },
        creating: writing('createObject', 'Creates the object; its status follows.'),
        patchingStatus: writing('patchStatus', 'Writes phase, nodeRef, providerID or lastError.'),
        patchingSpec: writing(
          'patchSpec',
          'Writes labels, resources or taints, and whose object it is.',
        ),
        deleting: writing('deleteObject', 'Deletes the object: the machine is no longer ours.'),
        releasingNode: {
          description: 'Takes the reclaim key off the Node: the machine serves again.',
          invoke: {
            id: 'releaseNode',
            src: 'releaseNode',
            input: actOf,
            ...answersOf<WriteOutcome<NodeLink>>()('deciding', 'takeRelease'),
          },
        },
        backingOff: {
          description: 'The last write failed; tries again shortly, in the same slot.',
          always: { guard: 'nothingOwed', target: '#upcomingNode.settled' },
          after: { writeBackoff: { target: 'deciding', actions: 'tryAgain' } },
        },
      },
    },
    setAside: {
      description: 'Its writes keep failing: made room for other machines, comes back later.',
      meta: { reason: 'WriteFailing' },
      tags: 'waiting',
      entry: 'tellFailing',
      always: { guard: 'nothingOwed', target: 'settled' },
      on: reconsidering,
      after: { slotBackoff: 'waiting' },
    },
    refused: {
      description: 'The API server will not take the object as it is; a person must look.',
      meta: { reason: 'WriteRefused' },
      tags: 'waiting',
      entry: 'tellRefused',
      always: { guard: 'nothingOwed', target: 'settled' },
      on: reconsidering,
      after: { refusalBackoff: 'waiting' },
    },
  },
});
