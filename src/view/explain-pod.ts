/**
 * Explains a pod as demand: what it asks of the fleet, whether its CapacityRequest says so, and
 * where that stands.
 *
 * Promises: says of a pod what the pods role makes of it, because both read it with the same
 * function; total, whatever the cluster shows.
 */
import { listOrEmptyAt, textAt } from '../domain/json.ts';
import { NO_DEFAULTS } from '../domain/pod-demand/penalties.ts';
import { type DemandStatus, projectPodDemand } from '../domain/pod-demand/pod-demand.ts';
import { type PodRequest, requestOfPod } from '../domain/pod-demand/pod-request.ts';
import { explainCapacityRequest } from './explain-capacity-request.ts';
import { type Detail, type Explanation, timelineOf } from './explanation.ts';

/** What the cluster shows. */
export interface PodExplanationFacts {
  readonly pod: unknown;
  /** The CapacityRequests that are labelled with the pod's UID; undefined when not to be read. */
  readonly requests: unknown;
  readonly events: readonly unknown[];
  /** The operator's Leases, wherever they are; undefined when they may not be read. */
  readonly leases: unknown;
  readonly nowMs: number;
}

type Verdict = Pick<Explanation, 'why' | 'waitsFor' | 'canAct' | 'action'>;

const noDemand = (why: string): Verdict => ({
  why,
  waitsFor: 'Nothing: the fleet is not asked for it',
  canAct: 'nobody',
  action: '',
});

const NO_DEMAND: Readonly<Record<Exclude<DemandStatus, 'Wanted'>, Verdict>> = {
  Finished: noDemand('It has finished, so it takes no capacity any more'),
  OfDaemonSet: noDemand('It belongs to a DaemonSet: each new node brings one of its own along'),
  Mirror: noDemand('It is a mirror pod: the kubelet runs it from a file on its node'),
  LeftOut: noDemand('Selectors leave it out'),
};

const WITHOUT_REQUEST: Verdict = {
  why: 'It is demand, and there is no CapacityRequest for it',
  waitsFor: 'Somebody to make one: `tidegate pods`, or the operator with `--with-pods`',
  canAct: 'platform',
  action: 'See whether that runs and leads, whether its selectors leave the pod or its namespace ' +
    'out, and the Events of the pod',
};

const UNREADABLE: Verdict = {
  why: 'It is demand; whether there is a CapacityRequest for it may not be read',
  waitsFor: 'A CapacityRequest, and its acknowledgement by the fleet',
  canAct: 'platform',
  action: 'Ask again with the right to list capacityrequests',
};

const detail = (name: string, value: string | undefined): readonly Detail[] =>
  value === undefined || value === '' ? [] : [{ name, value }];

/** What belongs to the request itself and not to what it asks for. */
const OF_REQUEST: ReadonlySet<string> = new Set(['Created', 'For pod']);

interface Finding {
  readonly verdict: Verdict;
  readonly details: readonly Detail[];
}

/** What there is to say of the request, or of the one that there should be. */
const findingOf = (
  { pod, requests, leases, nowMs }: PodExplanationFacts,
  wanted: PodRequest,
): Finding => {
  const [current] = listOrEmptyAt(requests, 'items');
  const namespace = textAt(pod, 'metadata', 'namespace');
  const request = current ?? { metadata: { namespace }, spec: wanted.spec };
  const explained = explainCapacityRequest({ request, events: [], leases, nowMs });
  const asked = explained.details.filter(({ name }) => !OF_REQUEST.has(name));
  if (current === undefined) {
    return { verdict: requests === undefined ? UNREADABLE : WITHOUT_REQUEST, details: asked };
  }
  const { why, waitsFor, canAct, action, state } = explained;
  return {
    verdict: { why: `Its CapacityRequest: ${why}`, waitsFor, canAct, action },
    details: [
      { name: 'Request', value: textAt(current, 'metadata', 'name') ?? '' },
      { name: 'Request is', value: state },
      ...asked,
    ],
  };
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
  return {
    kind: 'Pod',
    name: `${namespace}/${textAt(pod, 'metadata', 'name') ?? ''}`,
    state: textAt(pod, 'status', 'phase') ?? 'Unknown',
    what: 'A pod, and what the fleet is asked for because of it',
    ...verdict,
    problems: (wanted?.warnings ?? []).map(({ field, problem, remedy }) => ({
      field,
      problem,
      remedy,
    })),
    details: [...detail('Node', textAt(pod, 'spec', 'nodeName')), ...details],
    events: timelineOf(facts.events),
  };
};
