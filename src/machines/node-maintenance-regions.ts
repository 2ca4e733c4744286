/**
 * Two regions of the statechart `nodeMaintenance`: when Nodes may begin, and what their drains wait
 * for besides their pods.
 */
import type { ReasonName } from '../api/reasons.ts';
import {
  type DrainsPhase,
  drainsPhase,
  type MaintenanceFacts,
} from '../domain/node-maintenance/maintenance-step.ts';
import {
  windowChangeMs,
  type WindowPhase,
  windowPhase,
} from '../domain/node-maintenance/window.ts';
import type { MaintenanceEvent, NodeMaintenanceContext } from './node-maintenance-context.ts';

interface Observed {
  readonly event: MaintenanceEvent<'window.observed'>;
}

/** A state of the window that has a next change, which the clock is asked about when it is due. */
const lasting = <const Phase extends WindowPhase, const Reason extends ReasonName, const Entry>(
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
            params: ({ event }: Observed) => event,
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

const drainsBranch = <const State extends string>(params: DrainsPhase, target: State) => ({
  guard: { type: 'drainsAre' as const, params },
  target,
});

/** A state of the drains in which they wait for more than their pods. */
const halted = <const Phase extends DrainsPhase, const Reason extends ReasonName>(
  params: Phase,
  reason: Reason,
  description: string,
) => ({
  description,
  meta: { reason },
  always: { guard: { type: 'drainsOutdated' as const, params }, target: 'deciding' },
});

/**
 * Crossed drains may pass by themselves: the scheduler looks again after a node or a pod left, and
 * the controller of budgets counts again.
 */
const CROSSING_GRACE_MS = 30_000;

/** As long as a drain that failed is left alone. */
const DRAIN_RETRY_MS = 60_000;

interface Facts {
  readonly context: MaintenanceFacts & Pick<NodeMaintenanceContext, 'vanished'>;
}

const windowOf = ({ context }: Facts): WindowPhase =>
  context.vanished ? 'Unlimited' : windowPhase(context);

const drainsOf = ({ context }: Facts): DrainsPhase =>
  context.vanished ? 'Going' : drainsPhase(context);

/** Guards of both regions. A maintenance that vanished waits for nothing. */
export const regionGuards = {
  windowIs: (facts: Facts, wanted: WindowPhase) => windowOf(facts) === wanted,
  windowOutdated: (facts: Facts, current: WindowPhase) => windowOf(facts) !== current,
  drainsAre: (facts: Facts, wanted: DrainsPhase) => drainsOf(facts) === wanted,
  drainsOutdated: (facts: Facts, current: DrainsPhase) => drainsOf(facts) !== current,
};

/** Delays of both regions. */
export const regionDelays = {
  windowChange: ({ context }: Facts) => windowChangeMs(context.window),
  crossingGrace: CROSSING_GRACE_MS,
  drainRetry: DRAIN_RETRY_MS,
};

/** Whether Nodes that wait may begin. */
export const windowRegion = {
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
      always: { guard: { type: 'windowOutdated', params: 'Unlimited' }, target: 'deciding' },
    },
    unknown: {
      description: 'The window of the spec is not read yet; no Node begins.',
      entry: ['withholdNodes', 'requestWindow'],
      always: { guard: { type: 'windowOutdated', params: 'Unknown' }, target: 'deciding' },
      on: {
        'window.observed': {
          actions: { type: 'setWindow', params: ({ event }: Observed) => event },
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
} as const;

/** What the drains wait for, besides their pods. */
export const drainsRegion = {
  description: 'What the drains wait for, besides their pods.',
  initial: 'deciding',
  states: {
    deciding: {
      description: 'Decides from the Nodes and from the drains of others.',
      always: [
        drainsBranch('Crossed', 'crossed'),
        drainsBranch('Refused', 'refused'),
        drainsBranch('Yielding', 'yielding'),
        { target: 'going' },
      ],
    },
    going: {
      description: 'For nothing else.',
      always: { guard: { type: 'drainsOutdated', params: 'Going' }, target: 'deciding' },
    },
    crossed: {
      ...halted(
        'Crossed',
        'MaintenanceCrossed',
        'They and drains of others wait for each other; the last by class and age yields.',
      ),
      entry: 'recordCrossed',
      initial: 'enduring',
      states: {
        enduring: {
          description: 'It may pass: a pod finds a node, or a budget opens.',
          after: {
            crossingGrace: { target: 'enduring', reenter: true, actions: 'yieldNode' },
          },
        },
      },
    },
    refused: {
      ...halted('Refused', 'MaintenanceDrainRefused', 'The drain of a Node failed.'),
      after: { drainRetry: { target: 'refused', reenter: true, actions: 'drainAgain' } },
    },
    yielding: {
      ...halted(
        'Yielding',
        'MaintenanceYielding',
        'A Node is released, until the drain to which it yields is over.',
      ),
      entry: 'recordYielding',
    },
  },
} as const;
