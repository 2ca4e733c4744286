/** The objects of a simulated workload, as its owner would write them. */
import type { JsonRecord } from '../../src/domain/json.ts';
import { INTERCEPTORS_ANNOTATION } from '../../src/domain/eviction-requests/interceptor-list.ts';
import { STOPS_AFTER } from '../../packages/embedded-kubernetes/src/controllers/kubelets.ts';
import { WORKLOADS } from './embedded-site.ts';
import type { AppPlan, BudgetPlan } from './world-plan.ts';

const COLLECTIONS = {
  Deployment: 'deployments',
  ReplicaSet: 'replicasets',
  StatefulSet: 'statefulsets',
} as const;

/** The API path of a workload. */
export const workloadPath = ({ kind }: AppPlan, name?: string): string =>
  `/apis/apps/v1/namespaces/${WORKLOADS}/${COLLECTIONS[kind]}${
    name === undefined ? '' : `/${name}`
  }`;

/** The API path of budgets. */
export const budgetPath = (name?: string): string =>
  `/apis/policy/v1/namespaces/${WORKLOADS}/poddisruptionbudgets${
    name === undefined ? '' : `/${name}`
  }`;

/** The workload. */
export const workloadObject = (app: AppPlan): JsonRecord => ({
  apiVersion: 'apps/v1',
  kind: app.kind,
  metadata: { name: app.name, namespace: WORKLOADS },
  spec: {
    replicas: app.replicas,
    selector: { matchLabels: { app: app.name } },
    ...(app.kind === 'StatefulSet' ? { serviceName: app.name } : {}),
    template: {
      metadata: {
        labels: { app: app.name },
        annotations: {
          ...(app.stops === 'never' ? { [STOPS_AFTER]: 'never' } : {}),
          ...(app.interceptors.length === 0
            ? {}
            : { [INTERCEPTORS_ANNOTATION]: app.interceptors.join(',') }),
        },
      },
      spec: {
        terminationGracePeriodSeconds: app.graceSeconds,
        ...(app.priority === 0 ? {} : { priorityClassName: `important-${app.priority}` }),
        containers: [{
          name: 'main',
          image: 'registry.example/app:1',
          resources: { requests: { cpu: app.cpu, memory: '128Mi' } },
        }],
      },
    },
  },
});

/** Its budget. */
export const budgetObject = (name: string, plan: BudgetPlan): JsonRecord => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace: WORKLOADS },
  spec: {
    selector: { matchLabels: { app: name } },
    [plan.field]: plan.amount,
    ...(plan.alwaysAllow ? { unhealthyPodEvictionPolicy: 'AlwaysAllow' } : {}),
  },
});

/** A class of important pods. */
export const priorityClass = (value: number): JsonRecord => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: `important-${value}` },
  value,
});

/** A request for one machine of the common kind. */
export const machineRequest = (number: number): JsonRecord => ({
  apiVersion: 'bigfleet.lucy.sh/v1alpha1',
  kind: 'CapacityRequest',
  metadata: { name: `machine-${number}`, namespace: WORKLOADS },
  spec: {
    requirements: [
      { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['standard-8'] },
    ],
    resources: { cpu: '8', memory: '32Gi' },
    priority: 1000,
  },
});
