/**
 * Reads all objects about drains once.
 *
 * Promises: pods, Nodes and budgets are required; supplementary objects (Events, UpcomingNodes,
 * EvictionRequests, NodeMaintenances, Namespaces) may be missing, for lack of permission or because
 * they do not exist.
 */
import { Effect } from 'effect';
import { type Budget, budgetCovers, projectBudget } from '../domain/drain/budget.ts';
import { type DrainedNode, projectDrainedNode } from '../domain/drain/drained-node.ts';
import { type DrainPod, podProjection } from '../domain/drain/pod.ts';
import { interceptorsOf } from '../domain/eviction-requests/interceptor-list.ts';
import {
  type ObservedRequest,
  projectEvictionRequest,
} from '../domain/eviction-requests/observed-request.ts';
import { objectKey, type Uid } from '../domain/ids.ts';
import { textAt } from '../domain/json.ts';
import {
  projectVolume,
  projectVolumeClaim,
  type VolumeLookup,
  volumeLookup,
} from '../domain/node-availability/local-volumes.ts';
import {
  type ObservedMaintenance,
  projectMaintenance,
} from '../domain/node-maintenance/observed-maintenance.ts';
import { projectUpcomingNode, type UpcomingNodeProjection } from '../domain/upcoming-node.ts';
import { EVICTION_REQUESTS_PATH } from './evictions-api.ts';
import type { KubeApi, KubeFault } from './kube-api.ts';
import { NODE_MAINTENANCES_PATH } from './node-maintenance.ts';
import { type ListRead, readList } from './object-lists.ts';
import { readObject } from './object-reads.ts';
import { OPERATOR_OPTIONS } from './operator-options.ts';
import { UPCOMING_NODES_PATH } from './upcoming-nodes.ts';
import type { Selection } from './watches.ts';

/** Nodes, by name or by predicate. */
export type NodeChoice =
  | { readonly _tag: 'Named'; readonly names: readonly string[] }
  | {
    readonly _tag: 'All';
    readonly isMeant: (node: DrainedNode) => boolean;
    /** A label selector; undefined for all. */
    readonly selector?: string;
  };

/** The objects about some nodes. */
export interface DrainReading {
  readonly nodes: readonly DrainedNode[];
  /** Requested names without a Node. */
  readonly missing: readonly string[];
  /** Pods bound to one of the nodes, and others that a budget still counts. */
  readonly pods: readonly DrainPod[];
  readonly budgets: readonly Budget[];
  /** Raw Events (events.k8s.io/v1) about Nodes. */
  readonly events: readonly unknown[];
  readonly machines: readonly UpcomingNodeProjection[];
  readonly evictionRequests: readonly ObservedRequest[];
  readonly maintenances: readonly ObservedMaintenance[];
  readonly terminatingNamespaces: readonly string[];
  /** Of pods with claims. */
  readonly lookup: VolumeLookup;
  /** The pod of the leading operator, if its Lease identifies one. */
  readonly own: OwnPod | null;
}

/** The operator's own pod. */
export interface OwnPod {
  readonly namespace: string;
  readonly name: string;
}

/** A reading, or why there is none. */
export type DrainRead =
  | {
    readonly _tag: 'Read';
    readonly reading: DrainReading;
    /** The interceptors that pods of these nodes register, in order, by UID; others have none. */
    readonly interceptors: ReadonlyMap<Uid, readonly string[]>;
  }
  | { readonly _tag: 'Refused'; readonly why: string };

/** The paths of the collections. `drain status --watch` uses the same selectors. */
export const DRAIN_SELECTIONS = {
  nodes: { path: '/api/v1/nodes' },
  boundPods: { path: '/api/v1/pods', query: { fieldSelector: 'spec.nodeName!=' } },
  budgets: { path: '/apis/policy/v1/poddisruptionbudgets' },
  nodeEvents: {
    path: '/apis/events.k8s.io/v1/namespaces/default/events',
    query: { fieldSelector: 'regarding.kind=Node' },
  },
  leases: {
    path: '/apis/coordination.k8s.io/v1/leases',
    query: { fieldSelector: `metadata.name=${OPERATOR_OPTIONS.leaseName.default ?? ''}` },
  },
  machines: { path: UPCOMING_NODES_PATH },
  evictionRequests: { path: EVICTION_REQUESTS_PATH },
  maintenances: { path: NODE_MAINTENANCES_PATH },
  claims: { path: '/api/v1/persistentvolumeclaims' },
  volumes: { path: '/api/v1/persistentvolumes' },
  terminatingNamespaces: {
    path: '/api/v1/namespaces',
    query: { fieldSelector: 'status.phase=Terminating' },
  },
} satisfies Readonly<Record<string, Selection>>;

