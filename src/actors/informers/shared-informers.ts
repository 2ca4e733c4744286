/**
 * The informers of a process: each collection is listed and watched once, however many roles read
 * it.
 *
 * Promises: a cached object has the union of the fields that the roles requested; a collection with
 * different selectors is watched without one; nothing is listed before `start`.
 */
import type { Identity } from '../../domain/facts.ts';
import { sameJson } from '../../domain/json-equality.ts';
import type { KubeApi } from '../../effects/kube-api.ts';
import type { Selection } from '../../effects/watches.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import {
  type Informer,
  type InformerOptions,
  makeInformer,
  type UnstartedInformer,
} from './informer.ts';
import type { RefusalSink } from './list-failures.ts';
import { listWatches, retryAll } from './list-watches.ts';

/** Any informer, for code that only waits for it. */
export type AnyInformer = Pick<Informer<Identity>, 'id' | 'synced' | 'whenSynced' | 'failure'>;

/**
 * True from a failure of its list or watch until the next success, a complete list as much as a
 * watch that delivers; also without a list-watch.
 */
export const isBehind = ({ actor }: Pick<Informer<Identity>, 'actor'>): boolean =>
  actor?.getSnapshot().context.problem !== '';

/**
 * Resolves once its cache is not behind, in a microtask at the earliest. Lists again if it is: a
 * watch that was opened again shows nothing for a minute when nothing has changed.
 */
export const whenCurrent = async (
  informer: Pick<Informer<Identity>, 'actor' | 'relist'>,
): Promise<void> => {
  if (isBehind(informer)) await informer.relist();
};

/** Resolves once none of them is behind; one may fall behind again while another is listed. */
export const whenAllCurrent = async (
  informers: readonly Pick<Informer<Identity>, 'actor' | 'relist'>[],
): Promise<void> => {
  while (informers.some(isBehind)) await Promise.all(informers.map(whenCurrent));
};

/** What one reader follows. */
export interface SharedInformerOptions<T extends Identity> extends InformerOptions<T> {
  /** Asked once, at the start: false when this reader can do without; default: it cannot. */
  readonly isWanted?: () => boolean;
}

/** The informers of a process. */
export interface SharedInformers {
  /**
   * The informer of a collection, for one more reader; only before `start`. Projections of one
   * collection may share field names only where they give the same value; readers that give the
   * same function share its result.
   */
  readonly collection: <T extends Identity>(options: SharedInformerOptions<T>) => Informer<T>;
  /** Starts to list and watch every collection that a reader wants. */
  readonly start: () => void;
  /** The API server has just answered: collections in a backoff retry now. */
  readonly retryNow: () => void;
  readonly stop: () => void;
}

type Project = InformerOptions<Identity>['project'];

/** One collection and the requests of its readers. */
interface SharedCollection {
  readonly informer: UnstartedInformer<Identity>;
  readonly selections: Selection[];
  readonly projections: Set<Project>;
  /** One for each reader. */
  readonly isWanted: (() => boolean)[];
}

/** One projection that keeps what each of `projections` keeps; none is applied twice. */
const unionProjection = (projections: ReadonlySet<Project>): Project => {
  return (raw) => {
    let union: Identity | undefined;
    for (const project of projections) {
      const part = project(raw);
      if (part === undefined) return undefined;
      union = union === undefined ? part : { ...union, ...part };
    }
    return union;
  };
};

/** The selector that covers all requests: the common one, or none. */
const unionSelection = (selections: readonly Selection[]): Selection => {
  const [first, ...others] = selections;
  if (first === undefined) throw new Error('Cannot follow a collection without readers');
  const isSame = others.every(({ query }) => sameJson(query, first.query));
  return isSame ? first : { path: first.path };
};

/** The informer of a collection that no role has requested yet. */
const newCollection = (
  environment: ActorEnvironment<KubeApi>,
  registry: ReturnType<typeof listWatches>,
  { id, refusals }: { readonly id: string; readonly refusals: RefusalSink | undefined },
): SharedCollection => {
  const projections = new Set<Project>();
  const project = unionProjection(projections);
  const informer = makeInformer(environment, registry, { id, project, refusals });
  return { informer, selections: [], projections, isWanted: [] };
};

/** The informers of one process; none is started. */
export const sharedInformers = (
  environment: ActorEnvironment<KubeApi>,
  refusals?: RefusalSink,
): SharedInformers => {
  const registry = listWatches(environment);
  const collections = new Map<string, SharedCollection>();
  let started = false;
  return {
    collection: <T extends Identity>(options: SharedInformerOptions<T>): Informer<T> => {
      const { id, path, query, isWanted = () => true } = options;
      const known = collections.get(id);
      if (started || (known !== undefined && known.selections[0]?.path !== path)) {
        throw new Error(`Cannot read the collection "${id}" of ${path}: already started or named`);
      }
      const shared = known ?? newCollection(environment, registry, { id, refusals });
      collections.set(id, shared);
      shared.selections.push(query === undefined ? { path } : { path, query });
      shared.isWanted.push(isWanted);
      shared.projections.add(options.project);
      // Every object is the union of all projections, so it is a T, which no type can express here.
      const { informer } = shared as { readonly informer: Informer<Identity> };
      return informer as Informer<T>;
    },
    start: () => {
      started = true;
      for (const { informer, selections, isWanted } of collections.values()) {
        if (isWanted.some((wants) => wants())) informer.start(unionSelection(selections));
      }
    },
    retryNow: () => retryAll(registry),
    stop: () => {
      for (const { informer } of collections.values()) informer.stop();
    },
  };
};

/** Why informers are not complete, for readiness; `undefined` when all are. */
export const missingLists = (informers: readonly AnyInformer[]): string | undefined => {
  const missing = informers.filter(({ synced }) => !synced).map(({ id, failure }) => {
    const problem = failure()?.problem;
    return problem === undefined ? id : `${id} (${problem})`;
  });
  return missing.length === 0 ? undefined : `initial list incomplete: ${missing.join(', ')}`;
};
