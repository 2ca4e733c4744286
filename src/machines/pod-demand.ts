/**
 * One pod and its CapacityRequest.
 *
 * Promises: in any order of events, a pod that counts as demand ends with exactly one request with
 * its demand, and any other pod with none; one write is in flight at a time and only with a slot;
 * facts replace the wanted request and never restart a write in flight; a cache that lags behind an
 * answer changes nothing; a failed write is retried until it lands or is no longer pending. All
 * that a restart needs is in the pod and its requests; after one the garbage collector has its full
 * grace again.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import type { Uid } from '../domain/ids.ts';
import type { WriteOutcome } from '../domain/object-write.ts';
import { type DemandFacts, pendingRequestWrite } from '../domain/pod-demand/demand-facts.ts';
import type { OwnedRequest, RequestedPod } from '../domain/pod-demand/owned-request.ts';
import { compareText } from '../domain/requirements.ts';
import { isOlder } from '../domain/resource-versions.ts';
import { answersOf } from './act-answers.ts';
import {
  afterWrite,
  objectWriter,
  UNTRIED,
  writerDelays,
  writerGuards,
  writing,
} from './object-writer.ts';
import type {
  PodDemandContext,
  PodDemandEvent,
  PodDemandInput,
  PodRequestAct,
} from './pod-demand-context.ts';
import { required } from './required.ts';

/**
 * The grace for the garbage collector to delete the requests of a deleted pod. It lags by minutes
 * at worst, and this saves writes.
 */
export const GC_GRACE_MS = 120_000;

type Outcome = WriteOutcome<OwnedRequest>;
type PodObserved = Extract<PodDemandEvent, { readonly type: 'pod.observed' }>;

/** The facts and the pending write. */
const known = (pod: RequestedPod, facts: DemandFacts) => ({
  facts,
  pendingWrite: pendingRequestWrite(pod, facts) ?? null,
});

const actOf = ({ context }: { readonly context: PodDemandContext }): PodRequestAct => ({
  pod: context.pod,
  text: context.facts.text,
  request: context.pendingWrite?.request ?? null,
});

const without = (requests: readonly OwnedRequest[], uid: Uid): readonly OwnedRequest[] =>
  requests.filter((request) => request.uid !== uid);

/**
 * The requests with this one updated; an older observation changes nothing, and one that is not
 * the pod's any more is dropped.
 */
const withRequest = (
  { pod, facts: { requests }, gone }: PodDemandContext,
  seen: OwnedRequest,
): readonly OwnedRequest[] => {
  if (gone.includes(seen.uid)) return requests;
  const known = requests.find(({ uid }) => uid === seen.uid);
  if (known !== undefined && isOlder(seen.resourceVersion, known.resourceVersion)) return requests;
  if (seen.pod !== pod.uid) return without(requests, seen.uid);
  // One name is one object: an earlier object of this name is gone.
  return [...requests.filter(({ uid, key }) => uid !== seen.uid && key !== seen.key), seen]
    .sort((left, right) => compareText(left.key, right.key));
};

/** The requests after an answer. */
const afterAnswer = (
  context: PodDemandContext,
  outcome: Outcome,
): Pick<PodDemandContext, 'facts' | 'gone'> => {
  const { facts, gone, base } = context;
  if (outcome._tag === 'Written') {
    return { facts: { ...facts, requests: withRequest(context, outcome.current) }, gone };
  }
  if (outcome._tag !== 'Absent' || base === null) return { facts, gone };
  return {
    facts: { ...facts, requests: without(facts.requests, base.uid) },
    gone: [...gone, base.uid],
  };
};

const writes = writing(actOf, answersOf<Outcome>()('deciding', 'setAnswer'));

/** What makes a pod request a slot at once: changed demand. */
const reconsidering = {
  guard: { type: 'asksOtherwise', params: ({ event }: { readonly event: PodObserved }) => event },
  target: 'waiting',
  actions: {
    type: 'setPod',
    params: ({ event }: { readonly event: PodObserved }) => event,
  },
} as const;

