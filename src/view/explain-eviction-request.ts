/**
 * Explains an EvictionRequest: who is asked, who is next, since when silent, when the hand-over
 * comes, and who can act.
 *
 * Promises: the verdict is that of `tidegate evictions`; total.
 */
import type { ObservedRequest } from '../domain/eviction-requests/observed-request.ts';
import { listed } from '../domain/text.ts';
import { age, type Detail, type Explanation, timelineOf } from './explanation.ts';
import { type EvictionStatus, evictionStatus } from './eviction-status.ts';

/** The objects that were read. */
export interface EvictionRequestFacts {
  readonly request: ObservedRequest;
  readonly events: readonly unknown[];
  readonly nowMs: number;
}

/** Names that one line shows. */
const NAMES_MAX = 5;

const detail = (name: string, value: string | null): readonly Detail[] =>
  value === null || value === '' ? [] : [{ name, value }];

const sinceText = (time: string | null, nowMs: number): string | null =>
  time === null ? null : `${time}, ${age(time, nowMs) ?? ''} ago`;

const handOverText = ({ handOver, silentSince }: EvictionStatus): string | null => {
  if (handOver === null) return null;
  return silentSince === null
    ? `${handOver} without another report, with the default --interceptor-deadline`
    : handOver;
};

/** What a request looks like among the details of its pod, or of itself. */
const detailsOf = (status: EvictionStatus, nowMs: number): readonly Detail[] => [
  ...detail('Requesters', listed(status.requesters, NAMES_MAX)),
  ...detail('Asked', status.active),
  ...(status.active === null ? [] : detail('Asked since', sinceText(status.since, nowMs))),
  ...detail('Heartbeat', sinceText(status.heartbeat, nowMs)),
  ...detail('Silent since', sinceText(status.silentSince, nowMs)),
  ...detail('Hand-over', handOverText(status)),
  ...detail('Next', status.next),
  ...detail('Processed', listed(status.processed, NAMES_MAX)),
  ...(status.active === null ? [] : detail('Message', status.message)),
];

/** The parts of an explanation that an open request of a pod decides. */
export const explainRequested = (
  request: ObservedRequest,
  nowMs: number,
): Pick<Explanation, 'why' | 'waitsFor' | 'canAct' | 'action' | 'runbook' | 'details'> => {
  const status = evictionStatus(request, nowMs);
  return {
    why: `Its eviction is requested: ${status.sentence}`,
    waitsFor: status.waitsFor,
    canAct: status.canAct,
    action: status.change,
    runbook: status.runbook,
    details: [
      { name: status.kind, value: `${status.name}, ${status.phase}` },
      ...detailsOf(status, nowMs),
    ],
  };
};

/** Explains one request. */
export const explainEvictionRequest = (
  { request, events, nowMs }: EvictionRequestFacts,
): Explanation => {
  const status = evictionStatus(request, nowMs);
  return {
    kind: 'EvictionRequest',
    name: `${request.namespace}/${request.name}`,
    state: status.phase,
    what: `The request that pod "${request.pod.name}" leaves; interceptors act in turn`,
    why: status.sentence,
    waitsFor: status.waitsFor,
    canAct: status.canAct,
    action: status.change,
    runbook: status.runbook,
    problems: [],
    details: [{ name: 'Pod', value: request.pod.name }, ...detailsOf(status, nowMs)],
    events: timelineOf(events),
  };
};
