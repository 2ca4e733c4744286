/** Scenarios of a demo and their steps. */
import type { DemoScene } from '../../view/demo-scene.ts';
import type { DemoSite } from './demo-site.ts';

/** One step. */
export interface DemoStep {
  /** The actor and the action; a command where there is one. */
  readonly announcement: readonly [who: string, what: string];
  readonly act: (site: DemoSite, scene: DemoScene) => void | Promise<void>;
  readonly waitsFor: string;
  readonly until: (scene: DemoScene) => boolean;
  /** The minimum duration, so that a person can look around. */
  readonly lastsMs?: number;
}

/** A scenario. */
export interface DemoScenario {
  readonly title: string;
  readonly about: string;
  readonly steps: readonly DemoStep[];
  /** The operator's roles, and further flags of it. */
  readonly operatorFlags: readonly string[];
  /** The conclusion, printed at the end. */
  readonly conclusion: string;
}

/** Pods become demand, and machines of a fleet take them. */
export const FOR_A_FLEET = ['--roles=fleet', '--with-pods'] as const;

/** The collection of Deployments. */
export const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const STATEFUL_SETS = '/apis/apps/v1/namespaces/default/statefulsets';
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
/** The collection of Nodes. */
export const NODES_PATH = '/api/v1/nodes';
/** Of a node without a fleet. */
const ROOM = { cpu: '16', memory: '64Gi', pods: '110' };
/** By CPU at most eight fit on a machine of the fleet; memory is never short. */
const REQUESTS = { cpu: '4', memory: '4Gi' };

const workload = (
  name: string,
  replicas: number,
  { kind = 'Deployment', annotations = {} }: {
    readonly kind?: 'Deployment' | 'StatefulSet';
    readonly annotations?: Readonly<Record<string, string>>;
  },
): object => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name },
  spec: {
    replicas,
    ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name }, annotations },
      spec: {
        containers: [{
          name: 'main',
          image: `registry.example.com/${name}`,
          resources: { requests: REQUESTS },
        }],
      },
    },
  },
});

/** A budget of the pods of a Deployment. */
export const budget = (name: string, maxUnavailable: number): object => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name },
  spec: { maxUnavailable, selector: { matchLabels: { app: name } } },
});

/** All pods run, and every machine is at rest. */
export const allRun =
  (pods: number) => ({ pods: { running, all }, machines }: DemoScene): boolean =>
    running === pods && all === pods &&
    machines.every(({ phase }) => phase === 'Ready' || phase === 'Drained' || phase === 'Failed');

/** A Deployment is created, after its budgets. */
export const create = (
  name: string,
  replicas: number,
  { budgets = [], annotations = {} }: {
    readonly budgets?: readonly object[];
    readonly annotations?: Readonly<Record<string, string>>;
  } = {},
): DemoStep => ({
  announcement: ['you', `kubectl create deployment ${name} --replicas=${replicas}, 4 CPU a pod`],
  act: async ({ ask }) => {
    for (const one of budgets) await ask('POST', BUDGETS, one);
    await ask('POST', DEPLOYMENTS, workload(name, replicas, { annotations }));
  },
  waitsFor: `${replicas} pods to run on new machines`,
  until: allRun(replicas),
});

/** A StatefulSet is created. */
export const createStateful = (
  name: string,
  replicas: number,
  until: DemoStep['until'],
): DemoStep => ({
  announcement: ['you', `kubectl apply: StatefulSet ${name} with ${replicas} replicas`],
  act: ({ ask }) => ask('POST', STATEFUL_SETS, workload(name, replicas, { kind: 'StatefulSet' })),
  waitsFor: 'its pods to run',
  until,
});

/** The name of a node without a fleet. */
export const nodeName = (number: number): string => `node-${String(number).padStart(2, '0')}`;

/** Nodes that no fleet made join. */
export const joinNodes = (
  count: number,
  labels: Readonly<Record<string, string>> = {},
): DemoStep => ({
  announcement: ['you', `join ${count} nodes with 16 CPU each`],
  act: async ({ ask }) => {
    for (let number = 1; number <= count; number += 1) {
      const name = nodeName(number);
      await ask('POST', NODES_PATH, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
        status: { capacity: ROOM, allocatable: ROOM },
      });
    }
  },
  waitsFor: `${count} nodes`,
  until: ({ machines }) => machines.length === count,
});
