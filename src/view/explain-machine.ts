/**
 * Explains a machine by its UpcomingNode and its Node: how far the fleet is with it, and how far
 * its kubelet is.
 *
 * Promises: tells the fleet's word (the phase) and the Node's own readiness apart, because either
 * may be ahead of the other; total, whatever the cluster shows.
 */
import type { CanAct } from '../api/reasons.ts';
import { MACHINE_ID_KEY } from '../domain/ids.ts';
import { booleanAt, listOrEmptyAt, textAt } from '../domain/json.ts';
import { type Phase, phaseNamed } from '../domain/machine-phase.ts';
import { annotationsOf, isDeleting } from '../domain/object-meta.ts';
import { age, type Detail, type Explanation, quantitiesText, timelineOf } from './explanation.ts';

/** What the cluster shows. */
export interface MachineFacts {
  readonly upcomingNode: unknown;
  /** The Node of `status.nodeRef`; undefined when there is none, or it is gone. */
  readonly node: unknown;
  readonly events: readonly unknown[];
  readonly nowMs: number;
}

interface Verdict {
  readonly why: string;
  readonly waitsFor: string;
  readonly canAct: CanAct;
  readonly action: string;
}

const verdict = (
  why: string,
  waitsFor: string,
  who: readonly [canAct: CanAct, action: string],
): Verdict => ({ why, waitsFor, canAct: who[0], action: who[1] });

const NOBODY = ['nobody', ''] as const;

const OF_PHASE: Readonly<Record<Exclude<Phase, 'Ready' | 'Failed'>, Verdict>> = {
  Provisioning: verdict(
    'The fleet gets this machine from its provider',
    'The provider to deliver it',
    ['provider', 'Look at the capacity and the quotas of the provider when it takes long'],
  ),
  Launched: verdict(
    'The machine exists and idles: the fleet has not yet told it to join this cluster',
    'The fleet to configure it for this cluster',
    NOBODY,
  ),
  Registered: verdict(
    'The machine has its user data and is starting up',
    'Its kubelet to join, and the fleet to see that it is configured',
    [
      'platform',
      'Look at the bootstrap template and the console of the machine when it takes long',
    ],
  ),
  Draining: verdict(
    'The fleet takes this machine back, and its pods are leaving',
    'The pods on its Node to end',
    ['application', 'Ask "tidegate explain NODE" about its Node: it names what holds the pods up'],
  ),
  Drained: verdict(
    'The machine is empty and goes back to the fleet',
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
  const ready = listOrEmptyAt(node, 'status', 'conditions')
    .find((condition) => textAt(condition, 'type') === 'Ready');
  return {
    status: textAt(ready, 'status') ?? 'Unknown',
    reason: textAt(ready, 'reason') ?? '',
    message: textAt(ready, 'message') ?? '',
    since: textAt(ready, 'lastTransitionTime'),
  };
};

const cause = ({ reason, message }: Readiness): string =>
  [reason, message].filter((part) => part !== '').join(': ') || 'its kubelet has not reported';

/** The fleet says that the machine is configured; how does its Node do? */
const configured = (facts: MachineFacts): Verdict => {
  const nodeName = textAt(facts.upcomingNode, 'status', 'nodeRef', 'name');
  if (nodeName === undefined) {
    return verdict(
      'The fleet says that the machine is configured, but no Node of it has been seen',
      'A Node with its provider id, its name, or its label',
      ['platform', `Look whether the kubelet joined; its Node needs the machine's provider id`],
    );
  }
  if (facts.node === undefined) {
    return verdict(
      `The fleet says that the machine is configured, but its Node "${nodeName}" is gone`,
      'The Node to come back, or the fleet to take the machine back',
      ['platform', 'Find out who deleted the Node'],
    );
  }
  const readiness = readinessOf(facts.node);
  if (readiness.status !== 'True') {
    return verdict(
      `Its Node "${nodeName}" has joined and is not ready: ${cause(readiness)}`,
      'The kubelet of the Node to become ready',
      ['platform', `Look at the conditions and the pods of the Node "${nodeName}"`],
    );
  }
  return verdict(`Its Node "${nodeName}" has joined and is ready`, 'Nothing', NOBODY);
};

const failed = (upcomingNode: unknown): Verdict =>
  verdict(
    `The fleet says that the machine failed: ${
      textAt(upcomingNode, 'status', 'lastError') || 'it gives no cause'
    }`,
    'The fleet to try again or to give it up',
    ['provider', 'Mend what the error names; a failed bootstrap is about the bootstrap template'],
  );

const verdictOn = (facts: MachineFacts, phase: Phase | undefined): Verdict => {
  if (isDeleting(facts.upcomingNode)) {
    return verdict('This object is being deleted', 'Its finalizers', NOBODY);
  }
  if (phase === undefined) {
    return verdict(
      'The object is new: its status has not been written yet',
      'The operator to write the status',
      NOBODY,
    );
  }
  if (phase === 'Ready') return configured(facts);
  return phase === 'Failed' ? failed(facts.upcomingNode) : OF_PHASE[phase];
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
    ...detail('Node takes pods', booleanAt(node, 'spec', 'unschedulable') ? 'no, cordoned' : 'yes'),
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
    what: 'A machine of the fleet that is, or is about to be, a Node of this cluster',
    ...verdictOn(facts, phase),
    problems: [],
    details: details(facts),
    events: timelineOf(facts.events),
  };
};
