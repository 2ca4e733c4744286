/**
 * The requests of a cluster in whichever API has them: one collection for those who read them.
 *
 * Promises: only the collections of the chosen API are listed; a request that consists of several
 * objects changes with each of them, and its version never goes back; the controller does not see
 * what another controller serves.
 */
import { concat, defer, merge, type Observable, of, Subject } from 'rxjs';
import {
  type ObservedRequest,
  projectCachedRequest,
} from '../../domain/eviction-requests/observed-request.ts';
import type { Fact } from '../../domain/facts.ts';
import { type ObjectKey, objectKey, type ResourceVersion } from '../../domain/ids.ts';
import type { EvictionsApiOption } from '../../domain/native-evictions/evictions-api.ts';
import {
  type JoinedRequest,
  joinRequest,
  newest,
} from '../../domain/native-evictions/joined-request.ts';
import {
  type NativeEviction,
  type NativeRequest,
  projectNativeEviction,
  projectNativeRequest,
} from '../../domain/native-evictions/objects.ts';
import {
  type ChosenApi,
  EVICTION_REQUESTS_PATH,
  NATIVE_EVICTIONS_PATH,
  NATIVE_REQUESTS_PATH,
} from '../../effects/evictions-api.ts';
import { EvictionRequests } from '../../effects/eviction-requests.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { Informer } from '../informers/informer.ts';
import type { AnyInformer, SharedInformers } from '../informers/shared-informers.ts';

/** A collection of requests. */
export type RequestCollection = Pick<
  Informer<ObservedRequest>,
  'facts' | 'get' | 'values' | 'synced'
>;

type Part<T extends NativeEviction | NativeRequest> = Pick<
  Informer<T>,
  'facts' | 'get' | 'values' | 'synced'
>;

/** What is known of the objects about one pod. */
interface PodEntry {
  readonly evictions: Map<ObjectKey, NativeEviction>;
  readonly requests: Map<ObjectKey, NativeRequest>;
  joined: JoinedRequest | undefined;
  version: ResourceVersion | undefined;
}

const podOf = ({ namespace, target }: NativeEviction | NativeRequest): ObjectKey =>
  objectKey(target.uid, namespace);

/** The requests that EvictionRequests and Evictions of Kubernetes make up. */
export class JoinedRequests implements RequestCollection {
  readonly #evictions: Part<NativeEviction>;
  readonly #requests: Part<NativeRequest>;
  readonly #isIncluded: (request: JoinedRequest) => boolean;
  readonly #pods = new Map<ObjectKey, PodEntry>();
  readonly #published = new Subject<Fact<ObservedRequest>>();
  readonly facts: Observable<Fact<ObservedRequest>>;

