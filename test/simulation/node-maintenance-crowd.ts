/**
 * One NodeMaintenance of many full Nodes, under budgets, and the operator that drains them, on the
 * embedded cluster and simulated time.
 *
 * Promises: every request of the operator is counted where the API server answers it; each pod has
 * to leave once, because only spare Nodes and those whose work is done have room.
 */
import * as embedded from '../../packages/embedded-kubernetes/mod.ts';
import { definitionsOf } from '../../src/api/definitions.ts';
import { startSimulatedOperator } from '../../src/cli/maintenance/simulated-operator.ts';
import { asRecord, type JsonRecord, recordAt, textAt } from '../../src/domain/json.ts';
import { drawBelow, drawsFrom } from '../support/draws.ts';
import {
  type ListedApp,
  listedCluster,
  listedNode,
} from '../support/node-maintenance/listed-cluster.ts';
import { RequestCounts } from './node-maintenance-requests.ts';
import {
  hasCondition,
  maintenanceObject,
  MAINTENANCES,
  MAINTENANCES_RESOURCE,
  nodesIn,
} from './node-maintenance-object.ts';
import { workOnNodes } from './node-maintenance-scenes.ts';
import { asker } from './site-requests.ts';

/** How large it is. */
export interface MaintenanceCrowdOptions {
  readonly nodes: number;
  readonly podsOfNode: number;
  /** Of each workload; its budget lets a tenth of them be unavailable. */
  readonly replicas: number;
  /** `spec.maxNodesAtOnce`. */
  readonly atOnce: number;
}

const SEED = 1;
const NAME = 'kernel';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/** Budgets are counted, kubelets have joined, and the operator leads. */
const LEADS_MS = 10_000;
/** A person, or a script, works on a drained node. */
const WORK_MS = 60_000;
/** People read the preview of a plan. */
const PLANNED_MS = 60_000;
/** Between two looks. */
const LOOK_MS = 1000;
/** Far more than it takes. */
const PATIENT_MS = 12 * 3_600_000;
/** Changes of each resource that watches may still need. */
const HISTORY = 5000;
/** Longer than any pod takes to be ready. */
const READY_MS = 60_000;
/** Images of an ordinary size, and services that finish their requests. */
const TIMING = {
  ...embedded.DEFAULT_TIMING,
  startMs: [5000, 30_000],
  stopMs: [1000, 15_000],
  hasHeartbeats: false,
} as const;
const GRACE_SECONDS = 30;
/** Of one namespace. */
const APPS_OF_TEAM = 10;

