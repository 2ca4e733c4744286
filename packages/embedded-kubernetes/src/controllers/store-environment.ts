/**
 * The environment of controllers on an embedded cluster: its store to read, its API server to
 * write.
 *
 * Promises: a change is delivered after it happened, in the order of revisions; the objects that
 * were there before a controller began are delivered to it first.
 */
import type { ClusterRequest, ClusterResponse } from '../api.ts';
import type { StoredChange } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';
import type {
  ApiAnswer,
  ApiCall,
  CollectionName,
  ControllerEnvironment,
  ControllerTiming,
  ObjectChange,
} from './controller-environment.ts';
import { COLLECTIONS } from './controller-environment.ts';

/** What an environment is made of. */
export interface StoreEnvironmentOptions extends Pick<ControllerEnvironment, 'time' | 'random'> {
  readonly cluster: {
    readonly store: Store;
    readonly answer: (request: ClusterRequest) => ClusterResponse;
  };
  readonly timing: ControllerTiming;
}

const GROUP = /^\/apis\/([^/]+)\//;

/** `deployments` → `deployments.apps`, as the store names them. */
const resourceOf = (collection: CollectionName): string => {
  const group = GROUP.exec(`${COLLECTIONS[collection]}/`)?.[1];
  return group === undefined ? collection : `${collection}.${group}`;
};

/** `deployments.apps` → `deployments`. */
const collectionOf = (resource: string): string => resource.split('.')[0] ?? resource;

const changeOf = ({ type, resource, object }: StoredChange): ObjectChange => ({
  type,
  collection: collectionOf(resource),
  object,
});

/** The environment. */
export const storeEnvironment = (
  { cluster, time, random, timing }: StoreEnvironmentOptions,
): ControllerEnvironment => {
  const { store, answer } = cluster;
  const call = ({ method, path, body, contentType }: ApiCall): ApiAnswer => {
    const type = contentType ??
      (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
    const response = answer({
      method,
      path,
      headers: { 'content-type': type },
      ...(body === undefined ? {} : { body }),
    });
    return response._tag === 'Answer'
      ? { status: response.status, body: response.body }
      : { status: 400, body: undefined };
  };
  return {
    time,
    timing,
    random,
    call,
    list: (collection) => store.collection(resourceOf(collection)).objects(),
    get: (collection, at) => store.collection(resourceOf(collection)).get(at),
    subscribe: (listen) => {
      for (const resource of store.resources()) {
        const collection = collectionOf(resource);
        for (const object of [...store.collection(resource).objects()]) {
          listen({ type: 'ADDED', collection, object });
        }
      }
      return store.subscribe((change) => listen(changeOf(change)));
    },
  };
};
