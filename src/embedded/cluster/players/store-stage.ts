/**
 * The stage of the embedded cluster: its store to look at, its API server to write through.
 *
 * Promises: a change is told after it happened, in the order of revisions; what was there before a
 * player began is told to it first.
 */
import type { ClusterRequest, ClusterResponse } from '../api.ts';
import type { StoredChange } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';
import type { CollectionName, Pace, Stage, StageAnswer, StageCall, StageChange } from './stage.ts';
import { COLLECTIONS } from './stage.ts';

/** What a stage is made of. */
export interface StoreStageParts extends Pick<Stage, 'time' | 'random'> {
  readonly cluster: {
    readonly store: Store;
    readonly answer: (request: ClusterRequest) => ClusterResponse;
  };
  readonly pace: Pace;
}

const GROUP = /^\/apis\/([^/]+)\//;

/** `deployments` → `deployments.apps`, as the store names them. */
const resourceOf = (collection: CollectionName): string => {
  const group = GROUP.exec(`${COLLECTIONS[collection]}/`)?.[1];
  return group === undefined ? collection : `${collection}.${group}`;
};

/** `deployments.apps` → `deployments`. */
const collectionOf = (resource: string): string => resource.split('.')[0] ?? resource;

const told = ({ type, resource, object }: StoredChange): StageChange => ({
  type,
  collection: collectionOf(resource),
  object,
});

/** The stage. */
export const storeStage = ({ cluster, time, random, pace }: StoreStageParts): Stage => {
  const { store, answer } = cluster;
  const call = ({ method, path, body, contentType }: StageCall): StageAnswer => {
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
    pace,
    random,
    call,
    list: (collection) => store.collection(resourceOf(collection)).objects(),
    get: (collection, at) => store.collection(resourceOf(collection)).get(at),
    hear: (listen) => {
      for (const resource of store.resources()) {
        const collection = collectionOf(resource);
        for (const object of [...store.collection(resource).objects()]) {
          listen({ type: 'ADDED', collection, object });
        }
      }
      return store.hear((change) => listen(told(change)));
    },
  };
};