/** Above this number of nodes, all pods of the cluster are listed instead of those of each. */
const NODES_ASKED_MAX = 50;
const AT_ONCE = 8;

type Reads<Value> = Effect.Effect<Value, KubeFault, KubeApi>;

class Refused {
  readonly why: string;
  constructor(why: string) {
    this.why = why;
  }
}

/** This list is required. */
const needed = <T>(what: string, read: ListRead<T>): Effect.Effect<readonly T[], Refused> =>
  read._tag === 'Listed'
    ? Effect.succeed(read.objects)
    : Effect.fail(new Refused(`Cannot list ${what}: ${read.why}`));

const helpful = <T>(read: ListRead<T>): readonly T[] => read._tag === 'Listed' ? read.objects : [];

const namedNode = (name: string) =>
  readObject(`${DRAIN_SELECTIONS.nodes.path}/${encodeURIComponent(name)}`).pipe(
    Effect.flatMap((read) =>
      read._tag === 'Refused'
        ? Effect.fail(new Refused(`Cannot read Node "${name}": ${read.why}`))
        : Effect.succeed({
          name,
          node: read._tag === 'Found' ? projectDrainedNode(read.object) : undefined,
        })
    ),
  );

/** All Nodes, or those with these labels. */
export const nodesSelected = (selector: string | undefined): Selection =>
  selector === undefined ? DRAIN_SELECTIONS.nodes : {
    ...DRAIN_SELECTIONS.nodes,
    query: { labelSelector: selector },
  };

const readNodes = (choice: NodeChoice) =>
  Effect.gen(function* () {
    if (choice._tag === 'All') {
      const all = yield* readList(nodesSelected(choice.selector), projectDrainedNode);
      return { nodes: (yield* needed('Nodes', all)).filter(choice.isMeant), missing: [] };
    }
    const names = [...new Set(choice.names)];
    const found = yield* Effect.all(names.map(namedNode), { concurrency: AT_ONCE });
    return {
      nodes: found.flatMap(({ node }) => node === undefined ? [] : [node]),
      missing: found.flatMap(({ name, node }) => node === undefined ? [name] : []),
    };
  });

const podsOf = (node: string): Selection => ({
  path: DRAIN_SELECTIONS.boundPods.path,
  query: { fieldSelector: `spec.nodeName=${node}` },
});

/** Pods, and the interceptors of those that register any. */
const podsWithInterceptors = () => {
  const project = podProjection();
  const interceptors = new Map<Uid, readonly string[]>();
  return {
    interceptors,
    project: (raw: unknown): DrainPod | undefined => {
      const pod = project(raw);
      const { names } = interceptorsOf(raw);
      if (pod !== undefined && names.length > 0) interceptors.set(pod.uid, names);
      return pod;
    },
  };
};

const readPods = (nodes: readonly DrainedNode[]) =>
  Effect.gen(function* () {
    const { project, interceptors } = podsWithInterceptors();
    const names = new Set(nodes.map(({ name }) => name));
    const selections = names.size > NODES_ASKED_MAX
      ? [DRAIN_SELECTIONS.boundPods]
      : [...names].map(podsOf);
    const lists = yield* Effect.all(
      selections.map((selection) => readList(selection, project)),
      { concurrency: AT_ONCE },
    );
    const pods = yield* Effect.all(lists.map((list) => needed('pods', list)));
    return { pods: pods.flat().filter(({ node }) => names.has(node)), interceptors };
  });

/** The maximum number of disrupted pods on other nodes to read. */
const COUNTED_ELSEWHERE_MAX = 50;

