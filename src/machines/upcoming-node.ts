/**
 * One machine of the fleet and its UpcomingNode; the only writer of that object.
 *
 * Promises: in any order of events, the object ends as the shard and the machine's drain last
 * reported, and frames never undo what a drain wrote (DR-40); one write is in flight at a time and
 * only with a slot; facts replace the wanted object and never restart a write in flight; a failed
 * write is retried until it lands or is no longer pending; nothing is written when nothing changed.
 * All that a restart needs is in the object and on the Node.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import { sameJson } from '../domain/json-equality.ts';
import { endsObject } from '../domain/machine-phase.ts';
import type { NodeLink } from '../domain/node-link.ts';
import type { WriteOutcome, WriteVerdict } from '../domain/object-write.ts';
import { isOlder } from '../domain/resource-versions.ts';
import type { HoldingFact } from '../domain/object-phase.ts';
import {
  machinePhaseOf,
  type MachineReport,
  pendingWrite,
  readinessUnrecorded,
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
} from './upcoming-node-context.ts';
import {
  afterAnswer,
  afterTry,
  afterWrite,
  currentGuards,
  objectWriter,
  UNTRIED,
  writerDelays,
  writerGuards,
  writing,
} from './object-writer.ts';

type Current = UpcomingNodeProjection;

/** The facts and the pending write. */
const known = (machineId: string, facts: UpcomingNodeFacts) => {
  const write = pendingWrite(machineId, facts);
  return { facts, pendingWrite: write === undefined ? null : { write } };
};

/** Applies new facts. */
const knownWith = (
  { machineId, facts }: UpcomingNodeContext,
  changed: Partial<UpcomingNodeFacts>,
) => known(machineId, { ...facts, ...changed });

/** Applies facts from which the wanted object follows. */
const wantedWith = (
  context: UpcomingNodeContext,
  changed: Partial<UpcomingNodeFacts>,
) => {
  const next = knownWith(context, changed);
  return { ...next, sent: sameJson(next.facts, context.facts) ? context.sent : null };
};

const actOf = ({ context }: { readonly context: UpcomingNodeContext }): UpcomingNodeAct => ({
  machineId: context.machineId,
  name: context.name,
  facts: context.facts,
});

/** True when the object has ended or never existed. */
const ended = ({ facts }: UpcomingNodeContext): boolean => {
  const phase = machinePhaseOf(facts);
  return facts.current === null && (phase === null || endsObject(phase));
};

/** An unchanged Node did not accept the patch. */
const releaseVerdict = (outcome: WriteOutcome<NodeLink>): WriteVerdict => {
  if (outcome._tag === 'Refused') return 'Refused';
  if (outcome._tag === 'Fault') return 'Failed';
  return outcome._tag === 'Written' && outcome.current.releasable ? 'Failed' : 'Landed';
};

const reportedIn = ({ event }: { readonly event: { readonly reported: MachineReport } }) =>
  event.reported;
const drainIn = ({ event }: { readonly event: { readonly drain: HoldingFact | null } }) =>
  event.drain;

const setReported = { type: 'setReported', params: reportedIn } as const;
const setDrain = { type: 'setDrain', params: drainIn } as const;

/** What makes a machine request a slot at once: a changed wanted object. */
const reconsidering = {
  'machine.observed': {
    guard: { type: 'reportsOtherwise', params: reportedIn },
    target: 'waiting',
    actions: setReported,
  },
  'drain.observed': {
    guard: { type: 'drainReportsOtherwise', params: drainIn },
    target: 'waiting',
    actions: setDrain,
  },
} as const;

