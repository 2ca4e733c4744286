/**
 * Explains a pod as demand: what it requests from the fleet, and the state of its CapacityRequest.
 *
 * Promises: agrees with the pods role, because both use the same parser; total.
 */
import { runbookUrl } from '../domain/documentation.ts';
import { isMaintenanceOwner } from '../domain/drain/cordon.ts';
import type { DrainSituation } from '../domain/drain/verdict.ts';
import { interceptorsOf } from '../domain/eviction-requests/interceptor-list.ts';
import { isFinal, type ObservedRequest } from '../domain/eviction-requests/observed-request.ts';
import { IMPERATIVE_EVICTION } from '../domain/eviction-requests/qualified-name.ts';
import { listOrEmptyAt, textAt } from '../domain/json.ts';
import { NO_DEFAULTS } from '../domain/pod-demand/penalties.ts';
import { type DemandStatus, projectPodDemand } from '../domain/pod-demand/pod-demand.ts';
import { type PodRequest, requestOfPod } from '../domain/pod-demand/pod-request.ts';
import { objectKey } from '../domain/ids.ts';
import type { ShardOutage } from '../domain/shard-reach.ts';
import type { NodeFacts } from './drain-facts.ts';
import { type DrainBlocker, type DrainStatus, drainStatus } from './drain-status.ts';
import { explainCapacityRequest } from './explain-capacity-request.ts';
import { explainRequested } from './explain-eviction-request.ts';
import { type Detail, type Explanation, timelineOf } from './explanation.ts';

/** The objects that were read. */
export interface PodExplanationFacts {
  readonly pod: unknown;
  /** The CapacityRequests labelled with the pod's UID; undefined without permission. */
  readonly requests: unknown;
  readonly events: readonly unknown[];
  /** The operator's Leases in all namespaces; undefined without permission to list them. */
  readonly leases: unknown;
  /** Why the leader has no session, as its Event reports; undefined while it has one. */
  readonly outage?: ShardOutage | undefined;
  /** Its Node with all that its drain concerns; undefined without permission, or a Node. */
  readonly drained?: NodeFacts | undefined;
  /** The request of its eviction; undefined without one, or without permission. */
  readonly evictionRequest?: ObservedRequest | undefined;
  readonly nowMs: number;
}

type Verdict = Pick<Explanation, 'why' | 'waitsFor' | 'canAct' | 'action' | 'runbook'>;

const noDemand = (why: string): Verdict => ({
  why,
  waitsFor: 'Nothing: the fleet is not asked for it',
  canAct: 'nobody',
  action: '',
  runbook: '',
});

const NO_DEMAND: Readonly<Record<Exclude<DemandStatus, 'Wanted'>, Verdict>> = {
  Finished: noDemand('It has finished and needs no capacity'),
  OfDaemonSet: noDemand('It belongs to a DaemonSet, which runs a pod on each new node anyway'),
  Mirror: noDemand('It is a mirror pod of a static pod on its node'),
  LeftOut: noDemand('The configured selectors exclude it'),
};

const WITHOUT_REQUEST: Verdict = {
  why: 'It counts as demand but has no CapacityRequest',
  waitsFor: '`tidegate pods`, or the operator with `--with-pods`, to create one',
  canAct: 'platform',
  action:
    'Check that it runs and is leader, whether its selectors exclude the pod or its namespace, ' +
    'and the Events of the pod',
  runbook: '',
};

const UNREADABLE: Verdict = {
  why: 'It counts as demand; reading its CapacityRequest is not permitted',
  waitsFor: 'A CapacityRequest that the fleet acknowledges',
  canAct: 'platform',
  action: 'Retry with permission to list capacityrequests',
  runbook: '',
};

const detail = (name: string, value: string | undefined): readonly Detail[] =>
  value === undefined || value === '' ? [] : [{ name, value }];

/** Details of the request object itself, not of its demand. */
const OF_REQUEST: ReadonlySet<string> = new Set(['Created', 'For pod']);

interface Finding {
  readonly verdict: Verdict;
  readonly details: readonly Detail[];
}

/** The details of the request, existing or expected. */
const findingOf = (
  { pod, requests, leases, outage, nowMs }: PodExplanationFacts,
  wanted: PodRequest,
): Finding => {
  const [current] = listOrEmptyAt(requests, 'items');
  const namespace = textAt(pod, 'metadata', 'namespace');
  const request = current ?? { metadata: { namespace }, spec: wanted.spec };
  const explained = explainCapacityRequest({
    request,
    events: [],
    leases,
    // A pod that has its node waits for no machine.
    outage: textAt(pod, 'spec', 'nodeName') === undefined ? outage : undefined,
    nowMs,
  });
  const asked = explained.details.filter(({ name }) => !OF_REQUEST.has(name));
  if (current === undefined) {
    return { verdict: requests === undefined ? UNREADABLE : WITHOUT_REQUEST, details: asked };
  }
  const { why, waitsFor, canAct, action, runbook, state } = explained;
  return {
    verdict: { why: `Its CapacityRequest: ${why}`, waitsFor, canAct, action, runbook },
    details: [
      { name: 'Request', value: textAt(current, 'metadata', 'name') ?? '' },
      { name: 'Request state', value: state },
      ...asked,
    ],
  };
};

