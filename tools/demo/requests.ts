/** What the demo asks for: fifty CapacityRequests of three workloads. */

/** A workload of the demo: so many equal requests. */
export interface Workload {
  readonly name: string;
  readonly count: number;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Three workloads that need different machines. */
export const WORKLOADS: readonly Workload[] = [
  {
    name: 'web',
    count: 30,
    spec: {
      priority: 1000,
      resources: { cpu: '1500m', memory: '3Gi' },
      interruptionPenalty: '0.5',
    },
  },
  {
    name: 'batch',
    count: 16,
    spec: {
      priority: 0,
      resources: { cpu: '7', memory: '12Gi' },
      requirements: [{
        key: 'topology.kubernetes.io/zone',
        operator: 'In',
        values: ['zone-a', 'zone-b'],
      }],
    },
  },
  {
    name: 'cache',
    count: 4,
    spec: {
      priority: 5000,
      resources: { cpu: '4', memory: '20Gi' },
      interruptionPenalty: '16',
      reclamationPenalty: '2',
      coLocation: {
        topologyKey: 'topology.kubernetes.io/zone',
        labelSelector: { matchLabels: { app: 'cache' } },
      },
    },
  },
];

/** How many requests there are. */
export const REQUESTS_TOTAL = WORKLOADS.reduce((sum, { count }) => sum + count, 0);

/** All of them as one manifest. */
export const requestManifests = (): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'List',
    items: WORKLOADS.flatMap(({ name, count, spec }) =>
      Array.from({ length: count }, (_, index) => ({
        apiVersion: 'bigfleet.lucy.sh/v1alpha1',
        kind: 'CapacityRequest',
        metadata: { name: `${name}-${index + 1}`, namespace: 'default' },
        spec,
      }))
    ),
  });
