/**
 * Index of every pod that counts as demand or has a request.
 *
 * Promises: ownership follows from the request alone, so that pods and requests may be observed in
 * any order; little is kept beyond the caches; nothing here waits, writes, or scans for one fact.
 */
import type { ObjectKey, Uid } from '../../domain/ids.ts';
import { uid } from '../../domain/ids.ts';
import type { DemandFacts } from '../../domain/pod-demand/demand-facts.ts';
import {
  type OwnedRequest,
  podInName,
  type RequestedPod,
} from '../../domain/pod-demand/owned-request.ts';
import type { PodAsk } from '../../domain/pod-demand/pod-ask.ts';
import { type PodDemand, podName } from '../../domain/pod-demand/pod-demand.ts';
import type { RequestText } from '../../domain/pod-demand/request-text.ts';

/** The wanted state of a pod's requests, as far as observed. */
type ObservedStanding = Exclude<DemandFacts['standing'], 'Overdue'>;

/** The observed requests of a pod. */
export interface ObservedFacts extends DemandFacts {
  readonly standing: ObservedStanding;
}

/** One pod. */
export interface PodEntry {
  readonly uid: Uid;
  /** Undefined when it is gone, or was never observed. */
  pod: PodDemand | undefined;
  /** Keys of its observed requests. */
  keys: readonly ObjectKey[];
  /** The last recorded warning. */
  warnedOf: PodAsk | undefined;
}

/** The dependencies of the index. */
export interface PodIndexOptions {
  readonly request: (key: ObjectKey) => OwnedRequest | undefined;
  /** The demand of a pod under the current defaults. */
  readonly textOf: (ask: PodAsk) => RequestText;
  /** Whether pods of the namespace count. */
  readonly counts: (namespace: string) => boolean;
}

/** All relevant pods. */
export interface PodIndex {
  readonly entries: () => Iterable<PodEntry>;
  readonly size: () => number;
  readonly get: (uid: Uid) => PodEntry | undefined;
  /** Keeps a pod; `undefined` when nothing changed, or it is no demand. */
  readonly putPod: (pod: PodDemand) => PodEntry | undefined;
  readonly removePod: (pod: Pick<PodDemand, 'uid'>) => PodEntry | undefined;
  /** Keeps a request. Returns the affected pods. */
  readonly putRequest: (request: OwnedRequest) => readonly PodEntry[];
  readonly removeRequest: (last: OwnedRequest) => PodEntry | undefined;
  readonly facts: (entry: PodEntry) => ObservedFacts;
  readonly podOf: (entry: PodEntry) => RequestedPod;
  /** Removes a pod without demand and requests; false when more is known of it. */
  readonly forget: (entry: PodEntry) => boolean;
}

const NO_KEYS: readonly ObjectKey[] = [];

const namespaceIn = (key: ObjectKey): string => key.slice(0, Math.max(0, key.indexOf('/')));
const nameIn = (key: ObjectKey): string => key.slice(key.indexOf('/') + 1);

/** Creates an empty index. */
export const podIndex = (
  { request, textOf, counts }: PodIndexOptions,
): PodIndex => {
  const entries = new Map<Uid, PodEntry>();
  /** Pods that are no demand and have no known request; one may still appear. */
  const bystanders = new Map<Uid, PodDemand>();
  const join = (id: Uid): PodEntry => {
    const known = entries.get(id);
    if (known !== undefined) return known;
    const entry: PodEntry = {
      uid: id,
      pod: bystanders.get(id),
      keys: NO_KEYS,
      warnedOf: undefined,
    };
    entries.set(id, entry);
    bystanders.delete(id);
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
        bystanders.set(pod.uid, pod);
        return undefined;
      }
      const entry = join(pod.uid);
      entry.pod = pod;
      return entry;
    },
    removePod: ({ uid: id }) => {
      bystanders.delete(id);
      const entry = entries.get(id);
      if (entry !== undefined) entry.pod = undefined;
      return entry;
    },
    putRequest: (seen) => {
      // A label that was changed manually affects its previous owner, too.
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
      // A pod excluded only by its namespace is kept: the namespace may be selected later.
      if (entry.pod?.standing === 'Wanted') return true;
      entries.delete(entry.uid);
      if (entry.pod !== undefined) bystanders.set(entry.uid, entry.pod);
      return true;
    },
  };
};
