/**
 * The two APIs that may have the requests of a cluster: their paths, and which one is served.
 *
 * Promises: an API server that does not answer may serve both; no write.
 */
import { Effect } from 'effect';
import { API_VERSION, LIFECYCLE_GROUP } from '../domain/api-group.ts';
import { listOrEmptyAt, textAt } from '../domain/json.ts';
import {
  type EvictionsApi,
  evictionsApiOf,
  type EvictionsApiOption,
} from '../domain/native-evictions/evictions-api.ts';
import { NATIVE_GROUP_VERSION } from '../domain/native-evictions/objects.ts';
import { KubeApi } from './kube-api.ts';

const REQUESTS = 'evictionrequests';
const EVICTIONS = 'evictions';
const ROOTS: Readonly<Record<EvictionsApi, string>> = {
  tidegate: `/apis/${LIFECYCLE_GROUP}/${API_VERSION}`,
  native: `/apis/${NATIVE_GROUP_VERSION}`,
};
/** What each API needs. */
const RESOURCES: Readonly<Record<EvictionsApi, readonly string[]>> = {
  tidegate: [REQUESTS],
  native: [REQUESTS, EVICTIONS],
};

const pathIn = (root: string, resource: string) => (namespace: string, name?: string): string => {
  const collection = `${root}/namespaces/${encodeURIComponent(namespace)}/${resource}`;
  return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`;
};

/** The API path of EvictionRequests, in all namespaces. */
export const EVICTION_REQUESTS_PATH = `${ROOTS.tidegate}/${REQUESTS}`;
/** The API path of EvictionRequests in one namespace, or of one of them. */
export const evictionRequestPath = pathIn(ROOTS.tidegate, REQUESTS);

/** The API path of EvictionRequests of Kubernetes, in all namespaces. */
export const NATIVE_REQUESTS_PATH = `${ROOTS.native}/${REQUESTS}`;
/** The API path of Evictions of Kubernetes, in all namespaces. */
export const NATIVE_EVICTIONS_PATH = `${ROOTS.native}/${EVICTIONS}`;
/** The API path of EvictionRequests of Kubernetes in one namespace, or of one of them. */
export const nativeRequestPath = pathIn(ROOTS.native, REQUESTS);
/** The API path of Evictions of Kubernetes in one namespace, or of one of them. */
export const nativeEvictionPath = pathIn(ROOTS.native, EVICTIONS);

const TIMEOUT_MS = 15_000;

/** Whether the API server serves all resources of an API. */
export const servesApi = (api: EvictionsApi): Effect.Effect<boolean, never, KubeApi> =>
  KubeApi.use((kube) => kube.call({ method: 'GET', path: ROOTS[api], timeoutMs: TIMEOUT_MS })).pipe(
    Effect.map(({ status, body }) => {
      if (status !== 200) return status !== 404;
      const names = listOrEmptyAt(body, 'resources').map((one) => textAt(one, 'name'));
      return RESOURCES[api].every((resource) => names.includes(resource));
    }),
    Effect.catch(() => Effect.succeed(true)),
  );

/** The API to use, and whether it is served. */
export interface ChosenApi {
  readonly api: EvictionsApi;
  readonly isServed: boolean;
}

/** The API to use; asks only what the option leaves open. */
export const chooseApi = (
  option: EvictionsApiOption,
): Effect.Effect<ChosenApi, never, KubeApi> =>
  Effect.gen(function* () {
    const tidegate = option !== 'native' && (yield* servesApi('tidegate'));
    const isNativeAsked = option === 'native' || (option === 'auto' && !tidegate);
    const served = { tidegate, native: isNativeAsked && (yield* servesApi('native')) };
    const api = evictionsApiOf(option, served);
    return { api, isServed: served[api] };
  });
