/**
 * One machine of the fleet and its UpcomingNode object, of which this is the only writer.
 *
 * Promises: the object ends as the shard and the machine's drain last reported, and frames never
 * undo what a drain has shown (drain rules: DR-40); one write is in flight at a time and only in a
 * slot; facts replace what is wanted and never restart a write that is in flight; a failed write
 * is retried until it lands or is no longer pending; nothing is written when nothing changed.
 * All that a restart must know is in the object and on the Node.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import { endsObject } from '../domain/machine-phase.ts';
import type { NodeLink } from '../domain/node-link.ts';
import { verdictOf, type WriteOutcome, type WriteVerdict } from '../domain/object-write.ts';
import { isOlder } from '../domain/revisions.ts';
import type { HoldingFact } from '../domain/shown-phase.ts';
import {
  pendingWrite,
  readinessUnrecorded,
  type Sighting,
  standingOf,
  UNBOUND,
  type UpcomingNodeFacts,
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
  objectWriter,
  shownGuards,
  UNTRIED,
  writerDelays,
  writerGuards,
  writing,
} from './object-writer.ts';

type Shown = UpcomingNodeProjection;

/** The facts, and what is pending because of them. */
const known = (machineId: string, facts: UpcomingNodeFacts) => {
  const write = pendingWrite(machineId, facts);
  return { facts, pendingWrite: write === undefined ? null : { write } };
};

/** The same with some facts that are new. */
const knownWith = (
  { machineId, facts }: UpcomingNodeContext,
  changed: Partial<UpcomingNodeFacts>,
) => known(machineId, { ...facts, ...changed });

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

const settingSaid = { type: 'setSaid', params: saidIn } as const;
const settingDrain = { type: 'setDrain', params: drainIn } as const;

/** What makes a machine request a slot at once: something else is to be shown. */
const reconsidering = {
  'machine.observed': {
    guard: { type: 'saysOtherwise', params: saidIn },
    target: 'waiting',
    actions: settingSaid,
  },
  'drain.observed': {
    guard: { type: 'drainSaysOtherwise', params: drainIn },
    target: 'waiting',
    actions: settingDrain,
  },
} as const;

const writes = writing(actOf, answersOf<WriteOutcome<Shown>>()('deciding', 'setAnswer'));

/** The statechart of a machine's object; `src/actors/upcoming-nodes` provides its writes. */
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
    recordNodeReady: () => {},
    recordRefused: () => {},
    recordFailing: () => {},
    setReadyRecorded: assign(({ context }) => ({ readyRecorded: context.facts.node?.uid ?? '' })),
    setSaid: assign(({ context }, said: Sighting) => knownWith(context, { said })),
    setDrain: assign(({ context }, drain: HoldingFact | null) => knownWith(context, { drain })),
    setNode: assign(({ context }, node: NodeLink | null) => knownWith(context, { node })),
    setShown: assign(({ context }, shown: Shown) => ({
      ...knownWith(context, { shown }),
      newest: shown.revision,
    })),
    setVanished: assign(({ context }, { revision }: Pick<Shown, 'revision'>) => {
      const { newest } = context;
      return {
        ...knownWith(context, { shown: null }),
        newest: newest !== null && isOlder(revision, newest) ? newest : revision,
      };
    }),
    setAnswer: assign(({ context }, outcome: WriteOutcome<Shown>) => {
      const { facts, newest } = afterAnswer(context, outcome);
      const tries = afterTry(context, outcome, verdictOf(outcome, context.base));
      return { ...tries, ...known(context.machineId, facts), newest };
    }),
    setReleased: assign(({ context }, outcome: WriteOutcome<NodeLink>) => {
      const tries = afterTry(context, outcome, releaseVerdict(outcome));
      if (tries.verdict !== 'Landed') return tries;
      const node = outcome._tag === 'Written' ? outcome.shown : null;
      return { ...tries, ...knownWith(context, { node }) };
    }),
    setBase: assign({ base: ({ context }) => context.facts.shown?.revision ?? null }),
    resetVerdict: assign({ verdict: 'Untried' }),
  },
  guards: {
    ...writerGuards,
    ...shownGuards,
    objectEnded: ({ context }) => ended(context),
    objectPresent: ({ context }) => !ended(context),
    readinessUnrecorded: ({ context }) => readinessUnrecorded(context.facts, context.readyRecorded),
    saysOtherwise: ({ context }, said: Sighting) =>
      JSON.stringify(said) !== JSON.stringify(context.facts.said),
    drainSaysOtherwise: ({ context }, drain: HoldingFact | null) =>
      JSON.stringify(drain) !== JSON.stringify(context.facts.drain),
  },
  delays: writerDelays,
}).createMachine({
  id: 'upcomingNode',
  description: 'One machine of the fleet and its UpcomingNode object.',
  context: ({ input }) => ({
    ...input,
    ...known(input.machineId, input.facts),
    newest: input.facts.shown?.revision ?? null,
    base: null,
    ...UNTRIED,
  }),
  initial: 'settled',
  on: {
    'machine.observed': { actions: settingSaid },
    'machine.unbound': { actions: { type: 'setSaid', params: UNBOUND } },
    'object.observed': {
      guard: { type: 'isNews', params: ({ event }) => event.shown },
      actions: { type: 'setShown', params: ({ event }) => event.shown },
    },
    'object.vanished': {
      guard: { type: 'isShown', params: ({ event }) => event.last.uid },
      actions: { type: 'setVanished', params: ({ event }) => event.last },
    },
    'node.observed': { actions: { type: 'setNode', params: ({ event }) => event.node } },
    'drain.observed': { actions: settingDrain },
  },
  states: objectWriter({
    id: 'upcomingNode',
    settled: {
      description: 'The object shows what shard and drain last reported.',
      always: [
        { guard: 'writePending', target: 'waiting' },
        { guard: 'objectEnded', target: 'gone' },
        { guard: 'readinessUnrecorded', actions: ['recordNodeReady', 'setReadyRecorded'] },
      ],
    },
    further: {
      gone: {
        description: 'The machine is not ours, or never was, and there is no object.',
        tags: 'settled',
        always: [
          { guard: 'writePending', target: 'waiting' },
          { guard: 'objectPresent', target: 'settled' },
        ],
      },
    },
    writes: {
      creating: writes('createObject', 'Creates the object; its status follows.'),
      patchingStatus: writes('patchStatus', 'Writes phase, nodeRef, providerID or lastError.'),
      patchingSpec: writes(
        'patchSpec',
        'Writes labels, resources or taints, and whose object it is.',
      ),
      deleting: writes('deleteObject', 'Deletes the object: the machine is no longer ours.'),
      releasingNode: {
        description: 'Takes the reclaim key off the Node: the machine serves again.',
        invoke: {
          id: 'releaseNode',
          src: 'releaseNode',
          input: actOf,
          ...answersOf<WriteOutcome<NodeLink>>()('deciding', 'setReleased'),
        } as const,
      },
    },
    branches: [
      { write: 'create', state: 'creating' },
      { write: 'status_update', state: 'patchingStatus' },
      { write: 'spec_update', state: 'patchingSpec' },
      { write: 'delete', state: 'deleting' },
      { write: 'node_release', state: 'releasingNode' },
    ],
    retries: 'WithSlot',
    setAside: { reason: 'WriteFailing', on: reconsidering },
    refused: { reason: 'WriteRefused', on: reconsidering },
  }),
});
