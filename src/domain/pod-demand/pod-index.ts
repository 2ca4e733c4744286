/**
 * What is known of every pod that is demand or has a request.
 *
 * Promises: whose request it is follows from the request alone, so that pods and requests may be
 * observed in any order; what is kept of a pod is little more than what the caches keep; nothing
 * here waits, writes, or costs a scan for one fact.
 */
import type { ObjectKey, Uid } from '../ids.ts';
import { uid } from '../ids.ts';
import type { DemandFacts } from './demand-facts.ts';
import { type OwnedRequest, podInName, type RequestedPod } from './owned-request.ts';
import type { PodAsk } from './pod-ask.ts';
import { type PodDemand, podName } from './pod-demand.ts';
import type { RequestText } from './request-text.ts';

/** What is to become of the requests of a pod, as far as that can be observed. */
type ObservedStanding = Exclude<DemandFacts['standing'], 'Overdue'>;

/** What is observed of the requests of a pod. */
export interface ObservedFacts extends DemandFacts {
  readonly standing: ObservedStanding;
}

/** One pod. */
export interface PodEntry {
  readonly uid: Uid;
  /** Undefined when it is gone, or was never seen. */
  pod: PodDemand | undefined;
  /** Keys of requests that were seen to be its. */
  keys: readonly ObjectKey[];
  /** What people were last warned about. */
  warnedOf: PodAsk | undefined;
}

/** What the index needs to know. */
export interface PodIndexOptions {
  readonly request: (key: ObjectKey) => OwnedRequest | undefined;
  /** What a pod asks for, under the defaults that are in use. */
  readonly textOf: (ask: PodAsk) => RequestText;
  /** Whether pods of the namespace count. */
  readonly counts: (namespace: string) => boolean;
}

/** All pods that matter. */
export interface PodIndex {
  readonly entries: () => Iterable<PodEntry>;
  readonly size: () => number;
  readonly get: (uid: Uid) => PodEntry | undefined;
  /** Keeps a pod; `undefined` when nothing changed, or it is no demand. */
  readonly putPod: (pod: PodDemand) => PodEntry | undefined;
  readonly removePod: (pod: Pick<PodDemand, 'uid'>) => PodEntry | undefined;
  /** Keeps a request. Gives the pods that it concerns. */
  readonly putRequest: (request: OwnedRequest) => readonly PodEntry[];
  readonly removeRequest: (last: OwnedRequest) => PodEntry | undefined;
  readonly facts: (entry: PodEntry) => ObservedFacts;
  readonly podOf: (entry: PodEntry) => RequestedPod;
  /** Forgets one that asks for nothing and has no request; false when there is more to know. */
  readonly forget: (entry: PodEntry) => boolean;
}

const NO_KEYS: readonly ObjectKey[] = [];

const namespaceIn = (key: ObjectKey): string => key.slice(0, Math.max(0, key.indexOf('/')));
const nameIn = (key: ObjectKey): string => key.slice(key.indexOf('/') + 1);

/** An empty index. */
export const podIndex = (
  { request, textOf, counts }: PodIndexOptions,
): PodIndex => {
  const entries = new Map<Uid, PodEntry>();
  /** Pods that are no demand and have no request that is known of; one may still turn up. */
  const podsWithoutDemand = new Map<Uid, PodDemand>();
  const join = (id: Uid): PodEntry => {
    const known = entries.get(id);
    if (known !== undefined) return known;
    const entry: PodEntry = {
      uid: id,
      pod: podsWithoutDemand.get(id),
      keys: NO_KEYS,
      warnedOf: undefined,
    };
    entries.set(id, entry);
    podsWithoutDemand.delete(id);
    return entry;
  };
  const requestsOf = (entry: PodEntry): readonly OwnedRequest[] =>
    entry.keys.flatMap((key) => {
      const shown = request(key);
      return shown?.pod === entry.uid ? [shown] : [];
    });
  const standingOf = ({ pod }: PodEntry): ObservedStanding => {
    if (pod === undefined) return 'Gone';
    return pod.standing === 'Wanted' && counts(pod.namespace) ? 'Wanted' : 'Unwanted';
  };
  return {
    entries: () => entries.values(),
    size: () => entries.size,
    get: (id) => entries.get(id),
    putPod: (pod) => {
      const known = entries.get(pod.uid);
      if (known?.pod === pod) return undefined;
      if (known === undefined && pod.standing !== 'Wanted') {
        podsWithoutDemand.set(pod.uid, pod);
        return undefined;
      }
      const entry = join(pod.uid);
      entry.pod = pod;
      return entry;
    },
    removePod: ({ uid: id }) => {
      podsWithoutDemand.delete(id);
      const entry = entries.get(id);
      if (entry !== undefined) entry.pod = undefined;
      return entry;
    },
    putRequest: (seen) => {
      // A label that was changed by hand concerns the one who had it before, too.
      const named = entries.get(uid(podInName(nameIn(seen.key))));
      if (seen.pod === '') return named === undefined ? [] : [named];
      const entry = join(uid(seen.pod));
      if (!entry.keys.includes(seen.key)) entry.keys = [...entry.keys, seen.key].sort();
      return named === undefined || named === entry ? [entry] : [entry, named];
    },
    removeRequest: ({ key, pod }) => {
      const entry = entries.get(uid(pod));
      if (entry === undefined || request(key)?.pod === pod) return entry;
      const left = entry.keys.filter((other) => other !== key);
      entry.keys = left.length === 0 ? NO_KEYS : left;
      return entry;
    },
    facts: (entry) => {
      const standing = standingOf(entry);
      const ask = entry.pod?.ask ?? undefined;
      return {
        standing,
        text: standing === 'Wanted' && ask !== undefined ? textOf(ask) : '',
        requests: requestsOf(entry),
      };
    },
    podOf: ({ uid: id, pod, keys: [first] }) => ({
      uid: id,
      namespace: pod?.namespace ?? (first === undefined ? '' : namespaceIn(first)),
      name: pod === undefined ? '' : podName(pod),
    }),
    forget: (entry) => {
      const remains = entry.keys.some((key) => request(key)?.pod === entry.uid);
      if (remains || standingOf(entry) === 'Wanted') return false;
      // One that only its namespace leaves out is kept: the namespace may come to count.
      if (entry.pod?.standing === 'Wanted') return true;
      entries.delete(entry.uid);
      if (entry.pod !== undefined) podsWithoutDemand.set(entry.uid, entry.pod);
      return true;
    },
  };
};
