/**
 * An API server that answers reads of the objects that it is given, and refuses what the test says.
 *
 * Promises: pages hold two objects, whatever the requested limit; field and label selectors of one
 * equality are obeyed; a missing object is a 404 with its name, as of a served resource.
 */
import { Effect } from 'effect';
import { recordAt, textAt } from '../../../src/domain/json.ts';
import { labelsOf } from '../../../src/domain/object-meta.ts';
import {
  type KubeAnswer,
  KubeApi,
  type KubeCall,
  type KubeFault,
} from '../../../src/effects/kube-api.ts';
import { unwatched } from './fake-api.ts';

/** The content of the server. */
export interface ReadableCluster {
  /** Objects by their whole paths, in the order of lists. */
  readonly objects: Readonly<Record<string, object>>;
  /** HTTP statuses by path. */
  readonly refused?: Readonly<Record<string, number>>;
}

const PAGE_OBJECTS = 2;

/** The path of the collection: all namespaces, or the one of the path. */
const isIn = (collection: string, path: string): boolean => {
  const parent = path.slice(0, path.lastIndexOf('/'));
  return parent === collection || parent.replace(/\/namespaces\/[^/]+(?=\/)/, '') === collection;
};

const fieldOf = (object: unknown, field: string): string =>
  textAt(object, ...field.split('.')) ?? '';

const isSelected = (object: unknown, query: Readonly<Record<string, string>>): boolean => {
  const fields = (query['fieldSelector'] ?? '').split(',').filter((each) => each !== '');
  const labels = (query['labelSelector'] ?? '').split(',').filter((each) => each !== '');
  const isField = (each: string): boolean => {
    const [field = '', wanted = ''] = each.split(/!?=/);
    return (fieldOf(object, field) === wanted) !== each.includes('!=');
  };
  return fields.every(isField) && labels.every((each) => {
    const [label = '', wanted = ''] = each.split('=');
    return labelsOf(object)[label] === wanted;
  });
};

const listed = (
  objects: readonly object[],
  query: Readonly<Record<string, string>>,
): KubeAnswer => {
  const selected = objects.filter((object) => isSelected(object, query));
  const from = Number(query['continue'] ?? 0);
  const until = query['limit'] === undefined ? selected.length : from + PAGE_OBJECTS;
  const next = until < selected.length ? { continue: `${until}` } : {};
  return {
    status: 200,
    body: { metadata: { resourceVersion: '1', ...next }, items: selected.slice(from, until) },
  };
};

const answerOf = ({ objects, refused = {} }: ReadableCluster, call: KubeCall): KubeAnswer => {
  const { path, query = {} } = call;
  const refusal = refused[path];
  if (refusal !== undefined) {
    return { status: refusal, body: { message: `${path} is not for you` } };
  }
  const object = objects[path];
  if (object !== undefined) return { status: 200, body: object };
  const collection = Object.entries(objects).filter(([each]) => isIn(path, each));
  const isCollection = collection.length > 0 || recordAt(call, 'query') !== undefined;
  if (isCollection) return listed(collection.map(([, each]) => each), query);
  return { status: 404, body: { details: { name: path.slice(path.lastIndexOf('/') + 1) } } };
};

/** Runs reads against the cluster; `calls` has what they asked for. */
export const readableApi = (cluster: ReadableCluster) => {
  const calls: KubeCall[] = [];
  const service: KubeApi['Service'] = {
    call: (call) =>
      Effect.sync(() => {
        calls.push(call);
        return answerOf(cluster, call);
      }),
    watch: unwatched,
  };
  return {
    calls,
    run: <Value>(reads: Effect.Effect<Value, KubeFault, KubeApi>): Promise<Value> =>
      Effect.runPromise(Effect.provideService(reads, KubeApi, service)),
  };
};
