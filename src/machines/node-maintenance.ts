/**
 * One NodeMaintenance: its stages, its finalizer, its status, and what may be done to its Nodes.
 *
 * Promises: no Node is cordoned before the finalizer is stored, and no pod leaves outside of the
 * stage Drain; a deletion completes the maintenance first, in any stage, and the finalizer leaves
 * only after the last key has left the Nodes (NM-09); one write is in flight at a time; the preview
 * of a spec is renewed at most once in `previewInterval`; no Node begins while the window is closed
 * or not known. Nothing survives the process: phase and writes follow from the object and Nodes.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import {
  type MaintenancePhase,
  storedPreview,
} from '../domain/node-maintenance/maintenance-step.ts';
import {
  windowChangeMs,
  type WindowPhase,
  windowPhase,
} from '../domain/node-maintenance/window.ts';
import { answersOf } from './act-answers.ts';
import {
  answered,
  derived,
  type MaintenanceEvent,
  type MaintenanceOutcome,
  type NodeMaintenanceAct,
  type NodeMaintenanceContext,
  type NodeMaintenanceEvent,
  type NodeMaintenanceInput,
  observed,
  withMaintenance,
} from './node-maintenance-context.ts';
import { objectWriter, UNTRIED, writerDelays, writerGuards, writing } from './object-writer.ts';
import { required } from './required.ts';

/**
 * Between two previews of one spec. Each is a write of the whole object, and people read them, who
 * plan a maintenance: two a minute keep up with them, whatever the pods of the Nodes do.
 */
const PREVIEW_INTERVAL_MS = 30_000;

const actOf = (
  { context: { maintenance, pendingWrite } }: { readonly context: NodeMaintenanceContext },
): NodeMaintenanceAct => ({ maintenance, write: pendingWrite ?? { write: 'addFinalizer' } });

const writes = writing(actOf, answersOf<MaintenanceOutcome>()('deciding', 'setAnswer'));

const branch = <const State extends string>(params: MaintenancePhase, target: State) => ({
  guard: { type: 'phaseIs' as const, params },
  target,
});

/** The stage is not Idle any more, or the object is gone. */
const PLANNED_NO_MORE = { type: 'outdated', params: 'Idle' } as const;

/** A state of the work, as long as its phase lasts. */
const phase = <const Phase extends MaintenancePhase, const Reason extends ReasonName>(
  params: Phase,
  reason: Reason,
  description: string,
) => ({
  description,
  meta: { reason },
  tags: 'waiting' as const,
  always: { guard: { type: 'outdated' as const, params }, target: 'deciding' },
});

/** The spec has a window now, and is worked on. A maintenance that vanished has none. */
const LIMITED_NOW = { guard: 'windowLimits' as const, target: 'deciding' as const };

/** A state of the window that has a next change, which the clock is asked about when it is due. */
const lasting = <const Phase extends WindowPhase, const Reason extends ReasonName, Entry>(
  params: Phase,
  { reason, description, entry }: {
    readonly reason: Reason;
    readonly description: string;
    readonly entry: Entry;
  },
) => ({
  description,
  meta: { reason },
  entry,
  always: { guard: { type: 'windowOutdated' as const, params }, target: 'deciding' },
  initial: 'lasting' as const,
  states: {
    lasting: {
      description: 'Until its next change, or until the clock is looked at again.',
      after: { windowChange: 'due' as const },
    },
    due: {
      description: 'The window is looked at again.',
      entry: 'requestWindow' as const,
      on: {
        'window.observed': {
          target: 'lasting' as const,
          actions: {
            type: 'setWindow' as const,
            params: ({ event }: { readonly event: MaintenanceEvent<'window.observed'> }) => event,
          },
        },
      },
    },
  },
});

const windowBranch = <const State extends string>(params: WindowPhase, target: State) => ({
  guard: { type: 'windowIs' as const, params },
  target,
});

