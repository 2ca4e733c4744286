/**
 * A maintenance of many nodes, ten at once, whose operator is killed twenty times.
 *
 * Promises: what is expected is counted from the changes of Nodes and pods, not from the status.
 */
import { mergePatched } from '../../../packages/embedded-kubernetes/src/patches/merge-patch.ts';
import { INTERCEPTORS_ANNOTATION } from '../../../src/domain/eviction-requests/interceptor-list.ts';
import { type JsonRecord, listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import { COLLECTIONS } from '../../support/api/cluster-connection.ts';
import { brokenBudgets } from '../../support/drains/pod-history.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../../support/drains/workloads.ts';
import { REQUESTS_RESOURCE } from '../eviction-request-object.ts';
import { nameOf } from '../invariant.ts';
import { isCordoned } from '../node-annotations.ts';
import {
  hasCondition,
  maintenanceObject,
  MAINTENANCES,
  MAINTENANCES_RESOURCE,
  maintenancesOn,
  nodesIn,
} from '../node-maintenance-object.ts';
import { workOnNodes } from '../node-maintenance-scenes.ts';
import { interceptorName } from '../simulated-interceptors.ts';
import { drainSiteOptions, podsOf, stepsOf, untilBudgetsCurrent } from './drain-scene.ts';
import type { Harness } from './harness.ts';
import type { Scenario } from './scenario.ts';

const AT_ONCE = 10;
const CRASHES = 20;
const PODS_OF_NODE = 2;
const REPLICAS = 20;
/** A quarter of the replicas, as in the budgets. */
const UNAVAILABLE = REPLICAS / 4;
const NAME = 'kernel';
const PATH = `${MAINTENANCES}/${NAME}`;
/** A person needs so long to work on a drained node. */
const WORK_MS = 5000;
const SELDOM = { everyMs: 500 };
const LONG = { mostMs: 6 * 3_600_000, everyMs: 250 };
const POLICY = {
  timing: { deadlineMs: 180_000, warningMs: 20_000, skewMs: 10_000 },
  ttlMs: null,
};

const numbered = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}-${String(at).padStart(3, '0')}`);

const amounts = (pods: number) => ({ cpu: '64', memory: '256Gi', pods: String(pods) });

const createNodes = (harness: Harness, names: readonly string[], pods: number): void =>
  harness.create(
    COLLECTIONS.nodes,
    names.map((name) => ({
      metadata: {
        name,
        labels: { 'kubernetes.io/hostname': name, pool: name.split('-')[0] },
      },
      status: {
        capacity: amounts(pods),
        allocatable: amounts(pods),
        nodeInfo: { bootID: `${name}-boot-1` },
      },
    })),
  );

const maintenance = ({ site }: Harness): JsonRecord | undefined =>
  site.cluster.store.collection(MAINTENANCES_RESOURCE).get({ namespace: '', name: NAME });

/** The pods of the first app have an interceptor, so that the maintenance asks it. */
const workload = (app: string, at: number): unknown => {
  const made = deployment(app, REPLICAS);
  if (at > 0) return made;
  const registered = interceptorName('works', at, 0);
  const annotations = { [INTERCEPTORS_ANNOTATION]: registered };
  return mergePatched(made, { spec: { template: { metadata: { annotations } } } });
};

/** Nodes full of pods, two for each, and room for those that leave. */
const populate = async (harness: Harness, nodes: readonly string[]): Promise<readonly string[]> => {
  const pods = nodes.length * PODS_OF_NODE;
  const apps = numbered('app', pods / REPLICAS);
  createNodes(harness, nodes, PODS_OF_NODE);
  harness.create(
    DRAIN_COLLECTIONS.budgets,
    apps.map((app) => budget(app, { maxUnavailable: '25%' })),
  );
  harness.create(DRAIN_COLLECTIONS.deployments, apps.map(workload));
  await harness.until(
    `${pods} pods are ready`,
    () => podsOf(harness).filter(({ ready }) => ready).length === pods,
    SELDOM,
  );
  createNodes(harness, numbered('spare', 2), pods);
  await untilBudgetsCurrent(harness);
  return apps;
};

/** What the Nodes of a maintenance went through. */
interface NodeHistory {
  /** Each time that a Node became unschedulable, in order. */
  readonly cordoned: readonly string[];
  /** The most Nodes that had a key at once. */
  readonly atOnceMax: number;
  /** Pods that were left on a Node when its key left it. */
  readonly left: readonly string[];
}

const followNodes = (harness: Harness): () => NodeHistory => {
  const { store } = harness.site.cluster;
  const cordoned: string[] = [];
  const left: string[] = [];
  const unschedulable = new Set<string>();
  const held = new Set<string>();
  let atOnceMax = 0;
  const released = (name: string): void => {
    for (const pod of store.collection('pods').objects()) {
      if (textAt(pod, 'spec', 'nodeName') === name) left.push(`${nameOf(pod)} on ${name}`);
    }
  };
  store.subscribe(({ resource, object }) => {
    if (resource !== 'nodes') return;
    const name = nameOf(object);
    if (isCordoned(object) && !unschedulable.has(name)) cordoned.push(name);
    if (isCordoned(object)) unschedulable.add(name);
    else unschedulable.delete(name);
    if (maintenancesOn(object).length > 0) held.add(name);
    else if (held.delete(name)) released(name);
    atOnceMax = Math.max(atOnceMax, held.size);
  });
  return () => ({ cordoned, atOnceMax, left });
};

const doneOf = (harness: Harness): number =>
  nodesIn(maintenance(harness)).filter(({ state }) => state === 'Released').length;

/** Kills the leader again and again, each time at another point of a drain. */
const killOften = async (harness: Harness, nodes: number): Promise<void> => {
  for (let crash = 0; crash < CRASHES; crash += 1) {
    const done = Math.floor((nodes * crash) / CRASHES);
    await harness.until(`${done} nodes are done`, () => doneOf(harness) >= done, LONG);
    // So that it hits cordons, evictions and writes of the status alike.
    await harness.wait(170 * (crash + 1));
    harness.processes.crash(500 * (1 + crash % 4));
  }
};

/** Complete, and then deleted: nothing of it is left. */
const complete = async (harness: Harness, nodes: readonly string[]): Promise<void> => {
  harness.patch(PATH, { spec: { stage: 'Complete' } });
  await harness.until(
    'it is completed',
    () => hasCondition(maintenance(harness), 'Completed'),
  );
  await harness.until(
    'no finalizer is left',
    () => listOrEmptyAt(maintenance(harness), 'metadata', 'finalizers').length === 0,
  );
  const all = harness.list(COLLECTIONS.nodes).filter((node) => nodes.includes(nameOf(node)));
  harness.is('no key is left', all.filter((node) => maintenancesOn(node).length > 0), []);
  harness.is('every node is schedulable', all.filter(isCordoned).map(nameOf), []);
  const requests = [...harness.site.cluster.store.collection(REQUESTS_RESOURCE).objects()];
  const made = harness.changesOf(REQUESTS_RESOURCE).map(({ object }) => nameOf(object));
  harness.is('each intercepted pod was requested', new Set(made).size, REPLICAS);
  const asked = requests.filter((one) =>
    listOrEmptyAt(one, 'spec', 'requesters').some((requester) =>
      textAt(requester, 'name')?.startsWith(`${NAME}.`) === true
    )
  );
  harness.is('no request is left of it', asked.map(nameOf), []);
  harness.remove(PATH);
  await harness.until('it is gone', () => maintenance(harness) === undefined);
};

const killed = (name: string, count: number): Scenario => ({
  name,
  shows: `a maintenance of ${count} nodes, ten at once, ends through ${CRASHES} crashes`,
  siteOptions: drainSiteOptions(60),
  flags: { maintenance: true, evictions: POLICY, via: 'auto' },
  play: async (harness) => {
    const nodes = numbered('node', count);
    const apps = await populate(harness, nodes);
    harness.processes.start();
    const history = followNodes(harness);
    workOnNodes(harness, WORK_MS);
    harness.create(MAINTENANCES, [
      maintenanceObject(NAME, { key: 'pool', value: 'node' }, {
        stage: 'Drain',
        maxNodesAtOnce: AT_ONCE,
      }),
    ]);
    await killOften(harness, count);
    await harness.until(
      'it is drained',
      () => hasCondition(maintenance(harness), 'Drained'),
      LONG,
    );
    await harness.until('every node is done', () => doneOf(harness) === count);
    const { cordoned, atOnceMax, left } = history();
    harness.is('every node is cordoned once', cordoned.toSorted(), nodes);
    const early = cordoned.filter((node, at) => nodes.indexOf(node) - at >= AT_ONCE);
    harness.is('in its turn', early, []);
    harness.is('so many at once', atOnceMax, AT_ONCE);
    harness.is('and is empty before it is given back', left, []);
    const demands = apps.map((app) => ({ app, healthy: REPLICAS - UNAVAILABLE }));
    harness.is('every budget is kept', brokenBudgets(stepsOf(harness), demands), []);
    await complete(harness, nodes);
  },
});

export const nodeMaintenanceKilled = killed('node-maintenance-killed', 60);
export const nodeMaintenanceCrowd: Scenario = {
  ...killed('node-maintenance-crowd', 500),
  crowd: true,
};
