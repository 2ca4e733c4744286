/**
 * One pod and its CapacityRequest.
 *
 * Promises: whatever comes when, a pod that is demand ends with exactly one request that says what
 * the pod asks for, and a pod that is none with no request; one write is in flight at a time and
 * only in a slot; facts replace what is wanted and never restart a write that is under way; what a
 * cache shows that lags behind an answer changes nothing; a write that fails is tried again until
 * it lands or is not owed any more. All that a restart must know is in the pod and its requests.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import type { Uid } from '../domain/ids.ts';
import { verdictOf, type WriteOutcome } from '../domain/object-write.ts';
import { type OwedRequest, owedRequest } from '../domain/pod-demand/demand-facts.ts';
import type { OwnedRequest } from '../domain/pod-demand/owned-request.ts';
import { compareText } from '../domain/requirements.ts';
import { isOlder } from '../domain/revisions.ts';
import { answersOf } from './act-answers.ts';
import type {
  PodDemandContext,
  PodDemandEvent,
  PodDemandInput,
  PodRequestAct,
} from './pod-demand-terms.ts';
import { required } from './required.ts';
import { afterTry, slotDelays, slotGuards, UNTRIED, writes } from './writing-in-turns.ts';

type Outcome = WriteOutcome<OwnedRequest>;
type PodObserved = Extract<PodDemandEvent, { readonly type: 'pod.observed' }>;

const owed = ({ pod, facts }: PodDemandContext): OwedRequest | undefined => owedRequest(pod, facts);

const actOf = ({ context }: { readonly context: PodDemandContext }): PodRequestAct => ({
  pod: context.pod,
  text: context.facts.text,
  request: owed(context)?.request ?? null,
});

const without = (requests: readonly OwnedRequest[], uid: Uid): readonly OwnedRequest[] =>
  requests.filter((request) => request.uid !== uid);

/** The requests with this one as it is now; what is older than what is known changes nothing. */
const withRequest = (
  { facts: { requests }, gone }: PodDemandContext,
  seen: OwnedRequest,
): readonly OwnedRequest[] => {
  if (gone.includes(seen.uid)) return requests;
  const known = requests.find(({ uid }) => uid === seen.uid);
  if (known !== undefined && isOlder(seen.revision, known.revision)) return requests;
  // One name is one object: whoever had it before is gone.
  return [...requests.filter(({ uid, key }) => uid !== seen.uid && key !== seen.key), seen]
    .sort((left, right) => compareText(left.key, right.key));
};

/** What an answer leaves of the requests. */
const afterAnswer = (
  context: PodDemandContext,
  outcome: Outcome,
): Pick<PodDemandContext, 'facts' | 'gone'> => {
  const { facts, gone, base } = context;
  if (outcome._tag === 'Written') {
    return { facts: { ...facts, requests: withRequest(context, outcome.shown) }, gone };
  }
  if (outcome._tag !== 'Absent' || base === null) return { facts, gone };
  return {
    facts: { ...facts, requests: without(facts.requests, base.uid) },
    gone: [...gone, base.uid],
  };
};

const writing = writes(actOf, answersOf<Outcome>()('deciding', 'takeAnswer'));

/** What a pod that waits for better times does when it asks for something else. */
const another = {
  guard: { type: 'asksOtherwise', params: ({ event }: { readonly event: PodObserved }) => event },
  target: 'waiting',
  actions: {
    type: 'takePod',
    params: ({ event }: { readonly event: PodObserved }) => event,
  },
} as const;