/** The statechart of a maintenance; `src/actors/node-maintenance` provides writes and acts. */
export const nodeMaintenance = setup({
  types: {
    context: {} as NodeMaintenanceContext,
    events: {} as NodeMaintenanceEvent,
    input: {} as NodeMaintenanceInput,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'acting' | 'settled',
  },
  actors: {
    addFinalizer: required<MaintenanceOutcome, NodeMaintenanceAct>('addFinalizer'),
    completeStage: required<MaintenanceOutcome, NodeMaintenanceAct>('completeStage'),
    setStatus: required<MaintenanceOutcome, NodeMaintenanceAct>('setStatus'),
    removeFinalizer: required<MaintenanceOutcome, NodeMaintenanceAct>('removeFinalizer'),
  },
  actions: {
    requestSlot: () => {},
    recordRefused: () => {},
    recordFailing: () => {},
    /** The Nodes are cordoned and kept so; no pod leaves. */
    cordonNodes: () => {},
    /** As well, the pods of the drain targets leave, and those that come later (NM-29). */
    drainNodes: () => {},
    /** The keys leave the Nodes; no pod leaves for this maintenance any more. */
    releaseNodes: () => {},
    /** Nodes that wait may begin. */
    beginNodes: () => {},
    /** No further Node begins; those that have begun go on. */
    withholdNodes: () => {},
    /** The schedule is read, and compared with the clock. */
    requestWindow: () => {},
    recordWindowClosed: () => {},
    recordWindowMalformed: () => {},
    /** The preview may be renewed, now or with the next change of what it is computed from. */
    requestPreview: () => {},
    setMaintenance: assign(({ context }, event: MaintenanceEvent<'maintenance.observed'>) =>
      withMaintenance(context, event)
    ),
    setNodes: assign((
      { context },
      { observed: nodes, nowMs }: MaintenanceEvent<'nodes.observed'>,
    ) => observed(context, { observed: nodes, nowMs })),
    setPreview: assign(({ context }, { computed }: MaintenanceEvent<'preview.computed'>) =>
      observed(context, { preview: computed })
    ),
    setWindow: assign(({ context }, { window }: MaintenanceEvent<'window.observed'>) =>
      observed(context, { window })
    ),
    setVanished: assign(({ context }) => observed(context, { vanished: true })),
    setAnswer: assign(({ context }, outcome: MaintenanceOutcome) => answered(context, outcome)),
    setBase: assign(({ context: { pendingWrite, maintenance } }) => ({
      sent: pendingWrite?.write ?? null,
      base: maintenance.resourceVersion,
    })),
    resetVerdict: assign({ verdict: 'Untried' }),
  },
  guards: {
    ...writerGuards,
    vanished: ({ context }) => context.vanished,
    phaseIs: ({ context }, wanted: MaintenancePhase) => context.phase === wanted,
    outdated: ({ context }, current: MaintenancePhase) =>
      context.vanished || context.phase !== current,
    windowLimits: ({ context }) => !context.vanished && windowPhase(context) !== 'Unlimited',
    windowIs: ({ context }, wanted: WindowPhase) =>
      !context.vanished && windowPhase(context) === wanted,
    windowOutdated: ({ context }, current: WindowPhase) =>
      context.vanished || windowPhase(context) !== current,
    ofAnotherSpec: ({ context: { maintenance, preview } }) =>
      preview?.generation !== maintenance.generation,
  },
  delays: {
    ...writerDelays,
    previewInterval: PREVIEW_INTERVAL_MS,
    windowChange: ({ context: { window } }) => windowChangeMs(window),
  },
}).createMachine({
  id: 'nodeMaintenance',
  description: 'One NodeMaintenance: stages, finalizer, status, and what its Nodes may have done.',
  context: ({ input: { seed, ...input } }) =>
    derived({
      ...input,
      ...UNTRIED,
      seed,
      preview: storedPreview(input.maintenance),
      window: null,
      phase: 'Idle',
      pendingWrite: null,
      vanished: false,
      base: null,
    }),
  type: 'parallel',
  on: {
    'maintenance.observed': { actions: { type: 'setMaintenance', params: ({ event }) => event } },
    'maintenance.vanished': { actions: 'setVanished' },
    'nodes.observed': { actions: { type: 'setNodes', params: ({ event }) => event } },
  },
  states: {
    work: {
      description: 'What is done to the Nodes of the maintenance.',
      initial: 'deciding',
      states: {
        deciding: {
          description: 'Decides from the stage, the finalizer and the Nodes.',
          always: [
            { guard: 'vanished', target: 'vanished' },
            branch('Idle', 'idle'),
            branch('Unprotected', 'unprotected'),
            branch('Cordoned', 'cordoned'),
            branch('Evacuating', 'evacuating'),
            branch('Drained', 'drained'),
            branch('Releasing', 'releasing'),
            { target: 'completed' },
          ],
        },
        idle: phase('Idle', 'MaintenanceIdle', 'Planned: neither Nodes nor pods are touched.'),
        unprotected: phase(
          'Unprotected',
          'MaintenanceUnprotected',
          'Waiting for the finalizer; no Node is touched before it is stored.',
        ),
        cordoned: {
          ...phase('Cordoned', 'MaintenanceCordoned', 'The Nodes are cordoned and kept so.'),
          entry: 'cordonNodes',
        },
        evacuating: {
          ...phase(
            'Evacuating',
            'MaintenanceEvacuating',
            'The Nodes are cordoned; the pods of the drain targets leave.',
          ),
          entry: 'drainNodes',
        },
        drained: {
          ...phase(
            'Drained',
            'MaintenanceDrained',
            'All pods that must leave are gone; the Nodes stay cordoned until the stage Complete.',
          ),
          entry: 'drainNodes',
        },
        releasing: {
          ...phase(
            'Releasing',
            'MaintenanceReleasing',
            'Complete or deleted: waiting until no Node has a key of the maintenance.',
          ),
          entry: 'releaseNodes',
        },
        completed: phase(
          'Completed',
          'MaintenanceCompleted',
          'No Node has a key of the maintenance; nothing is left to do.',
        ),
        vanished: {
          description: 'The object is gone; keys that it left behind leave the Nodes.',
          entry: 'releaseNodes',
          tags: 'settled',
        },
      },
    },
    window: {
      description: 'Whether Nodes that wait may begin.',
      initial: 'deciding',
      states: {
        deciding: {
          description: 'Decides from the spec, the stage and the window.',
          always: [
            windowBranch('Unknown', 'unknown'),
            windowBranch('Open', 'open'),
            windowBranch('Closed', 'closed'),
            windowBranch('Malformed', 'malformed'),
            { target: 'unlimited' },
          ],
        },
        unlimited: {
          description: 'The spec has no window, or no Node is worked on.',
          entry: 'beginNodes',
          always: LIMITED_NOW,
        },
        unknown: {
          description: 'The window of the spec is not read yet; no Node begins.',
          entry: ['withholdNodes', 'requestWindow'],
          always: { guard: { type: 'windowOutdated', params: 'Unknown' }, target: 'deciding' },
          on: {
            'window.observed': {
              actions: { type: 'setWindow', params: ({ event }) => event },
            },
          },
        },
        open: lasting('Open', {
          reason: 'MaintenanceWindowOpen',
          description: 'Nodes that wait may begin.',
          entry: 'beginNodes',
        }),
        closed: lasting('Closed', {
          reason: 'MaintenanceWindowClosed',
          description: 'No Node begins; those under way are finished.',
          entry: ['withholdNodes', 'recordWindowClosed'] as const,
        }),
        malformed: {
          description: 'The window cannot be read: no Node begins before the spec is mended.',
          meta: { reason: 'MaintenanceWindowMalformed' },
          entry: ['withholdNodes', 'recordWindowMalformed'],
          always: { guard: { type: 'windowOutdated', params: 'Malformed' }, target: 'deciding' },
        },
      },
    },
    preview: {
      description: 'What a drain would meet, for the status.',
      initial: 'deciding',
      states: {
        deciding: {
          description: 'Decides from the stage.',
          always: [branch('Idle', 'renewable'), { target: 'withheld' }],
        },
        renewable: {
          description: 'The next change of Nodes, pods or budgets renews it.',
          entry: 'requestPreview',
          always: { guard: PLANNED_NO_MORE, target: 'withheld' },
          on: {
            'preview.computed': {
              target: 'gathering',
              actions: { type: 'setPreview', params: ({ event }) => event },
            },
          },
        },
        gathering: {
          description: 'Renewed lately; changes are gathered for the next one.',
          always: [
            { guard: PLANNED_NO_MORE, target: 'withheld' },
            { guard: 'ofAnotherSpec', target: 'renewable' },
          ],
          after: { previewInterval: 'renewable' },
        },
        withheld: {
          description: 'Not planned any more: there is no preview.',
        },
      },
    },
    object: {
      description: 'The finalizer, the stage and the status.',
      initial: 'settled',
      states: objectWriter({
        id: 'nodeMaintenance.object',
        settled: {
          description: 'The object has the finalizer and the status that it should have.',
          always: [
            { guard: 'vanished', target: 'absent' },
            { guard: 'writePending', target: 'waiting' },
          ],
        },
        further: {
          absent: { description: 'The object was deleted.', tags: 'settled' },
        },
        writes: {
          addingFinalizer: writes('addFinalizer', 'Applies the finalizer, before any Node.'),
          completing: writes('completeStage', 'Sets the stage Complete of a deleted object.'),
          applyingStatus: writes('setStatus', 'Applies stages, Nodes and conditions.'),
          removingFinalizer: writes('removeFinalizer', 'Lets the object go.'),
        },
        branches: [
          { write: 'addFinalizer', state: 'addingFinalizer' },
          { write: 'complete', state: 'completing' },
          { write: 'setStatus', state: 'applyingStatus' },
          { write: 'removeFinalizer', state: 'removingFinalizer' },
        ],
        retries: 'WithSlot',
        setAside: { reason: 'NodeMaintenanceFailing', on: {} },
        refused: { reason: 'NodeMaintenanceRefused', on: {} },
      }),
    },
  },
});
