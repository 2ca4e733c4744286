/**
 * An embedded cluster on simulated time with the role maintenance, Nodes with labels, and apps
 * under budgets. Must be called inside a test, with which it ends.
 */
import { readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { makeCluster } from '../../../packages/embedded-kubernetes/src/cluster.ts';
import { DEFAULT_TIMING } from '../../../packages/embedded-kubernetes/src/controllers/controller-environment.ts';
import { startControllers } from '../../../packages/embedded-kubernetes/src/controllers/controllers.ts';
import { storeEnvironment } from '../../../packages/embedded-kubernetes/src/controllers/store-environment.ts';
import { startNode } from '../../../packages/embedded-kubernetes/src/kinds/nodes.ts';
import { seededRandom } from '../../../packages/embedded-kubernetes/src/values/random.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import { rawConditionOf } from '../../../src/domain/condition.ts';
import {
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
  valueAt,
} from '../../../src/domain/json.ts';
import type { LocalVolumes } from '../../../src/domain/drain/kept-pods.ts';
import type { Stage } from '../../../src/domain/node-maintenance/stage.ts';
import { headersOf, serveMaintenance } from '../interceptors/connections.ts';
import { simulatedTime } from '../time/simulated-time.ts';

const CRD = new URL(
  '../../../charts/tidegate/files/crds/nodemaintenances.lifecycle.tidegate.dev.yaml',
  import.meta.url,
);
const GROUP_VERSION = 'lifecycle.tidegate.dev/v1alpha1';
const MAINTENANCES = `/apis/${GROUP_VERSION}/nodemaintenances`;
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const HOST = 'kubernetes.io/hostname';
const STEP_MS = 1000;

/** An app whose replicas run on these Nodes only, one on each at first. */
export interface MaintainedApp {
  readonly name: string;
  readonly nodes: readonly string[];
}

const deployment = ({ name, nodes }: MaintainedApp): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'default' },
  spec: {
    replicas: nodes.length,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        terminationGracePeriodSeconds: 1,
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{
                matchExpressions: [{ key: HOST, operator: 'In', values: nodes }],
              }],
            },
          },
        },
        containers: [{ name: 'c', image: 'none', resources: { requests: { cpu: '1' } } }],
      },
    },
  },
});

const budget = ({ name, nodes }: MaintainedApp): object => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace: 'default' },
  spec: { selector: { matchLabels: { app: name } }, minAvailable: nodes.length - 1 },
});

/** A maintenance of one Node; the default stage is Drain. */
export interface MaintainedNode {
  readonly node: string;
  /** The app whose pods leave first. */
  readonly first: string;
  readonly stage?: Stage;
}

const maintenance = (name: string, { node, first, stage = 'Drain' }: MaintainedNode): object => ({
  apiVersion: GROUP_VERSION,
  kind: 'NodeMaintenance',
  metadata: { name },
  spec: {
    stage,
    nodeSelector: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: HOST, operator: 'In', values: [node] }] }],
    },
    drainPlan: [{ podPriority: 0, podSelector: { matchLabels: { app: first } } }],
  },
});

/** The cluster with so many Nodes; the role begins with `serve`. */
export const maintainedCluster = async (nodes: number) => {
  const time = simulatedTime();
  const cluster = makeCluster({ time, seed: 1 });
  const notes: EventNote[] = [];
  const ask = (method: string, path: string, body?: object): JsonRecord => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : undefined;
    const headers = headersOf(type);
    const response = cluster.answer({ method, path, headers, ...(body && { body }) });
    const isDone = response._tag === 'Answer' && response.status < 300;
    if (!isDone) throw new Error(`${method} ${path}: ${JSON.stringify(response)}`);
    return recordAt({ body: response.body }, 'body') ?? {};
  };
  ask(
    'POST',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    parse(readFileSync(CRD, 'utf8')),
  );
  for (let number = 1; number <= nodes; number += 1) {
    ask('POST', '/api/v1/nodes', startNode(number));
  }
  const controllers = startControllers(
    storeEnvironment({ cluster, time, random: seededRandom(1), timing: DEFAULT_TIMING }),
  );
  onTestFinished(() => controllers.stop());
  await time.advance(5000);
  const get = (name: string): JsonRecord => ask('GET', `${MAINTENANCES}/${name}`);
  /** `False Yielding: …` */
  const drained = (name: string): string => {
    const condition = rawConditionOf(get(name), 'Drained');
    const [status, reason, message] = ['status', 'reason', 'message']
      .map((field) => textAt(condition, field) ?? '');
    return `${status} ${reason}: ${message}`;
  };
  const text = (): string => {
    const pods = listOrEmptyAt(ask('GET', '/api/v1/pods'), 'items').map((pod) =>
      `${textAt(pod, 'metadata', 'name') ?? ''}@${textAt(pod, 'spec', 'nodeName') ?? ''}`
    );
    const maintenances = listOrEmptyAt(ask('GET', MAINTENANCES), 'items')
      .map((one) => JSON.stringify(recordAt(one, 'status')));
    return [...pods, ...maintenances].join('\n');
  };
  /** Budgets with fewer healthy pods than they demand. */
  const violated = (): readonly string[] =>
    listOrEmptyAt(ask('GET', BUDGETS), 'items').filter((one) =>
      (numberAt(one, 'status', 'currentHealthy') ?? 0) <
        (numberAt(one, 'status', 'desiredHealthy') ?? 0)
    ).map((one) => textAt(one, 'metadata', 'name') ?? '');
  return {
    time,
    notes,
    drained,
    /** The apps run, one after another on each of their Nodes, and their budgets know it. */
    run: async (apps: readonly MaintainedApp[]): Promise<void> => {
      for (const app of apps) {
        ask('POST', '/apis/apps/v1/namespaces/default/deployments', deployment(app));
        ask('POST', BUDGETS, budget(app));
        await time.advance(20_000);
      }
    },
    maintain: (name: string, of: MaintainedNode): void =>
      void ask('POST', MAINTENANCES, maintenance(name, of)),
    setStage: (name: string, stage: Stage): void =>
      void ask('PATCH', `${MAINTENANCES}/${name}`, { spec: { stage } }),
    ask,
    /** Starts the role, with `--local-volumes`. */
    serve: (localVolumes: LocalVolumes = 'evict'): void => {
      const record = (note: EventNote): void => void notes.push(note);
      onTestFinished(serveMaintenance(cluster.handle, time, { record, localVolumes }));
    },
    /** `node-1 Yielding` for each Node of the maintenance. */
    states: (name: string): readonly string[] =>
      listOrEmptyAt(get(name), 'status', 'nodeStatuses').map((one) =>
        `${textAt(one, 'nodeRef', 'name') ?? ''} ${textAt(one, 'state') ?? ''}`
      ),
    isCordoned: (node: string): boolean =>
      valueAt(ask('GET', `/api/v1/nodes/${node}`), 'spec', 'unschedulable') === true,
    /** Advances time until something holds, second by second; no budget is violated meanwhile. */
    until: async (holds: () => boolean, what: string, atMostMs = 600_000): Promise<void> => {
      for (let waitedMs = 0; waitedMs < atMostMs; waitedMs += STEP_MS) {
        const broken = violated();
        if (broken.length > 0) throw new Error(`Violated: ${broken.join(', ')}`);
        if (holds()) return;
        await time.advance(STEP_MS);
      }
      throw new Error(`Not in ${atMostMs} ms: ${what}\n${text()}`);
    },
  };
};
