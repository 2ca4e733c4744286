/** The objects of a monitored run: workloads, each of which leaves its nodes in another way. */
import type { JsonRecord } from '../../../src/domain/json.ts';
import { INTERCEPTORS_ANNOTATION } from '../../../src/domain/eviction-requests/interceptor-list.ts';
import { SERVING_GATE } from '../../../src/domain/drain/serving-gate.ts';

/**
 * Of each pod. The fleet orders machines until their sum covers the demand. With 4Gi beside 2 CPUs
 * a machine of 32 CPUs and 32Gi was among them, and the sum had room for pods that no node has;
 * with this, machines of 4Gi for each CPU cost less and hold all that their sum covers.
 */
const MEMORY = '8Gi';

/** A Deployment, and what its pods are beside their resources. */
interface Workload {
  readonly name: string;
  readonly replicas: number;
  readonly cpu: string;
  readonly strategy?: JsonRecord;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly readinessGates?: readonly JsonRecord[];
}

const deployment = (
  { name, replicas, cpu, strategy = {}, annotations = {}, readinessGates = [] }: Workload,
): JsonRecord => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas,
    strategy,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name }, annotations },
      spec: {
        readinessGates,
        containers: [{ name, image: name, resources: { requests: { cpu, memory: MEMORY } } }],
      },
    },
  },
});

/** Fills the node that the cluster has from the start, and is lost with it. */
export const CACHE = { name: 'cache', replicas: 2 };
/** Leaves behind a tight budget, and by its readiness gates. */
export const WEB = { name: 'web', replicas: 12 };
/** Has no replacement beside it, so that it stays until somebody accepts the downtime. */
export const BILLING = { name: 'billing', replicas: 1 };

/** Their Deployments, in the order in which they are to be made. */
export const DEPLOYMENTS: readonly JsonRecord[] = [
  deployment({ ...CACHE, cpu: '4' }),
  deployment({ ...WEB, cpu: '2', readinessGates: [{ conditionType: SERVING_GATE }] }),
  deployment({
    ...BILLING,
    cpu: '2',
    strategy: { type: 'Recreate' },
    annotations: { [INTERCEPTORS_ANNOTATION]: 'surge.tidegate.dev' },
  }),
];

export const BUDGET: JsonRecord = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: WEB.name },
  spec: { maxUnavailable: 1, selector: { matchLabels: { app: WEB.name } } },
};

/** Demand that is no pod's. */
export const REQUEST: JsonRecord = {
  apiVersion: 'bigfleet.lucy.sh/v1alpha1',
  kind: 'CapacityRequest',
  metadata: { name: 'reserve' },
  spec: { resources: { cpu: '1' }, priority: 0 },
};

/** A maintenance of one node, by its name. */
export const maintenanceOf = (node: string): JsonRecord => ({
  apiVersion: 'lifecycle.tidegate.dev/v1alpha1',
  kind: 'NodeMaintenance',
  metadata: { name: 'kernel' },
  spec: {
    nodeSelector: {
      nodeSelectorTerms: [{
        matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }],
      }],
    },
    stage: 'Drain',
    reason: 'New kernel',
  },
});
