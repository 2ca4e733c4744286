/**
 * Simulates a maintenance: an embedded cluster with the objects of the real one, and the real
 * operator, on simulated time.
 *
 * Promises: knows nothing of the real cluster but the lists that it is given; the same lists give
 * the same outcome; ends when the maintenance is drained, or when nothing has moved for long.
 */
import { definitionsOf } from '../../api/definitions.ts';
import { projectBudget } from '../../domain/drain/budget.ts';
import { projectPod } from '../../domain/drain/pod.ts';
import { isConditionTrue } from '../../domain/condition.ts';
import {
  booleanAt,
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
} from '../../domain/json.ts';
import { DONE_ANNOTATION } from '../../domain/node-maintenance/node-budget.ts';
import { selectsNode } from '../../domain/node-maintenance/node-selector.ts';
import type { ObservedMaintenance } from '../../domain/node-maintenance/observed-maintenance.ts';
import { hasPodsLeft } from '../../domain/node-maintenance/progress-text.ts';
import { labelsOf } from '../../domain/object-meta.ts';
import { MAINTENANCES_RESOURCE, type ResourceList } from '../../effects/maintenance-lists.ts';
import { NODE_MAINTENANCES_PATH } from '../../effects/node-maintenance.ts';
import { maintenancePlan } from '../../view/maintenance-plan.ts';
import type { MaintenanceSimulationView } from '../../view/maintenance-simulation.ts';
import { type EmbeddedCluster, type EmbeddedKubernetes } from '../on-demand-packages.ts';
import { startSimulatedOperator } from './simulated-operator.ts';
import { SimulationRecord } from './simulation-record.ts';

/** How long things take that the lists do not say. */
export interface SimulationTiming {
  /** From the binding of a pod until it is Ready. */
  readonly podStartupMs: number;
  /** From the deletion of a pod until it is gone; undefined: its termination grace. */
  readonly podShutdownMs: number | undefined;
  /** The work on each drained node, before the next one follows. */
  readonly nodeWorkMs: number;
}

/** What is simulated. */
export interface SimulationOptions {
  readonly lists: readonly ResourceList[];
  /** Resources that could not be listed. */
  readonly missing: readonly string[];
  /** The NodeMaintenance as it was written or read. */
  readonly written: JsonRecord;
  readonly timing: SimulationTiming;
  /** The time of day at its start. */
  readonly startMs: number;
  readonly onProgress: (elapsedMs: number, drainedNodes: number) => void;
}

/** An outcome, or why there is none. */
export type SimulationOutcome =
  | { readonly _tag: 'Simulated'; readonly view: MaintenanceSimulationView }
  | { readonly _tag: 'Refused'; readonly why: string };

const SEED = 1;
/** Budgets are counted, kubelets have joined, and the operator leads. */
const LEADS_MS = 3000;
/** Longer than any termination, backoff or grace that still leads somewhere. */
const STILL_MS_MAX = 30 * 60_000;
/** A month: a maintenance that takes longer is not looked at to its end. */
const SIMULATED_MS_MAX = 30 * 86_400_000;
const FOREVER_MS = 1e12;

const nameOf = (object: unknown): string => textAt(object, 'metadata', 'name') ?? '';

const isReady = (node: JsonRecord): boolean => isConditionTrue(node, 'Ready');

/** The maintenance in stage Drain, as the one of this name in the cluster if there is one. */
const putMaintenance = (
  { store, answer }: EmbeddedCluster,
  written: JsonRecord,
): string | undefined => {
  const name = nameOf(written);
  const spec = { ...recordAt(written, 'spec'), stage: 'Drain' };
  const at = { namespace: '', name };
  const existing = store.collection(MAINTENANCES_RESOURCE).get(at);
  if (existing !== undefined) {
    const metadata = recordAt(existing, 'metadata');
    const generation = (numberAt(metadata, 'generation') ?? 1) + 1;
    store.put(MAINTENANCES_RESOURCE, at, {
      ...existing,
      metadata: { ...metadata, generation },
      spec,
    });
    return undefined;
  }
  const { apiVersion, kind } = written;
  const made = answer({
    method: 'POST',
    path: NODE_MAINTENANCES_PATH,
    body: { apiVersion, kind, metadata: { name }, spec },
  });
  if (made._tag === 'Answer' && made.status < 300) return undefined;
  return made._tag === 'Answer' ? textAt(made.body, 'message') ?? `status ${made.status}` : '';
};

/** A loaded cluster whose controllers run. */
const startCluster = (embedded: EmbeddedKubernetes, options: SimulationOptions) => {
  const { lists, timing: { podStartupMs, podShutdownMs } } = options;
  const time = embedded.simulatedTime(options.startMs);
  const cluster = embedded.makeCluster({ time, seed: SEED });
  for (const body of definitionsOf(['maintenance'])) {
    cluster.answer({
      method: 'POST',
      path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      body,
    });
  }
  const { replaced } = embedded.loadObjects(cluster, lists);
  const stopMs = podShutdownMs ?? FOREVER_MS;
  const environment = embedded.storeEnvironment({
    cluster,
    time,
    random: embedded.seededRandom(SEED),
    timing: {
      ...embedded.DEFAULT_TIMING,
      startMs: [podStartupMs, podStartupMs],
      stopMs: [stopMs, stopMs],
      joinMs: [0, 0],
      hasHeartbeats: false,
    },
  });
  const refusals = new Map<string, string>();
  const controllers = embedded.startControllers({
    ...environment,
    call: (call) => {
      const answer = environment.call(call);
      if (answer.status >= 400 && call.method === 'POST' && call.path.endsWith('/pods')) {
        const [owner] = listOrEmptyAt(call.body, 'metadata', 'ownerReferences');
        const who = `${textAt(owner, 'kind') ?? 'Pod'} ${textAt(owner, 'name') ?? ''}`;
        refusals.set(who, textAt(answer.body, 'message') ?? `status ${answer.status}`);
      }
      return answer;
    },
  });
  const silent = lists.filter(({ resource }) => resource === 'nodes')
    .flatMap(({ objects }) => objects).filter((node) => !isReady(node)).map(nameOf);
  for (const node of silent) controllers.kubelets.setSilent(node, true);
  return { time, cluster, controllers, replaced, refusals, silent };
};

