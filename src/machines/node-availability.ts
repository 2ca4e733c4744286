/**
 * The availability of one Node: whether pods may be placed there, and what becomes of those that
 * are lost (`drain-evict-reschedule`: *Node states*, *Rescheduling behavior*).
 *
 * Promises: the state follows from facts and from how long they have held (RS-01); a Node is
 * offline only when its Lease was silent for long enough, counted from when this process saw the
 * last renewal, and Ready is Unknown (RS-05); nothing is deleted in the first seconds, nor of a
 * Node of a storm before a person confirms that it is gone (RS-06); a pod that was deleted is not
 * deleted again (RS-23). A storm is written to the Node, so that a restart protects it, too.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import type {
  AvailableNode,
  NodeProblem,
  NodeState,
} from '../domain/node-availability/node-state.ts';
import {
  areAttemptsSpent,
  AVAILABILITY_DELAYS,
  derived,
  duePods,
  initialContext,
  needsWrite,
  type NodeAvailabilityContext,
  type NodeAvailabilityEvent,
  type NodeAvailabilityInput,
  type RemovalEnd,
  type ReplacedPod,
  withNode,
  withPods,
  withRemoval,
  withWriteFailed,
  withWritten,
} from './node-availability-context.ts';

/** Whether its Lease is renewed. */
const heartbeat = {
  description: 'Whether its Lease is renewed.',
  initial: 'deciding',
  states: {
    deciding: {
      description: 'Decides whether a former process found the Lease silent.',
      always: [{ guard: 'silent', target: 'silent' }, { target: 'fresh' }],
    },
    fresh: {
      description: 'The Lease was renewed lately.',
      on: { 'lease.renewed': { target: 'fresh', reenter: true, actions: 'resetSilence' } },
      after: { silence: { target: 'silent', actions: 'setSilent' } },
    },
    silent: {
      description: 'The Lease was not renewed for the time after which a Node may be offline.',
      on: {
        'lease.renewed': { guard: 'answersAgain', target: 'fresh', actions: 'setRenewed' },
      },
    },
  },
} as const;

const problemIs = <const State extends string>(params: NodeProblem, target: State) => ({
  guard: { type: 'problemIs' as const, params },
  target,
});

/** Whether a problem condition has lasted. */
const health = {
  description: 'Whether a problem condition has lasted.',
  initial: 'deciding',
  states: {
    deciding: {
      description: 'Decides whether a former process found the Node degraded.',
      always: [{ guard: 'degraded', target: 'degraded' }, { target: 'clean' }],
    },
    clean: {
      description: 'The Node has no problem condition.',
      always: problemIs('Present', 'beginning'),
    },
    beginning: {
      description: 'A problem condition has begun; it counts when it lasts.',
      meta: { reason: 'NodeProblemSettling' },
      always: { guard: { type: 'problemIsNot', params: 'Present' }, target: 'clean' },
      after: { problemHold: { target: 'degraded', actions: ['setDegraded', 'recordDegraded'] } },
    },
    degraded: {
      description: 'A problem condition lasts; the Node has a taint.',
      meta: { reason: 'NodeDegraded' },
      always: problemIs('Absent', 'ending'),
    },
    ending: {
      description: 'The problem conditions are over; the taint stays until that has lasted.',
      meta: { reason: 'NodeProblemSettling' },
      always: { guard: { type: 'problemIsNot', params: 'Absent' }, target: 'degraded' },
      after: { cleanHold: { target: 'clean', actions: 'setClean' } },
    },
  },
} as const;

/** A state in which the pods of the Node are not its business. */
const present = <const State extends NodeState>(params: State, description: string) => ({
  description,
  tags: 'settled' as const,
  always: { guard: { type: 'stateIsNot' as const, params }, target: 'deciding' },
});

const enters = <const Target extends string>(params: NodeState, target: Target) => ({
  guard: { type: 'stateIs' as const, params },
  target,
});