  constructor(
    evictions: Part<NativeEviction>,
    requests: Part<NativeRequest>,
    isIncluded: (request: JoinedRequest) => boolean,
  ) {
    this.#evictions = evictions;
    this.#requests = requests;
    this.#isIncluded = isIncluded;
    this.facts = defer(() =>
      this.synced ? concat(of(this.#listed()), this.#published) : this.#published
    );
    evictions.facts.subscribe((fact) => this.#onFact(fact, ({ evictions: kept }) => kept));
    requests.facts.subscribe((fact) => this.#onFact(fact, ({ requests: kept }) => kept));
  }

  get synced(): boolean {
    return this.#evictions.synced && this.#requests.synced;
  }

  readonly get = (key: ObjectKey): ObservedRequest | undefined => this.#pods.get(key)?.joined;

  readonly values = (): readonly ObservedRequest[] =>
    [...this.#pods.values()].flatMap(({ joined }) => joined ?? []);

  #listed(): Fact<ObservedRequest> {
    return { _tag: 'Listed', objects: this.values() };
  }

  #entryOf(pod: ObjectKey): PodEntry {
    const known = this.#pods.get(pod);
    if (known !== undefined) return known;
    const entry: PodEntry = {
      evictions: new Map(),
      requests: new Map(),
      joined: undefined,
      version: undefined,
    };
    this.#pods.set(pod, entry);
    return entry;
  }

  #onFact<T extends NativeEviction | NativeRequest>(
    fact: Fact<T>,
    partOf: (entry: PodEntry) => Map<ObjectKey, T>,
  ): void {
    if (fact._tag === 'Listed') {
      for (const entry of this.#pods.values()) partOf(entry).clear();
      for (const object of fact.objects) {
        partOf(this.#entryOf(podOf(object))).set(object.key, object);
      }
      if (!this.synced) return;
      for (const pod of [...this.#pods.keys()]) this.#join(pod, undefined);
      this.#published.next(this.#listed());
      return;
    }
    const object = fact._tag === 'Present' ? fact.object : fact.last;
    const pod = podOf(object);
    const part = partOf(this.#entryOf(pod));
    if (fact._tag === 'Present') part.set(object.key, object);
    else part.delete(object.key);
    if (this.synced) this.#join(pod, object.resourceVersion);
  }

  /** Publishes what became of the request of a pod. */
  #join(pod: ObjectKey, observed: ResourceVersion | undefined): void {
    const entry = this.#entryOf(pod);
    const before = entry.joined;
    const [namespace] = pod.split('/');
    const joined = joinRequest({
      evictions: [...entry.evictions.values()],
      requests: [...entry.requests.values()],
      isTaken: (name) => this.#evictions.get(objectKey(name, namespace)) !== undefined,
    });
    const isIncluded = joined !== undefined && this.#isIncluded(joined);
    // The deletion of one of the objects is a change, too.
    const versions = [observed, entry.version, joined?.resourceVersion]
      .filter((version) => version !== undefined);
    if (versions.length > 0) entry.version = newest(versions);
    entry.joined = isIncluded
      ? { ...joined, resourceVersion: entry.version ?? joined.resourceVersion }
      : undefined;
    if (entry.evictions.size === 0 && entry.requests.size === 0) this.#pods.delete(pod);
    if (before !== undefined && before.uid !== entry.joined?.uid) {
      this.#published.next({ _tag: 'Absent', key: before.key, last: before });
    }
    if (entry.joined !== undefined) {
      this.#published.next({ _tag: 'Present', object: entry.joined });
    }
  }
}

/** Who follows the requests. */
export interface FollowOptions {
  /** Asked once, at the start of the informers. */
  readonly isWanted?: () => boolean;
  /** It serves them: those of another controller are not its own. */
  readonly isController?: boolean;
}

/** The requests, once the API is chosen. */
export interface FollowedRequests {
  readonly requests: RequestCollection;
  readonly isNative: () => boolean;
  /** The lists to wait for. */
  readonly informers: () => readonly AnyInformer[];
  /** Chooses the API; before the informers start. */
  readonly choose: (option: EvictionsApiOption) => Promise<ChosenApi>;
}

/** The requests of the API that is chosen before the informers start. */
export const followRequests = (
  environment: ActorEnvironment<EvictionRequests>,
  informers: SharedInformers,
  { isWanted = () => true, isController = false }: FollowOptions = {},
): FollowedRequests => {
  let isNative = false;
  const own = informers.collection({
    id: 'evictionrequests',
    path: EVICTION_REQUESTS_PATH,
    project: projectCachedRequest,
    isWanted: () => isWanted() && !isNative,
  });
  const requests = informers.collection({
    id: 'nativeevictionrequests',
    path: NATIVE_REQUESTS_PATH,
    project: projectNativeRequest,
    isWanted: () => isWanted() && isNative,
  });
  const evictions = informers.collection({
    id: 'nativeevictions',
    path: NATIVE_EVICTIONS_PATH,
    project: projectNativeEviction,
    isWanted: () => isWanted() && isNative,
  });
  const joined = new JoinedRequests(
    evictions,
    requests,
    ({ native }) => !isController || native.eviction?.isServedByOther !== true,
  );
  const current = (): RequestCollection => isNative ? joined : own;
  return {
    requests: {
      // The collections of the other API stay empty.
      facts: merge(own.facts, joined.facts),
      get: (key) => current().get(key),
      values: () => current().values(),
      get synced() {
        return current().synced;
      },
    },
    isNative: () => isNative,
    informers: () => isNative ? [requests, evictions] : [own],
    choose: async (option) => {
      const choice = await environment.runtime.runPromise(
        EvictionRequests.use((service) => service.choose(option)),
      );
      isNative = choice.api === 'native';
      return choice;
    },
  };
};
