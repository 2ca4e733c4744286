/**
 * Index of every pod that counts as demand or has a request.
 *
 * Promises: ownership follows from the request alone, so that pods and requests may be observed in
 * any order; a request of another namespace never belongs to an observed pod; little is kept beyond
 * the caches; nothing here waits, writes, or scans for one fact.
 */
import type { ObjectKey, Uid } from '../ids.ts';
import { uid } from '../ids.ts';
import type { DemandFacts } from './demand-facts.ts';
import { type OwnedRequest, podInName, type RequestedPod } from './owned-request.ts';
import type { PodAsk } from './pod-ask.ts';
import { type PodDemand, podName } from './pod-demand.ts';
import type { RequestText } from './request-text.ts';

/** The wanted state of a pod's requests, as far as observed. */
type ObservedStatus = Exclude<DemandFacts['status'], 'Overdue'>;

/** The observed requests of a pod. */
export interface ObservedFacts extends DemandFacts {
  readonly status: ObservedStatus;
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

const NO_KEYS: readonly ObjectKey[] = [];

const namespaceIn = (key: ObjectKey): string => key.slice(0, Math.max(0, key.indexOf('/')));
const nameIn = (key: ObjectKey): string => key.slice(key.indexOf('/') + 1);

/** All pods that matter; none at first. */
export class PodIndex {
  readonly #options: PodIndexOptions;
  readonly #entries = new Map<Uid, PodEntry>();
  /** Pods that are no demand and have no known request; one may still appear. */
  readonly #podsWithoutDemand = new Map<Uid, PodDemand>();

  constructor(options: PodIndexOptions) {
    this.#options = options;
  }

  readonly entries = (): Iterable<PodEntry> => this.#entries.values();
  readonly size = (): number => this.#entries.size;
  readonly get = (id: Uid): PodEntry | undefined => this.#entries.get(id);

  /** Keeps a pod; `undefined` when nothing changed, or it is no demand. */
  readonly putPod = (pod: PodDemand): PodEntry | undefined => {
    const known = this.#entries.get(pod.uid);
    if (known?.pod === pod) return undefined;
    if (known === undefined && pod.status !== 'Wanted') {
      this.#podsWithoutDemand.set(pod.uid, pod);
      return undefined;
    }
    const entry = this.#join(pod.uid);
    entry.pod = pod;
    return entry;
  };

  readonly removePod = ({ uid: id }: Pick<PodDemand, 'uid'>): PodEntry | undefined => {
    this.#podsWithoutDemand.delete(id);
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.pod = undefined;
    return entry;
  };

  /** Keeps a request. Returns the affected pods. */
  readonly putRequest = ({ key, pod }: OwnedRequest): readonly PodEntry[] => {
    // A label that was changed manually affects its previous owner, too.
    const named = this.#entries.get(uid(podInName(nameIn(key))));
    if (pod === '') return named === undefined ? [] : [named];
    const entry = this.#join(uid(pod));
    if (!entry.keys.includes(key)) entry.keys = [...entry.keys, key].sort();
    return named === undefined || named === entry ? [entry] : [entry, named];
  };

  readonly removeRequest = ({ key, pod }: OwnedRequest): PodEntry | undefined => {
    const entry = this.#entries.get(uid(pod));
    if (entry === undefined || this.#options.request(key)?.pod === pod) return entry;
    const left = entry.keys.filter((other) => other !== key);
    entry.keys = left.length === 0 ? NO_KEYS : left;
    return entry;
  };

  readonly facts = (entry: PodEntry): ObservedFacts => {
    const status = this.#statusOf(entry);
    const ask = entry.pod?.ask ?? undefined;
    return {
      status,
      text: status === 'Wanted' && ask !== undefined ? this.#options.textOf(ask) : '',
      requests: this.#requestsOf(entry),
    };
  };

  readonly podOf = ({ uid: id, pod, keys: [first] }: PodEntry): RequestedPod => ({
    uid: id,
    namespace: pod?.namespace ?? (first === undefined ? '' : namespaceIn(first)),
    name: pod === undefined ? '' : podName(pod),
  });

  readonly hasRequest = (id: Uid): boolean => {
    const entry = this.#entries.get(id);
    return entry !== undefined && this.#requestsOf(entry).length > 0;
  };

  /** Removes a pod without demand and requests; false when more is known of it. */
  readonly forget = (entry: PodEntry): boolean => {
    if (this.#requestsOf(entry).length > 0 || this.#statusOf(entry) === 'Wanted') return false;
    // A pod excluded only by its namespace is kept: the namespace may be selected later.
    if (entry.pod?.status === 'Wanted') return true;
    this.#entries.delete(entry.uid);
    if (entry.pod !== undefined) this.#podsWithoutDemand.set(entry.uid, entry.pod);
    return true;
  };

  #join(id: Uid): PodEntry {
    const known = this.#entries.get(id);
    if (known !== undefined) return known;
    const pod = this.#podsWithoutDemand.get(id);
    const entry: PodEntry = { uid: id, pod, keys: NO_KEYS, warnedOf: undefined };
    this.#entries.set(id, entry);
    this.#podsWithoutDemand.delete(id);
    return entry;
  }

  /** Any tenant may write the UID of a pod into a request of their own namespace. */
  #requestsOf({ uid: id, pod, keys }: PodEntry): readonly OwnedRequest[] {
    return keys.flatMap((key) => {
      if (pod !== undefined && namespaceIn(key) !== pod.namespace) return [];
      const current = this.#options.request(key);
      return current?.pod === id ? [current] : [];
    });
  }

  #statusOf({ pod }: PodEntry): ObservedStatus {
    if (pod === undefined) return 'Gone';
    return pod.status === 'Wanted' && this.#options.counts(pod.namespace) ? 'Wanted' : 'Unwanted';
  }
}