/** The stateless pods of an offline Node are deleted, so that their controllers replace them. */
const replacing = {
  description: 'The stateless pods are deleted; stateful ones wait for their Node.',
  entry: ['setSettled', 'recordOffline'],
  initial: 'deciding',
  states: {
    deciding: {
      description: 'Decides whether a pod is to be deleted.',
      always: [
        { guard: 'nothingDue', target: 'replaced' },
        { guard: 'attemptsSpent', target: 'givenUp' },
        { guard: 'attemptFailed', target: 'backingOff' },
        { target: 'removing' },
      ],
    },
    removing: {
      description: 'The pods are deleted one after another, each by its UID.',
      tags: 'acting',
      entry: 'removePods',
      on: {
        'removal.ended': {
          target: 'deciding',
          actions: {
            type: 'setRemoval',
            params: ({ event }: { readonly event: Ended }) => event.end,
          },
        },
      },
    },
    backingOff: {
      description: 'Some pods could not be deleted; they are tried again.',
      meta: { reason: 'LostPodsFailing' },
      tags: 'waiting',
      always: { guard: 'nothingDue', target: 'replaced' },
      after: { removalBackoff: 'removing' },
    },
    givenUp: {
      description: 'Pods could not be deleted in several attempts; a person must act.',
      meta: { reason: 'LostPodsFailing' },
      tags: ['waiting', 'settled'],
      entry: 'recordGivenUp',
      always: { guard: 'nothingDue', target: 'replaced' },
    },
    replaced: {
      description: 'No stateless pod is left that was not deleted.',
      tags: 'settled',
      always: { guard: 'removalDue', target: 'deciding' },
    },
  },
} as const;

type Ended = Extract<NodeAvailabilityEvent, { type: 'removal.ended' }>;

const offline = {
  description: 'The Node does not answer.',
  initial: 'deciding',
  entry: 'requestPods',
  exit: ['resetOffline', 'recordBack'],
  always: {
    guard: { type: 'stateIsNot', params: 'Offline' },
    target: '#nodeAvailability.availability.deciding',
  },
  on: {
    'storm.detected': { guard: 'unconfirmed', target: '.protected', actions: 'setProtected' },
  },
  states: {
    deciding: {
      description: 'Decides whether the Node is of a storm that a former process found.',
      always: [{ guard: 'protected', target: 'protected' }, { target: 'settling' }],
    },
    settling: {
      description: 'The Node has just gone offline; other Nodes may follow.',
      meta: { reason: 'NodeOfflineSettling' },
      tags: 'waiting',
      after: { stormSettle: 'replacing' },
    },
    protected: {
      description: 'Many Nodes went offline together; nothing is deleted.',
      meta: { reason: 'OfflineStorm' },
      tags: ['waiting', 'settled'],
      always: { guard: 'confirmed', target: 'replacing', actions: 'resetProtected' },
    },
    replacing,
  },
} as const;

/** What the Node is for the scheduling of pods. */
const availability = {
  description: 'What the Node is for the scheduling of pods.',
  initial: 'deciding',
  states: {
    deciding: {
      description: 'Decides from the facts.',
      always: [
        enters('Offline', 'offline'),
        enters('Disabled', 'disabled'),
        enters('Draining', 'draining'),
        enters('Degraded', 'degraded'),
        { target: 'active' },
      ],
    },
    active: present('Active', 'New pods may be placed on the Node.'),
    degraded: present('Degraded', 'No new pods are placed on the Node; its pods stay.'),
    draining: present('Draining', 'The Node is cordoned for a drain.'),
    disabled: present('Disabled', 'A person disabled the Node; its pods leave.'),
    offline,
  },
} as const;

/** What the Node shows of it: a condition and a taint. */
const display = {
  description: 'Whether the Node shows it.',
  initial: 'current',
  states: {
    deciding: {
      description: 'Decides whether the last write is enough.',
      always: [{ guard: 'writePending', target: 'backingOff' }, { target: 'current' }],
    },
    current: {
      description: 'The Node shows its state.',
      tags: 'settled',
      always: { guard: 'writePending', target: 'writing' },
    },
    writing: {
      description: 'Waiting for the API server to answer the write.',
      tags: 'acting',
      entry: 'writeNode',
      on: {
        'node.written': {
          target: 'deciding',
          actions: [
            {
              type: 'setWritten',
              params: ({ event }: { readonly event: { readonly node: AvailableNode } }) =>
                event.node,
            },
          ],
        },
        'write.failed': {
          target: 'backingOff',
          actions: [
            {
              type: 'setWriteFailed',
              params: ({ event }: { readonly event: { readonly why: string } }) => event.why,
            },
          ],
        },
      },
    },
    backingOff: {
      description: 'The last write failed, or something else is to be shown by now.',
      meta: { reason: 'WriteFailing' },
      tags: 'waiting',
      after: { writeBackoff: 'current' },
    },
  },
} as const;