const numbered = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}-${String(at).padStart(4, '0')}`);

/** Every place on the nodes, once, in an order without a pattern. */
const shuffledPlaces = (nodes: readonly string[], podsOfNode: number): readonly string[] => {
  const places = nodes.flatMap((node) => Array.from({ length: podsOfNode }, () => node));
  const draw = drawsFrom(SEED);
  const order = places.map((place) => ({ place, at: drawBelow(draw, 2 ** 31) }));
  return order.toSorted((left, right) => left.at - right.at).map(({ place }) => place);
};

const appsOn = (
  nodes: readonly string[],
  { podsOfNode, replicas }: MaintenanceCrowdOptions,
): readonly ListedApp[] => {
  const places = shuffledPlaces(nodes, podsOfNode);
  return numbered('app', places.length / replicas).map((name, at) => ({
    name,
    namespace: `team-${Math.floor(at / APPS_OF_TEAM)}`,
    workload: 'ReplicaSet',
    nodes: places.slice(at * replicas, (at + 1) * replicas),
    graceSeconds: GRACE_SECONDS,
    maxUnavailable: replicas / 10,
  }));
};

/** A cluster that is full but for its spare Nodes. */
const fullCluster = (options: MaintenanceCrowdOptions) => {
  const { nodes: count, podsOfNode, atOnce } = options;
  const time = embedded.simulatedTime();
  const cluster = embedded.makeCluster({ time, seed: SEED });
  const ask = asker(cluster.answer);
  for (const body of definitionsOf(['maintenance'])) ask('POST', DEFINITIONS, body);
  const nodes = numbered('node', count);
  const cpu = String(podsOfNode);
  const all = [
    ...nodes.map((name) => listedNode(name, { cpu })),
    ...numbered('spare', 2 * atOnce).map((name) => listedNode(name, { cpu, pool: 'spare' })),
  ];
  embedded.loadObjects(cluster, listedCluster(all, appsOn(nodes, options)));
  const random = embedded.seededRandom(SEED);
  const controllers = embedded.startControllers(
    embedded.storeEnvironment({ cluster, time, random, timing: TIMING }),
  );
  return { time, cluster, ask, controllers };
};

type FullCluster = ReturnType<typeof fullCluster>;

const nameIn = (object: unknown) => ({
  namespace: textAt(object, 'metadata', 'namespace') ?? '',
  name: textAt(object, 'metadata', 'name') ?? '',
});

const copyOf = (object: unknown): JsonRecord => asRecord(JSON.parse(JSON.stringify(object))) ?? {};

/**
 * Gives every pod what the API server, the scheduler and a kubelet write into one. Listed pods have
 * a fifth of that: the memory of the cluster would grow with each pod that is replaced.
 */
const completePods = async ({ time, cluster, ask }: FullCluster): Promise<void> => {
  const pods = cluster.store.collection('pods');
  const [first] = pods.objects();
  const { namespace, name } = nameIn(first);
  // The scheduler looks at spare Nodes last: the next pod gets the place of this one.
  ask('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, { gracePeriodSeconds: 0 });
  await time.advance(READY_MS);
  const made = [...pods.objects()].find((pod) =>
    textAt(pod, 'metadata', 'generateName') !== undefined
  );
  for (const pod of [...pods.objects()]) {
    if (pod === made) continue;
    const [metadata, spec] = [recordAt(pod, 'metadata'), recordAt(pod, 'spec')];
    const complete = copyOf(made);
    cluster.store.put('pods', nameIn(pod), {
      ...complete,
      metadata: { ...recordAt(complete, 'metadata'), ...copyOf(metadata) },
      spec: { ...recordAt(complete, 'spec'), ...copyOf(spec) },
    });
  }
};

/** The crowd, with its operator, before the maintenance exists. */
export const maintenanceCrowd = async (options: MaintenanceCrowdOptions) => {
  const full = fullCluster(options);
  const { time, cluster, ask, controllers } = full;
  await completePods(full);
  const counts = new RequestCounts();
  const answer: typeof cluster.answer = (request) => {
    const response = cluster.answer(request);
    counts.add(request, response);
    return response;
  };
  startSimulatedOperator({ answer }, time, SEED);
  workOnNodes({ site: { cluster, ask }, time }, WORK_MS);
  await time.advance(LEADS_MS);
  const maintenance = (): JsonRecord | undefined =>
    cluster.store.collection(MAINTENANCES_RESOURCE).get({ namespace: '', name: NAME });
  const until = async (what: string, isReached: () => boolean): Promise<void> => {
    for (let passedMs = 0; !isReached(); passedMs += LOOK_MS) {
      if (passedMs > PATIENT_MS) throw new Error(`Not within ${PATIENT_MS} ms: ${what}`);
      await time.advance(LOOK_MS);
      cluster.store.compact(cluster.store.revision() - HISTORY);
    }
  };
  return {
    time,
    counts,
    until,
    /** Makes it, and lets a while pass, as people do before they drain. */
    plan: (): Promise<void> => {
      const { atOnce } = options;
      const spec = { stage: 'Idle', maxNodesAtOnce: atOnce };
      counts.reset();
      ask('POST', MAINTENANCES, maintenanceObject(NAME, { key: 'pool', value: 'a' }, spec));
      return time.advance(PLANNED_MS);
    },
    enter: (next: 'Drain' | 'Complete'): void =>
      void ask('PATCH', `${MAINTENANCES}/${NAME}`, { spec: { stage: next } }),
    is: (condition: 'Drained' | 'Completed'): boolean => hasCondition(maintenance(), condition),
    /** Nodes whose work is done. */
    doneNodes: (): number =>
      nodesIn(maintenance()).filter(({ state }) => state === 'Released').length,
    stop: controllers.stop,
  };
};