/** A pod that the drain keeps for its data. */
const keptOn = (
  node: string,
  { text, canAct, change, runbook }: DrainBlocker,
): Verdict => ({
  why: `The drain of the node "${node}" does not evict it: ${text}`,
  waitsFor: canAct === 'nobody'
    ? 'Nothing: it stays on its node'
    : 'A person to accept that it stays, or to move its data',
  canAct,
  action: change,
  runbook: runbookUrl(runbook),
});

const NO_MORE = 'Nothing: Tidegate evicts no more pods';

const waitOf = (state: DrainSituation, isPassing: boolean): string => {
  if (state === 'Failed') return NO_MORE;
  return isPassing ? 'Its turn to be evicted' : 'What blocks it to end';
};

/** The missing permission ended the drain, whatever else blocks the pod. */
const forbiddenOn = ({ node, owners, verdict }: DrainStatus): Verdict => ({
  why: `It must leave the node "${node}", whose drain failed: ${verdict.sentence}`,
  waitsFor: isMaintenanceOwner(owners[0] ?? '') ? 'The permission to evict' : NO_MORE,
  canAct: verdict.canAct,
  action: verdict.change,
  runbook: runbookUrl(verdict.runbook),
});

/** A pod that must leave its node and has not been evicted yet; undefined for any other. */
const heldOn = ({ pod, drained }: PodExplanationFacts): Verdict | undefined => {
  if (drained === undefined) return undefined;
  const status = drainStatus(drained);
  const { node, state, blockers, waits, verdict } = status;
  const key = objectKey(
    textAt(pod, 'metadata', 'name') ?? '',
    textAt(pod, 'metadata', 'namespace'),
  );
  const blocker = blockers.find(({ pods }) => pods.includes(key));
  const wait = waits.find(({ pods }) => pods.includes(key));
  const held = blocker ?? wait;
  if (held?.reason === 'StatefulLocalVolume') return keptOn(node, held);
  if (held === undefined || state === 'Drained') return undefined;
  if (state === 'Failed' && verdict.reason === 'EvictionForbidden') {
    return forbiddenOn(status);
  }
  const { text, canAct, change, runbook } = held;
  const forecast = verdict.forecast === '' ? '' : `. ${verdict.forecast}`;
  return {
    why: `It must leave the node "${node}", which is ${
      state === 'Failed' ? 'not drained in time' : 'being drained'
    }: ${text}${forecast}`,
    waitsFor: waitOf(state, blocker === undefined),
    canAct,
    action: change,
    runbook: runbookUrl(runbook),
  };
};

/**
 * A pod whose eviction is requested; undefined when nobody requests it any more. What a drain knows
 * of a budget is more exact than the report of the imperative eviction.
 */
const requestedOf = (
  { evictionRequest, nowMs }: PodExplanationFacts,
  held: Verdict | undefined,
): (Partial<Verdict> & Pick<Explanation, 'details'>) | undefined => {
  if (evictionRequest === undefined || isFinal(evictionRequest)) return undefined;
  const explained = explainRequested(evictionRequest, nowMs);
  const isEvicted = evictionRequest.status.active === IMPERATIVE_EVICTION;
  return held !== undefined && isEvicted ? { ...held, details: explained.details } : explained;
};

/** Explains one pod. */
export const explainPod = (facts: PodExplanationFacts): Explanation => {
  const { pod } = facts;
  const demand = projectPodDemand(pod);
  const wanted = demand && requestOfPod(demand, NO_DEFAULTS);
  const demandStatus = demand?.status ?? 'LeftOut';
  const { verdict, details } = wanted === undefined
    ? { verdict: NO_DEMAND[demandStatus === 'Wanted' ? 'LeftOut' : demandStatus], details: [] }
    : findingOf(facts, wanted);
  const namespace = textAt(pod, 'metadata', 'namespace') ?? '';
  const held = heldOn(facts);
  const requested = requestedOf(facts, held);
  return {
    kind: 'Pod',
    name: `${namespace}/${textAt(pod, 'metadata', 'name') ?? ''}`,
    state: textAt(pod, 'status', 'phase') ?? 'Unknown',
    what: requested === undefined
      ? 'A pod, and the capacity requested for it'
      : 'A pod that is asked to leave',
    ...verdict,
    ...held,
    ...requested,
    problems: (wanted?.warnings ?? []).map(({ field, problem, remedy }) => ({
      field,
      problem,
      remedy,
    })),
    details: [
      ...detail('Node', textAt(pod, 'spec', 'nodeName')),
      ...detail('Interceptors', interceptorsOf(pod).names.join(', ')),
      ...requested?.details ?? [],
      ...details,
    ],
    events: timelineOf(facts.events),
  };
};