type RunningSimulation = ReturnType<typeof startCluster>;

/** Does the work on each drained node, so that the next one follows. */
const workOnNodes = ({ cluster, time }: RunningSimulation, name: string, workMs: number) => {
  const begun = new Set<string>();
  return ({ spec, status }: ObservedMaintenance): void => {
    if (spec.maxNodesAtOnce === null || spec.releaseWhen !== 'Done') return;
    for (const node of status.nodes) {
      const isDrained = node.state === 'Admitted' && node.drainMessage === 'Drained' &&
        !hasPodsLeft(node);
      if (!isDrained || begun.has(node.name)) continue;
      begun.add(node.name);
      time.schedule(workMs, () =>
        void cluster.answer({
          method: 'PATCH',
          path: `/api/v1/nodes/${node.name}`,
          headers: { 'content-type': 'application/merge-patch+json' },
          body: { metadata: { annotations: { [DONE_ANNOTATION]: name } } },
        }));
    }
  };
};

const unknownOf = (
  { replaced, refusals, silent }: RunningSimulation,
  { missing, timing }: SimulationOptions,
): readonly string[] => [
  'The scheduler looks at requests, selectors, required node affinity, taints and volume zones; ' +
  'not at affinity between pods, topology spread, host ports, preferences and preemption',
  'Other drains, autoscalers, webhooks, quotas and interceptors do nothing here',
  ...(timing.podShutdownMs === undefined
    ? ['Pods take their whole termination grace to stop']
    : []),
  ...(replaced.length === 0 ? [] : [`Recreated as by a ReplicaSet: ${replaced.join(', ')}`]),
  ...(silent.length === 0 ? [] : [`Not Ready, and nothing stops there: ${silent.join(', ')}`]),
  ...(missing.length === 0 ? [] : [`Not listed: ${missing.join(', ')}`]),
  ...[...refusals].map(([who, why]) => `Pods of ${who} could not be made here: ${why}`),
];

/** What the plan of the maintenance says of the cluster as it is now. */
const blockersNow = (
  { cluster: { store } }: RunningSimulation,
  maintenance: ObservedMaintenance,
) => {
  const raw = (
    resource: string,
  ): readonly JsonRecord[] => [...store.collection(resource).objects()];
  const all = raw('nodes').map((node) => ({
    name: nameOf(node),
    labels: labelsOf(node),
    unschedulable: booleanAt(node, 'spec', 'unschedulable') === true,
  }));
  return maintenancePlan(maintenance, {
    nodes: all.filter((node) => selectsNode(maintenance.spec.nodeSelector, node)),
    all: all.length,
    pods: raw('pods').flatMap((pod) => projectPod(pod) ?? []),
    budgets: raw('poddisruptionbudgets.policy').flatMap((budget) => projectBudget(budget) ?? []),
  }).blockers;
};

/** Lets time pass until the maintenance ends or stands still. */
const runToEnd = async (
  { time }: RunningSimulation,
  record: SimulationRecord,
  { onProgress, work }: {
    readonly onProgress: SimulationOptions['onProgress'];
    readonly work: (maintenance: ObservedMaintenance) => void;
  },
): Promise<void> => {
  let seen: ObservedMaintenance | undefined;
  while (!record.isDrained && (record.waitsForWindow || record.stillMs < STILL_MS_MAX)) {
    if (record.elapsedMs > SIMULATED_MS_MAX || !await time.advanceToNext()) return;
    if (record.maintenance === seen) continue;
    seen = record.maintenance;
    if (seen !== undefined) work(seen);
    onProgress(record.elapsedMs, record.drainedNodes);
  }
};

/** Simulates it to its end. */
export const simulateMaintenance = async (
  embedded: EmbeddedKubernetes,
  options: SimulationOptions,
): Promise<SimulationOutcome> => {
  const { written, timing } = options;
  const name = nameOf(written);
  const running = startCluster(embedded, options);
  const { cluster, time, controllers } = running;
  startSimulatedOperator(cluster, time, SEED);
  await time.advance(LEADS_MS);
  const record = new SimulationRecord(cluster.store, time, name);
  const problem = putMaintenance(cluster, written);
  if (problem !== undefined) return { _tag: 'Refused', why: problem };
  await runToEnd(running, record, {
    onProgress: options.onProgress,
    work: workOnNodes(running, name, timing.nodeWorkMs),
  });
  const { maintenance, isDrained, elapsedMs, stillMs } = record;
  const view: MaintenanceSimulationView = {
    drained: isDrained,
    seconds: Math.round((isDrained ? elapsedMs : elapsedMs - stillMs) / 1000),
    podStartupSeconds: timing.podStartupMs / 1000,
    podShutdownSeconds: timing.podShutdownMs === undefined ? null : timing.podShutdownMs / 1000,
    nodes: record.nodes(),
    shortfalls: record.shortfalls(),
    unplaced: record.unplaced(),
    blockers: isDrained || maintenance === undefined ? [] : blockersNow(running, maintenance),
    unknown: unknownOf(running, options),
  };
  record.stop();
  controllers.stop();
  return { _tag: 'Simulated', view };
};