/** The statechart of a Node's availability; `src/actors/node-availability` provides its actions. */
export const nodeAvailability = setup({
  types: {
    context: {} as NodeAvailabilityContext,
    events: {} as NodeAvailabilityEvent,
    input: {} as NodeAvailabilityInput,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'acting' | 'settled',
  },
  actions: {
    /** Answered by `pods.observed`. */
    requestPods: () => {},
    /** Answered by `removal.ended`. */
    removePods: () => {},
    /** Answered by `node.written` or `write.failed`. */
    writeNode: () => {},
    recordDegraded: () => {},
    recordOffline: () => {},
    recordBack: () => {},
    recordGivenUp: () => {},
    setNode: assign(({ context }, node: AvailableNode) => withNode(context, node)),
    setPods: assign(({ context }, pods: readonly ReplacedPod[]) => withPods(context, pods)),
    setRemoval: assign(({ context }, end: RemovalEnd) => withRemoval(context, end)),
    setWritten: assign(({ context }, node: AvailableNode) => withWritten(context, node)),
    setWriteFailed: assign(({ context }, why: string) => withWriteFailed(context, why)),
    setSilent: assign(({ context }) => derived(context, { isSilent: true })),
    setRenewed: assign(({ context }) => derived(context, { isSilent: false, silentMs: 0 })),
    resetSilence: assign({ silentMs: 0 }),
    setDegraded: assign(({ context }) => derived(context, { isDegraded: true })),
    setClean: assign(({ context }) => derived(context, { isDegraded: false })),
    setProtected: assign(({ context }) => derived(context, { isProtected: true })),
    setSettled: assign(({ context }) => derived(context, { isSettled: true })),
    resetProtected: assign(({ context }) => derived(context, { isProtected: false })),
    resetOffline: assign(({ context }) =>
      derived(context, { isProtected: false, isSettled: false, pods: [], removed: [], attempt: 0 })
    ),
  },
  guards: {
    silent: ({ context }) => context.isSilent,
    // After an outage a list has renewals from before it: only Ready ends a storm.
    answersAgain: ({ context: { isProtected, node } }) =>
      !isProtected || node.readyStatus !== 'Unknown',
    degraded: ({ context }) => context.isDegraded,
    protected: ({ context }) => context.isProtected,
    confirmed: ({ context }) =>
      context.state === 'Offline' && context.node.availability.isConfirmedGone,
    unconfirmed: ({ context }) => !context.node.availability.isConfirmedGone,
    problemIs: ({ context }, wanted: NodeProblem) => context.node.problem === wanted,
    problemIsNot: ({ context }, params: NodeProblem) => context.node.problem !== params,
    stateIs: ({ context }, wanted: NodeState) => context.state === wanted,
    stateIsNot: ({ context }, params: NodeState) => context.state !== params,
    removalDue: ({ context }) => duePods(context).length > 0,
    nothingDue: ({ context }) => duePods(context).length === 0,
    attemptFailed: ({ context }) => context.attempt > 0,
    attemptsSpent: ({ context }) => areAttemptsSpent(context),
    writePending: ({ context }) => needsWrite(context),
  },
  delays: AVAILABILITY_DELAYS,
}).createMachine({
  id: 'nodeAvailability',
  description: 'Whether pods may be placed on a Node, and what becomes of those that are lost.',
  context: ({ input }) => initialContext(input),
  type: 'parallel',
  on: {
    'node.observed': { actions: { type: 'setNode', params: ({ event }) => event.node } },
    'pods.observed': { actions: { type: 'setPods', params: ({ event }) => event.pods } },
  },
  states: { heartbeat, health, availability, display },
});
