/**
 * The controller environment of an embedded cluster: reads from its store, writes through its API
 * server.
 *
 * Promises: delivers a change after it happened, in order of resource versions; delivers objects
 * that exist when a controller starts first.
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

/** The dependencies of the environment. */
export interface StoreEnvironmentOptions extends Pick<ControllerEnvironment, 'time' | 'random'> {
  readonly cluster: {
    readonly store: Store;
    readonly answer: (request: ClusterRequest) => ClusterResponse;
  };
  readonly timing: ControllerTiming;
}

const GROUP = /^\/apis\/([^/]+)\//;

/** `deployments` → `deployments.apps`, the store's name. */
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
  const call = ({ method, path, body, contentType, agent }: ApiCall): ApiAnswer => {
    const type = contentType ??
      (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
    const response = answer({
      method,
      path,
      headers: {
        'content-type': type,
        ...(agent === undefined ? {} : { 'user-agent': agent }),
      },
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
