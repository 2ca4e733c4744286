/**
 * Reads requests once, for interactive commands, from whichever API has them.
 *
 * Promises: read-only; a refusal is one sentence.
 */
import { Effect } from 'effect';
import {
  type ObservedRequest,
  projectEvictionRequest,
} from '../domain/eviction-requests/observed-request.ts';
import type { EvictionsApi } from '../domain/native-evictions/evictions-api.ts';
import { joinRequests } from '../domain/native-evictions/joined-request.ts';
import { projectNativeEviction, projectNativeRequest } from '../domain/native-evictions/objects.ts';
import {
  EVICTION_REQUESTS_PATH,
  evictionRequestPath,
  NATIVE_EVICTIONS_PATH,
  NATIVE_REQUESTS_PATH,
  nativeEvictionPath,
  nativeRequestPath,
} from './evictions-api.ts';
import type { KubeApi, KubeFault } from './kube-api.ts';
import { type ListRead, readList } from './object-lists.ts';
import { type ObjectRead, readObject } from './object-reads.ts';
import type { Selection } from './watches.ts';

/** Which requests. */
export interface RequestScope {
  /** Undefined: all. */
  readonly namespace: string | undefined;
  /** Of pods; only our own requests have their labels. */
  readonly labelSelector?: string | undefined;
  /** Only of this pod, as far as the API can select it. */
  readonly podUid?: string;
}

/** The collections behind the requests of a scope, each with its name. */
export const selectionsOf = (
  api: EvictionsApi,
  { namespace, labelSelector, podUid }: RequestScope,
) => {
  const query = {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(podUid === undefined || api === 'native'
      ? {}
      : { fieldSelector: `metadata.name=${podUid}` }),
  };
  const at = (all: string, within: (namespace: string) => string): Selection => ({
    path: namespace === undefined ? all : within(namespace),
    ...(Object.keys(query).length === 0 ? {} : { query }),
  });
  return api === 'native'
    ? {
      _tag: 'Native' as const,
      evictions: at(NATIVE_EVICTIONS_PATH, nativeEvictionPath),
      requests: at(NATIVE_REQUESTS_PATH, nativeRequestPath),
    }
    : { _tag: 'Own' as const, requests: at(EVICTION_REQUESTS_PATH, evictionRequestPath) };
};

/** All requests of a scope. */
export const readRequests = (
  api: EvictionsApi,
  scope: RequestScope,
): Effect.Effect<ListRead<ObservedRequest>, KubeFault, KubeApi> => {
  const selections = selectionsOf(api, scope);
  if (selections._tag === 'Own') return readList(selections.requests, projectEvictionRequest);
  return Effect.all({
    evictions: readList(selections.evictions, projectNativeEviction),
    requests: readList(selections.requests, projectNativeRequest),
  }, { concurrency: 'unbounded' }).pipe(
    Effect.map(({ evictions, requests }): ListRead<ObservedRequest> => {
      if (evictions._tag === 'Refused') return evictions;
      if (requests._tag === 'Refused') return requests;
      return { ...requests, objects: joinRequests(evictions.objects, requests.objects) };
    }),
  );
};

/** The request of a pod. */
export type RequestRead =
  | { readonly _tag: 'Found'; readonly request: ObservedRequest }
  | Exclude<ObjectRead, { readonly _tag: 'Found' }>;

const NAMELESS: RequestRead = { _tag: 'Refused', status: 200, why: 'the answer has no name' };

/** The request of the pod with this UID. */
export const readRequest = (
  api: EvictionsApi,
  namespace: string,
  podUid: string,
): Effect.Effect<RequestRead, KubeFault, KubeApi> => {
  if (api === 'tidegate') {
    return Effect.map(readObject(evictionRequestPath(namespace, podUid)), (read): RequestRead => {
      if (read._tag !== 'Found') return read;
      const request = projectEvictionRequest(read.object);
      return request === undefined ? NAMELESS : { _tag: 'Found', request };
    });
  }
  return Effect.map(readRequests(api, { namespace }), (read): RequestRead => {
    if (read._tag === 'Refused') return read;
    const request = read.objects.find(({ pod }) => pod.uid === podUid);
    return request === undefined ? { _tag: 'Absent' } : { _tag: 'Found', request };
  });
};
