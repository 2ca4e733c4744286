/**
 * Explains a machine by its UpcomingNode and its Node: the progress of the fleet and of the
 * kubelet.
 *
 * Promises: reports the fleet's phase and the Node's readiness separately, because either may be
 * ahead; total.
 */
import type { CanAct } from '../api/reasons.ts';
import { MACHINE_ID_KEY } from '../domain/ids.ts';
import { rawConditionOf } from '../domain/condition.ts';
import { booleanAt, textAt } from '../domain/json.ts';
import { type Phase, phaseNamed } from '../domain/machine-phase.ts';
import { annotationsOf, isDeleting } from '../domain/object-meta.ts';
import type { ShardOutage } from '../domain/shard-reach.ts';
import type { NodeFacts } from './drain-facts.ts';
import { explainNode, OWNED_SITUATIONS } from './explain-node.ts';
import { age, type Detail, type Explanation, quantitiesText, timelineOf } from './explanation.ts';
import { duringOutage } from './shard-outage.ts';

/** The objects that were read. */
export interface MachineFacts {
  readonly upcomingNode: unknown;
  /** The Node of `status.nodeRef`; undefined without one, or when it is gone. */
  readonly node: unknown;
  readonly events: readonly unknown[];
  /** The Node with all that its drain concerns; undefined without permission, or a Node. */
  readonly drained?: NodeFacts | undefined;
  /** Why the leader has no session, as its Event reports; undefined while it has one. */
  readonly outage?: ShardOutage | undefined;
  readonly nowMs: number;
}

type Verdict = Pick<Explanation, 'why' | 'waitsFor' | 'canAct' | 'action' | 'runbook'>;

const verdict = (
  why: string,
  waitsFor: string,
  who: readonly [canAct: CanAct, action: string],
): Verdict => ({ why, waitsFor, canAct: who[0], action: who[1], runbook: '' });

const NOBODY = ['nobody', ''] as const;

const OF_PHASE: Readonly<Record<Exclude<Phase, 'Ready' | 'Failed'>, Verdict>> = {
  Provisioning: verdict(
    'The fleet gets this machine from its provider',
    'The provider to deliver the machine',
    ['provider', 'Check the capacity and quotas of the provider if it takes long'],
  ),
  Launched: verdict(
    'The machine is idle: the fleet has not configured it for this cluster yet',
    'The fleet to configure it for this cluster',
    NOBODY,
  ),
  Registered: verdict(
    'The machine has its user data and is booting',
    'Its kubelet to join, and the fleet to report it as configured',
    [
      'platform',
      'Check the bootstrap template and the console of the machine if it takes long',
    ],
  ),
  Draining: verdict(
    'The fleet reclaims this machine, and its Node is being drained',
    'The pods on its Node to terminate',
    ['application', 'Run "tidegate explain" on its Node: it names what blocks the drain'],
  ),
  Drained: verdict(
    'The machine is drained and returns to the fleet',
    'The operator to delete this object',
    NOBODY,
  ),
};

interface Readiness {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly since: string | undefined;
}

const readinessOf = (node: unknown): Readiness => {
  const ready = rawConditionOf(node, 'Ready');
  return {
    status: textAt(ready, 'status') ?? 'Unknown',
    reason: textAt(ready, 'reason') ?? '',
    message: textAt(ready, 'message') ?? '',
    since: textAt(ready, 'lastTransitionTime'),
  };
};

const cause = ({ reason, message }: Readiness): string =>
  [reason, message].filter((part) => part !== '').join(': ') || 'its kubelet has not reported';

/** Explains a machine that the fleet reports as configured by its Node. */
const configured = (facts: MachineFacts): Verdict => {
  const nodeName = textAt(facts.upcomingNode, 'status', 'nodeRef', 'name');
  if (nodeName === undefined) {
    return verdict(
      'The fleet reports the machine as configured, but it has no Node',
      'A Node with its provider id, name or label',
      ['platform', `Check that the kubelet joined; its Node needs the machine's provider id`],
    );
  }
  if (facts.node === undefined) {
    return verdict(
      `The fleet reports the machine as configured, but its Node "${nodeName}" is gone`,
      'The Node to rejoin, or the fleet to reclaim the machine',
      ['platform', 'Find out who deleted the Node'],
    );
  }
  const readiness = readinessOf(facts.node);
  if (readiness.status !== 'True') {
    return verdict(
      `Its Node "${nodeName}" joined but is not ready: ${cause(readiness)}`,
      'The kubelet of the Node to become ready',
      ['platform', `Check the conditions and pods of the Node "${nodeName}"`],
    );
  }
  return verdict(`Its Node "${nodeName}" joined and is ready`, 'Nothing', NOBODY);
};