/** The statechart of a pod's request; `src/actors/capacity-requests` provides its writes. */
export const podDemand = setup({
  types: {
    context: {} as PodDemandContext,
    events: {} as PodDemandEvent,
    input: {} as PodDemandInput,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'acting' | 'settled',
  },
  actors: {
    createRequest: required<Outcome, PodRequestAct>('createRequest'),
    updateRequest: required<Outcome, PodRequestAct>('updateRequest'),
    stampRequest: required<Outcome, PodRequestAct>('stampRequest'),
    deleteRequest: required<Outcome, PodRequestAct>('deleteRequest'),
  },
  actions: {
    requestSlot: () => {},
    recordRefused: () => {},
    recordFailing: () => {},
    setPod: assign(({ context: { pod, facts } }, { status, text }: PodObserved) => {
      const isOverdue = status === 'Gone' && facts.status === 'Overdue';
      const observed = { ...facts, status: isOverdue ? 'Overdue' : status, text } as const;
      return { ...known(pod, observed), sent: null };
    }),
    setOverdue: assign(({ context: { pod, facts } }) =>
      known(pod, { ...facts, status: 'Overdue' })
    ),
    setRequest: assign(({ context }, request: OwnedRequest) =>
      known(context.pod, { ...context.facts, requests: withRequest(context, request) })
    ),
    setVanished: assign(({ context: { pod, facts, gone } }, uid: Uid) => ({
      ...known(pod, { ...facts, requests: without(facts.requests, uid) }),
      gone: gone.includes(uid) ? gone : [...gone, uid],
    })),
    setAnswer: assign(({ context }, outcome: Outcome) => {
      const { facts, gone } = afterAnswer(context, outcome);
      const next = known(context.pod, facts);
      const version = context.base?.resourceVersion ?? null;
      const tries = afterWrite({ ...context, version }, outcome, next.pendingWrite);
      return { ...tries, ...next, gone };
    }),
    setBase: assign({
      sent: ({ context }) => context.pendingWrite?.write ?? null,
      base: ({ context }) => {
        const request = context.pendingWrite?.request;
        return request ? { uid: request.uid, resourceVersion: request.resourceVersion } : null;
      },
    }),
    resetVerdict: assign({ verdict: 'Untried' }),
  },
  guards: {
    ...writerGuards,
    requestLess: ({ context }) => context.facts.requests.length === 0,
    requestThere: ({ context }) => context.facts.requests.length > 0,
    podGone: ({ context }) => context.facts.status === 'Gone',
    podThere: ({ context }) => context.facts.status !== 'Gone',
    asksOtherwise: ({ context: { facts } }, { status, text }: PodObserved) =>
      status !== facts.status || text !== facts.text,
  },
  delays: { ...writerDelays, gcGrace: GC_GRACE_MS },
}).createMachine({
  id: 'podDemand',
  description: 'One pod and its CapacityRequest.',
  context: ({ input }) => ({
    ...input,
    ...known(input.pod, input.facts),
    gone: [],
    base: null,
    ...UNTRIED,
  }),
  initial: 'settled',
  on: {
    'pod.observed': { actions: { type: 'setPod', params: ({ event }) => event } },
    'request.observed': { actions: { type: 'setRequest', params: ({ event }) => event.request } },
    'request.vanished': { actions: { type: 'setVanished', params: ({ event }) => event.uid } },
  },
  states: objectWriter({
    id: 'podDemand',
    settled: {
      description: 'The request matches the demand of the pod.',
      always: [
        { guard: 'writePending', target: 'waiting' },
        { guard: 'requestLess', target: 'absent' },
        { guard: 'podGone', target: 'leaving' },
      ],
    },
    further: {
      leaving: {
        description: 'The pod is gone; waiting for the garbage collector to delete its request.',
        meta: { reason: 'AwaitingGarbageCollection' },
        tags: 'waiting',
        always: [
          { guard: 'writePending', target: 'waiting' },
          { guard: 'requestLess', target: 'absent' },
          { guard: 'podThere', target: 'settled' },
        ],
        after: { gcGrace: { target: 'settled', actions: 'setOverdue' } },
      },
      absent: {
        description: 'The pod has no demand or is gone, and there is no request.',
        tags: 'settled',
        always: [
          { guard: 'writePending', target: 'waiting' },
          { guard: 'requestThere', target: 'settled' },
        ],
      },
    },
    writes: {
      creating: writes('createRequest', 'Creates the request; its status follows.'),
      updating: writes(
        'updateRequest',
        'Updates the request to the demand and ownership of the pod.',
      ),
      stamping: writes(
        'stampRequest',
        'Writes the first phase, Pending, unless it is acknowledged already.',
      ),
      deleting: writes(
        'deleteRequest',
        'Deletes an unneeded request: of a finished pod, or a duplicate.',
      ),
    },
    branches: [
      { write: 'create', state: 'creating' },
      { write: 'update', state: 'updating' },
      { write: 'stamp', state: 'stamping' },
      { write: 'delete', state: 'deleting' },
    ],
    retries: 'WithSlot',
    setAside: { reason: 'PodRequestFailing', on: { 'pod.observed': reconsidering } },
    refused: { reason: 'PodRequestRefused', on: { 'pod.observed': reconsidering } },
  }),
});