/** Interrupted evictions on other nodes may hold the slots of these budgets. */
const readCounted = (pods: readonly DrainPod[], budgets: readonly Budget[]) =>
  Effect.gen(function* () {
    const project = podProjection();
    const known = new Set(pods.map(({ key }) => key));
    const elsewhere = budgets.filter((budget) => pods.some((pod) => budgetCovers(budget, pod)))
      .flatMap(({ namespace, disruptedPods }) =>
        Object.keys(disruptedPods).map((name) => ({ namespace, name }))
      )
      .filter(({ namespace, name }) => !known.has(objectKey(name, namespace)))
      .slice(0, COUNTED_ELSEWHERE_MAX);
    const reads = yield* Effect.all(
      elsewhere.map(({ namespace, name }) =>
        readObject(`/api/v1/namespaces/${namespace}/pods/${encodeURIComponent(name)}`)
      ),
      { concurrency: AT_ONCE },
    );
    return reads.flatMap((read) =>
      (read._tag === 'Found' ? project(read.object) : undefined) ?? []
    );
  });

const optionalList = <T>(
  selection: Selection,
  project: (raw: unknown) => T | undefined,
): Reads<readonly T[]> => Effect.map(readList(selection, project), helpful);

/** An identity is the host name, which is the pod name, and a random part. */
const ownPodIn = (lease: unknown): OwnPod | undefined => {
  const holder = textAt(lease, 'spec', 'holderIdentity') ?? '';
  const name = holder.slice(0, Math.max(0, holder.lastIndexOf('_')));
  const namespace = textAt(lease, 'metadata', 'namespace') ?? '';
  return name === '' ? undefined : { namespace, name };
};

const readAround = (nodes: readonly DrainedNode[]) =>
  Effect.all({
    bound: readPods(nodes),
    budgets: readList(DRAIN_SELECTIONS.budgets, projectBudget).pipe(
      Effect.flatMap((read) => needed('PodDisruptionBudgets', read)),
    ),
    events: optionalList(DRAIN_SELECTIONS.nodeEvents, (raw): unknown => raw),
    machines: optionalList(DRAIN_SELECTIONS.machines, projectUpcomingNode),
    evictionRequests: optionalList(DRAIN_SELECTIONS.evictionRequests, projectEvictionRequest),
    maintenances: optionalList(DRAIN_SELECTIONS.maintenances, projectMaintenance),
    terminatingNamespaces: optionalList(
      DRAIN_SELECTIONS.terminatingNamespaces,
      (raw) => textAt(raw, 'metadata', 'name'),
    ),
    own: Effect.map(optionalList(DRAIN_SELECTIONS.leases, ownPodIn), ([own]) => own ?? null),
  }, { concurrency: 'unbounded' });

/** The claims and volumes, when a pod has any. */
const readVolumes = (pods: readonly DrainPod[]) =>
  Effect.gen(function* () {
    if (!pods.some(({ storage }) => (storage?.claims.length ?? 0) > 0)) return volumeLookup([], []);
    const { claims, volumes } = yield* Effect.all({
      claims: optionalList(DRAIN_SELECTIONS.claims, projectVolumeClaim),
      volumes: optionalList(DRAIN_SELECTIONS.volumes, projectVolume),
    }, { concurrency: 'unbounded' });
    return volumeLookup(claims, volumes);
  });

/** Reads the selected nodes and related objects. */
export const readDrains = (choice: NodeChoice): Reads<DrainRead> =>
  Effect.gen(function* () {
    const { nodes, missing } = yield* readNodes(choice);
    const { bound, ...around } = yield* readAround(nodes);
    const pods = [...bound.pods, ...yield* readCounted(bound.pods, around.budgets)];
    const { interceptors } = bound;
    const lookup = yield* readVolumes(bound.pods);
    const reading = { nodes, missing, ...around, pods, lookup };
    return { _tag: 'Read', reading, interceptors } as const;
  }).pipe(
    Effect.catchIf(
      (problem) => problem instanceof Refused,
      ({ why }) => Effect.succeed({ _tag: 'Refused', why } as const),
    ),
  );