const failed = (upcomingNode: unknown): Verdict =>
  verdict(
    `The fleet reports that the machine failed: ${
      textAt(upcomingNode, 'status', 'lastError') || 'without a cause'
    }`,
    'The fleet to retry or to give up',
    [
      'provider',
      'Fix the cause that the error names; for a failed bootstrap, the bootstrap template',
    ],
  );

/** A person overrides the fleet, which is not asked and goes on reclaiming (DR-05). */
const afterCancellation = (why: string): Verdict =>
  verdict(
    `${why}. The fleet still reclaims the machine`,
    'The fleet to return the machine to service, or to reclaim it with a new instruction',
    ['provider', 'Settle with who uncordoned the Node whether the fleet gets the machine'],
  );

/** A drain of the machine's Node that goes on or has ended explains more than the phase. */
const drainOf = (
  { drained, outage }: MachineFacts,
  phase: Phase | undefined,
): Verdict | undefined => {
  if (drained === undefined || (phase !== 'Draining' && phase !== 'Failed')) return undefined;
  const { state, why, waitsFor, canAct, action, runbook } = explainNode(drained, outage);
  if (phase === 'Draining' && state === 'Cancelled') return afterCancellation(why);
  const isMeant = phase === 'Failed' ? state === 'Failed' : OWNED_SITUATIONS.has(state);
  return isMeant ? { why, waitsFor, canAct, action, runbook } : undefined;
};

const verdictOn = (facts: MachineFacts, phase: Phase | undefined): Verdict => {
  if (isDeleting(facts.upcomingNode)) {
    return verdict('This object is being deleted', 'Its finalizers', NOBODY);
  }
  const drain = drainOf(facts, phase);
  if (drain !== undefined) return drain;
  if (phase === undefined) {
    return verdict(
      'The object is new: its status is not written yet',
      'The operator to write the status',
      NOBODY,
    );
  }
  if (phase === 'Ready') return configured(facts);
  const inPhase = phase === 'Failed' ? failed(facts.upcomingNode) : OF_PHASE[phase];
  return phase === 'Draining' ? inPhase : duringOutage(inPhase, facts.outage);
};

const detail = (name: string, value: string | undefined): readonly Detail[] =>
  value === undefined || value === '' ? [] : [{ name, value }];

const nodeDetails = ({ node, nowMs }: MachineFacts): readonly Detail[] => {
  if (node === undefined) return [];
  const readiness = readinessOf(node);
  const since = age(readiness.since, nowMs);
  const word = { True: 'ready', False: 'not ready' }[readiness.status] ?? 'unknown';
  return [
    ...detail('Node', textAt(node, 'metadata', 'name')),
    ...detail('Node is', since === undefined ? word : `${word}, for ${since}`),
    ...detail(
      'Node schedulable',
      booleanAt(node, 'spec', 'unschedulable') ? 'no, cordoned' : 'yes',
    ),
  ];
};

const details = (facts: MachineFacts): readonly Detail[] => {
  const { upcomingNode, nowMs } = facts;
  const started = textAt(upcomingNode, 'status', 'provisioningStartTime');
  const since = age(started, nowMs);
  return [
    ...detail('Machine', annotationsOf(upcomingNode)[MACHINE_ID_KEY]),
    ...detail('Known since', since && `${started} (${since} ago)`),
    ...detail('Provider id', textAt(upcomingNode, 'status', 'providerID')),
    ...nodeDetails(facts),
    ...detail('Last error', textAt(upcomingNode, 'status', 'lastError')),
    ...detail('Brings', quantitiesText(upcomingNode, 'spec', 'resources')),
    ...detail('Labels', quantitiesText(upcomingNode, 'spec', 'labels')),
  ];
};

/** Explains one machine. */
export const explainMachine = (facts: MachineFacts): Explanation => {
  const phase = phaseNamed(textAt(facts.upcomingNode, 'status', 'phase'));
  return {
    kind: 'UpcomingNode',
    name: textAt(facts.upcomingNode, 'metadata', 'name') ?? '',
    state: phase ?? 'Unknown',
    what: 'A machine of the fleet that is or will be a Node of this cluster',
    ...verdictOn(facts, phase),
    problems: [],
    details: details(facts),
    events: timelineOf(facts.events),
  };
};
