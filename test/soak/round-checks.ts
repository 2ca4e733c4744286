/**
 * The invariants after each round of the soak, whenever the operator was killed.
 *
 * Promises: returns a message for each violation; reads the audit log, the pod watch and the
 * cluster's objects, never the operator's own reports.
 */
import type { AuditEntry } from '../../tools/testbed/audit.ts';
import { COLLECTIONS, nameOf, phaseOf } from '../support/api/cluster-connection.ts';
import {
  type AuditedEviction,
  cordonTimes,
  deadlinesWritten,
  evictionsIn,
} from '../support/drains/audited-drains.ts';
import { brokenBudgets, nodesOfPods, podSteps, seenPod } from '../support/drains/pod-history.ts';
import { acksAt, annotationSeen } from '../support/drains/reclaims.ts';
import { DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { type SoakSite, WORKLOADS } from './soak-site.ts';

/** A round that is over. */
export interface RoundFacts {
  readonly machines: readonly string[];
  readonly requests: readonly AuditEntry[];
  /** When the operator was killed, if it was. */
  readonly killedMs: number | null;
}

/** Responses that prove that the call completed. */
const ANSWERED: ReadonlySet<number> = new Set([201, 404, 409, 429]);
/** The API server reads the last calls, and notices a broken connection, with a delay. */
const NOTICED_MS = 10_000;
const RECOVERED = 'recovered-';

const name = ({ pod, uid, code }: AuditedEviction): string => `${pod} (${uid}), answered ${code}`;

/** Calls without an answer: only the death of a process may cut one. */
export const cutCalls = (evictions: readonly AuditedEviction[]): readonly AuditedEviction[] =>
  evictions.filter(({ code }) => !ANSWERED.has(code));

const wasUnderWay = ({ receivedMs, answeredMs }: AuditedEviction, killedMs: number | null) =>
  killedMs !== null && receivedMs <= killedMs + NOTICED_MS && answeredMs >= killedMs - NOTICED_MS;

const aboutCalls = (site: SoakSite, { machines, requests, killedMs }: RoundFacts) => {
  const evictions = evictionsIn(requests);
  const nodeOf = nodesOfPods(podSteps(site.pods.changes()));
  const cordons = cordonTimes(requests);
  const accepted = new Map<string, number>();
  for (const { uid, code } of evictions) {
    if (code === 201) accepted.set(uid, (accepted.get(uid) ?? 0) + 1);
  }
  const at = (uid: string): string => nodeOf.get(uid) ?? '';
  return [
    ...evictions.filter(({ uid }) => !machines.includes(at(uid)))
      .map((call) => `evicted a pod that is not there: ${name(call)}`),
    ...evictions.filter(({ uid, receivedMs }) => receivedMs < (cordons.get(at(uid)) ?? 0))
      .map((call) => `evicted before the cordon: ${name(call)}`),
    ...cutCalls(evictions).filter((call) => !wasUnderWay(call, killedMs))
      .map((call) => `aborted a call: ${name(call)}`),
    ...[...accepted].filter(([, count]) => count > 1)
      .map(([uid, count]) => `evicted ${uid} ${count} times`),
    ...machines.filter((node) => !cordons.has(node)).map((node) => `never cordoned ${node}`),
  ];
};

const aboutAnnotations = async (
  { cluster, fleet }: SoakSite,
  { machines, requests }: RoundFacts,
) => {
  const nodes = await cluster.list(COLLECTIONS.nodes);
  const acked = new Set((await acksAt(fleet)).map(({ instructionId }) => instructionId));
  return machines.flatMap((machine) => {
    const annotation = annotationSeen(nodes.find((node) => nameOf(node) === machine) ?? {});
    const deadlines = new Set(deadlinesWritten(requests, machine));
    const unheard = (annotation?.ids ?? []).filter((id) =>
      !id.startsWith(RECOVERED) && !acked.has(id)
    );
    return [
      ...(annotation?.ended === 'Drained' ? [] : [`${machine} ended as "${annotation?.ended}"`]),
      ...(deadlines.size === 1 ? [] : [`${machine} had deadlines ${[...deadlines].join(', ')}`]),
      ...unheard.map((id) => `never acknowledged ${id}`),
    ];
  });
};

/** The same outcome as without a kill: all pods moved and complete, all reported. */
const aboutEnd = async ({ cluster, pods }: SoakSite, { machines }: RoundFacts) => {
  const reported = await cluster.list(COLLECTIONS.upcomingNodes);
  const list = await cluster.list(DRAIN_COLLECTIONS.pods);
  await pods.upTo(list);
  const seen = list.map(seenPod);
  const demands = WORKLOADS.map(({ app, replicas, unavailable }) => ({
    app,
    healthy: replicas - unavailable,
  }));
  return [
    ...machines.flatMap((machine) => {
      const phase = phaseOf(reported.find((one) => nameOf(one) === `un-${machine}`) ?? {});
      return phase === 'Drained' ? [] : [`${machine} is shown as "${phase}"`];
    }),
    ...seen.filter(({ node, stays }) => machines.includes(node) && !stays)
      .map((pod) => `${pod.name} is still on ${pod.node}`),
    ...WORKLOADS.flatMap(({ app, replicas }) => {
      const ready = seen.filter((pod) => pod.app === app && pod.ready && !pod.terminating).length;
      return ready === replicas ? [] : [`${app} has ${ready} of ${replicas} pods`];
    }),
    ...brokenBudgets(podSteps(pods.changes()), demands),
  ];
};

/** Everything that is not as it must be. */
export const roundProblems = async (
  site: SoakSite,
  facts: RoundFacts,
): Promise<readonly string[]> => [
  ...await aboutEnd(site, facts),
  ...aboutCalls(site, facts),
  ...await aboutAnnotations(site, facts),
];