const writes = writing(actOf, answersOf<WriteOutcome<Current>>()('deciding', 'setAnswer'));

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
    createObject: required<WriteOutcome<Current>, UpcomingNodeAct>('createObject'),
    patchStatus: required<WriteOutcome<Current>, UpcomingNodeAct>('patchStatus'),
    patchSpec: required<WriteOutcome<Current>, UpcomingNodeAct>('patchSpec'),
    deleteObject: required<WriteOutcome<Current>, UpcomingNodeAct>('deleteObject'),
    releaseNode: required<WriteOutcome<NodeLink>, UpcomingNodeAct>('releaseNode'),
  },
  actions: {
    requestSlot: () => {},
    recordNodeReady: () => {},
    recordRefused: () => {},
    recordFailing: () => {},
    setReadyRecorded: assign(({ context }) => ({ readyRecorded: context.facts.node?.uid ?? '' })),
    setReported: assign(({ context }, reported: MachineReport) =>
      wantedWith(context, { reported })
    ),
    setDrain: assign(({ context }, drain: HoldingFact | null) => wantedWith(context, { drain })),
    setNode: assign(({ context }, node: NodeLink | null) => wantedWith(context, { node })),
    setCurrent: assign(({ context }, current: Current) => ({
      ...knownWith(context, { current }),
      newest: current.resourceVersion,
    })),
    setVanished: assign(({ context }, { resourceVersion }: Pick<Current, 'resourceVersion'>) => {
      const { newest } = context;
      return {
        ...knownWith(context, { current: null }),
        newest: newest !== null && isOlder(resourceVersion, newest) ? newest : resourceVersion,
      };
    }),
    setAnswer: assign(({ context }, outcome: WriteOutcome<Current>) => {
      const { facts, newest } = afterAnswer(context, outcome);
      const next = known(context.machineId, facts);
      const version = context.base;
      const tries = afterWrite({ ...context, version }, outcome, next.pendingWrite);
      return { ...tries, ...next, newest };
    }),
    setReleased: assign(({ context }, outcome: WriteOutcome<NodeLink>) => {
      const tries = afterTry(context, outcome, releaseVerdict(outcome));
      if (tries.verdict !== 'Landed') return tries;
      const node = outcome._tag === 'Written' ? outcome.current : null;
      return { ...tries, ...knownWith(context, { node }) };
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
    objectEnded: ({ context }) => ended(context),
    objectPresent: ({ context }) => !ended(context),
    readinessUnrecorded: ({ context }) => readinessUnrecorded(context.facts, context.readyRecorded),
    reportsOtherwise: ({ context }, reported: MachineReport) =>
      !sameJson(reported, context.facts.reported),
    drainReportsOtherwise: ({ context }, drain: HoldingFact | null) =>
      !sameJson(drain, context.facts.drain),
  },
  delays: writerDelays,
}).createMachine({
  id: 'upcomingNode',
  description: 'One machine of the fleet and its UpcomingNode object.',
  context: ({ input }) => ({
    ...input,
    ...known(input.machineId, input.facts),
    newest: input.facts.current?.resourceVersion ?? null,
    base: null,
    ...UNTRIED,
  }),
  initial: 'settled',
  on: {
    'machine.observed': { actions: setReported },
    'object.observed': {
      guard: { type: 'isNewer', params: ({ event }) => event.current },
      actions: { type: 'setCurrent', params: ({ event }) => event.current },
    },
    'object.vanished': {
      guard: { type: 'isCurrent', params: ({ event }) => event.last.uid },
      actions: { type: 'setVanished', params: ({ event }) => event.last },
    },
    'node.observed': { actions: { type: 'setNode', params: ({ event }) => event.node } },
    'drain.observed': { actions: setDrain },
  },
  states: objectWriter({
    id: 'upcomingNode',
    settled: {
      description: 'The object matches the last reports of shard and drain.',
      always: [
        { guard: 'writePending', target: 'waiting' },
        { guard: 'objectEnded', target: 'gone' },
        { guard: 'readinessUnrecorded', actions: ['recordNodeReady', 'setReadyRecorded'] },
      ],
    },
    further: {
      gone: {
        description: 'The machine is not bound to this cluster, and there is no object.',
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
        'Writes labels, resources, taints or the machine id.',
      ),
      deleting: writes('deleteObject', 'Deletes the object: the machine is no longer bound.'),
      releasingNode: {
        description: 'Removes the reclaim key from the Node: the machine serves again.',
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