/** The statechart of a pod's request; `src/actors/pods` provides its acts. */
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
    tellRefused: () => {},
    tellFailing: () => {},
    takePod: assign(({ context }, { standing, text }: PodObserved) => ({
      facts: { ...context.facts, standing, text },
    })),
    takeAnswer: assign(({ context }, outcome: Outcome) => {
      const verdict = verdictOf(outcome, context.base?.revision ?? null);
      return {
        ...afterTry(context, outcome, verdict),
        ...afterAnswer(context, outcome),
      };
    }),
    noteBase: assign({
      base: ({ context }) => {
        const request = owed(context)?.request;
        return request ? { uid: request.uid, revision: request.revision } : null;
      },
    }),
    tryAgain: assign({ verdict: 'Untried' }),
  },
  guards: {
    anythingOwed: ({ context }) => owed(context) !== undefined,
    nothingOwed: ({ context }) => owed(context) === undefined,
    creationOwed: ({ context }) => owed(context)?.write === 'create',
    updateOwed: ({ context }) => owed(context)?.write === 'update',
    stampOwed: ({ context }) => owed(context)?.write === 'stamp',
    deletionOwed: ({ context }) => owed(context)?.write === 'delete',
    requestLess: ({ context }) => context.facts.requests.length === 0,
    requestThere: ({ context }) => context.facts.requests.length > 0,
    podGone: ({ context }) => context.facts.standing === 'Gone',
    podThere: ({ context }) => context.facts.standing !== 'Gone',
    ...slotGuards,
    asksOtherwise: ({ context: { facts } }, { standing, text }: PodObserved) =>
      standing !== facts.standing || text !== facts.text,
  },
  delays: slotDelays,
}).createMachine({
  id: 'podDemand',
  description: 'One pod and its CapacityRequest.',
  context: ({ input }) => ({
    ...input,
    gone: [],
    base: null,
    ...UNTRIED,
  }),
  initial: 'settled',
  on: {
    'pod.observed': { actions: { type: 'takePod', params: ({ event }) => event } },
    'request.observed': {
      actions: assign({
        facts: ({ context, event }) => ({
          ...context.facts,
          requests: withRequest(context, event.request),
        }),
      }),
    },
    'request.vanished': {
      actions: assign({
        facts: ({ context, event }) => ({
          ...context.facts,
          requests: without(context.facts.requests, event.uid),
        }),
        gone: ({ context, event }) =>
          context.gone.includes(event.uid) ? context.gone : [...context.gone, event.uid],
      }),
    },
  },
  states: {
    settled: {
      description: 'The request says what the pod asks for.',
      tags: 'settled',
      always: [
        { guard: 'anythingOwed', target: 'waiting' },
        { guard: 'requestLess', target: 'absent' },
        { guard: 'podGone', target: 'leaving' },
      ],
    },
    leaving: {
      description: 'The pod is gone; the garbage collector is to take its request along.',
      tags: 'settled',
      always: [
        { guard: 'anythingOwed', target: 'waiting' },
        { guard: 'requestLess', target: 'absent' },
        { guard: 'podThere', target: 'settled' },
      ],
    },
    absent: {
      description: 'The pod asks for nothing, or is gone, and there is no request.',
      tags: 'settled',
      always: [
        { guard: 'anythingOwed', target: 'waiting' },
        { guard: 'requestThere', target: 'settled' },
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
            { guard: 'refused', target: '#podDemand.refused' },
            { guard: 'triesSpent', target: '#podDemand.setAside' },
            { guard: 'failed', target: 'backingOff' },
            { guard: 'creationOwed', target: 'creating' },
            { guard: 'updateOwed', target: 'updating' },
            { guard: 'stampOwed', target: 'stamping' },
            { guard: 'deletionOwed', target: 'deleting' },
            { target: '#podDemand.settled' },
          ],
        },
        creating: writing('createRequest', 'Creates the request; its status follows.'),
        updating: writing(
          'updateRequest',
          'Makes the request say what the pod asks for now, and marks it as its own.',
        ),
        stamping: writing(
          'stampRequest',
          'Writes the first phase, Pending, unless the fleet was faster.',
        ),
        deleting: writing(
          'deleteRequest',
          'Deletes a request that nobody needs: a finished pod, or one too many.',
        ),
        backingOff: {
          description: 'The last write failed; tries again shortly, in the same slot.',
          always: { guard: 'nothingOwed', target: '#podDemand.settled' },
          after: { writeBackoff: { target: 'deciding', actions: 'tryAgain' } },
        },
      },
    },
    setAside: {
      description: 'Its writes keep failing: made room for other pods, comes back later.',
      meta: { reason: 'PodRequestFailing' },
      tags: 'waiting',
      entry: 'tellFailing',
      always: { guard: 'nothingOwed', target: 'settled' },
      on: { 'pod.observed': another },
      after: { slotBackoff: 'waiting' },
    },
    refused: {
      description: 'The API server will not take the request; a person must look.',
      meta: { reason: 'PodRequestRefused' },
      tags: 'waiting',
      entry: 'tellRefused',
      always: { guard: 'nothingOwed', target: 'settled' },
      on: { 'pod.observed': another },
      after: { refusalBackoff: 'waiting' },
    },
  },
});
