/**
 * Steps of worlds about EvictionRequests: who requests the eviction of which pod, who changes their
 * mind, and the interceptors that pods register.
 *
 * Promises: drawn from a stream of their own, so that the other steps of a seed stay as they are.
 */
import { LIFECYCLE_GROUP_VERSION } from '../../src/domain/api-group.ts';
import { type JsonRecord, listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import type { Chance } from './chance.ts';
import { type EmbeddedSite, WORKLOADS } from './embedded-site.ts';
import { requestPath, REQUESTS_RESOURCE } from './eviction-request-object.ts';
import { nameOf } from './invariant.ts';
import type { Schedule } from './plan-runner.ts';
import { BEHAVIOURS, interceptorName } from './simulated-interceptors.ts';
import type { Act, AppPlan, Scene } from './world-plan.ts';

export type EvictionAct =
  /** A requester asks for a pod, or joins those that do. */
  | { readonly _tag: 'RequestEviction'; readonly pick: number; readonly requester: number }
  /** A requester of an open request leaves it. */
  | { readonly _tag: 'LeaveRequest'; readonly pick: number }
  | { readonly _tag: 'DeleteRequest'; readonly pick: number }
  /** A pod gets a label, or loses it again. */
  | { readonly _tag: 'Relabel'; readonly pick: number };

const ACTIVE_MS = 480_000;
const REQUESTERS = 3;
const LABEL = 'example.com/moved';

const pick = (chance: Chance): number => chance.int(0, 9999);

/** The steps of a seed. */
export const evictionScenes = (chance: Chance): readonly Scene[] => {
  const at = (act: Act): Scene => ({ atMs: chance.int(0, ACTIVE_MS), act });
  const requests = Array.from({ length: chance.int(8, 16) }, (): Act => ({
    _tag: 'RequestEviction',
    pick: pick(chance),
    requester: chance.int(1, REQUESTERS),
  }));
  const changes = (tag: 'LeaveRequest' | 'Relabel', count: number) =>
    Array.from({ length: count }, (): Act => ({ _tag: tag, pick: pick(chance) }));
  const others: readonly Act[] = [
    ...changes('LeaveRequest', 4),
    { _tag: 'DeleteRequest', pick: pick(chance) },
    ...changes('Relabel', 6),
  ];
  return [...requests, ...others].map(at);
};

/** The interceptors that the pods of some apps register, by app. */
export const withInterceptors = (
  chance: Chance,
  apps: readonly AppPlan[],
): readonly AppPlan[] =>
  apps.map((app, number) => {
    const count = chance.pick([0, 1, 2, 3]);
    const interceptors = Array.from(
      { length: count },
      (_, place) => interceptorName(chance.pick(BEHAVIOURS), number, place),
    );
    return { ...app, interceptors };
  });

const chosen = <T>(list: readonly T[], pick: number): T | undefined => list[pick % list.length];

const requesterName = (number: number): string => `requester-${number}.example.com`;

/** A requester applies its own entry, with its own field manager (ER-74). */
const request = (
  { apply }: EmbeddedSite,
  pod: { readonly name: string; readonly uid: string },
  { requester, wanted }: { readonly requester: string; readonly wanted: boolean },
): void => {
  apply(requestPath(WORKLOADS, pod.uid), requester, {
    apiVersion: LIFECYCLE_GROUP_VERSION,
    kind: 'EvictionRequest',
    metadata: { name: pod.uid, namespace: WORKLOADS },
    spec: { target: { pod }, requesters: wanted ? [{ name: requester }] : [] },
  });
};

const podsOf = ({ cluster }: EmbeddedSite) => [
  ...cluster.store.collection('pods').objects(WORKLOADS),
];
const requestsOf = ({ cluster }: EmbeddedSite) => [
  ...cluster.store.collection(REQUESTS_RESOURCE).objects(WORKLOADS),
];

const podIn = (object: unknown, ...path: readonly string[]) => ({
  name: textAt(object, ...path, 'name') ?? '',
  uid: textAt(object, ...path, 'uid') ?? '',
});

const leave = (site: EmbeddedSite, pick: number): void => {
  const open = chosen(
    requestsOf(site).filter((one) => listOrEmptyAt(one, 'spec', 'requesters').length > 0),
    pick,
  );
  if (open === undefined) return;
  const requester = textAt(chosen(listOrEmptyAt(open, 'spec', 'requesters'), pick), 'name') ?? '';
  request(site, podIn(open, 'spec', 'target', 'pod'), { requester, wanted: false });
};

/** The next pod of the workloads, at the moment of its creation: caches do not have it yet. */
const oncePodIsCreated = (
  { cluster }: EmbeddedSite,
  schedule: Schedule,
  use: (pod: JsonRecord) => void,
): void => {
  const stop = cluster.store.subscribe(({ resource, type, at, object }) => {
    if (resource !== 'pods' || type !== 'ADDED' || at.namespace !== WORKLOADS) return;
    stop();
    schedule(0, () => use(object));
  });
};

/** One in three requests is for a pod that is only created. */
const requestEviction = (
  site: EmbeddedSite,
  schedule: Schedule,
  { pick, requester }: { readonly pick: number; readonly requester: number },
): void => {
  const by = { requester: requesterName(requester), wanted: true };
  const requestPod = (pod: JsonRecord): void => request(site, podIn(pod, 'metadata'), by);
  if (pick % 3 === 0) return oncePodIsCreated(site, schedule, requestPod);
  const pod = chosen(podsOf(site), pick);
  if (pod !== undefined) requestPod(pod);
};

/** Executes the steps about EvictionRequests. */
export const playEvictions = (site: EmbeddedSite, schedule: Schedule) => (act: Act): boolean => {
  switch (act._tag) {
    case 'RequestEviction':
      requestEviction(site, schedule, act);
      return true;
    case 'LeaveRequest':
      leave(site, act.pick);
      return true;
    case 'DeleteRequest': {
      const one = chosen(requestsOf(site), act.pick);
      if (one !== undefined) site.ask('DELETE', requestPath(WORKLOADS, nameOf(one)));
      return true;
    }
    case 'Relabel': {
      const requested = chosen(requestsOf(site), act.pick);
      const pod = requested === undefined
        ? chosen(podsOf(site), act.pick)
        : podsOf(site).find((one) => textAt(one, 'metadata', 'uid') === nameOf(requested));
      if (pod === undefined) return true;
      const has = textAt(pod, 'metadata', 'labels', LABEL) !== undefined;
      site.ask('PATCH', `/api/v1/namespaces/${WORKLOADS}/pods/${nameOf(pod)}`, {
        metadata: { labels: { [LABEL]: has ? null : `${act.pick}` } },
      });
      return true;
    }
    default:
      return false;
  }
};
