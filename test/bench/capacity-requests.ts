/**
 * Seeded CapacityRequests of a large cluster as the API server serves them: two thousand workloads,
 * each with pods of one size.
 */
import { nextSeed, type Seed, unitInterval } from '../../src/domain/random.ts';
import type { JsonRecord } from '../../src/domain/json.ts';

const WORKLOADS = 2_000;
const NAMESPACES = 100;

/** Draws one after another from a seed. */
export interface Draws {
  /** A whole number below `limit`. */
  readonly below: (limit: number) => number;
  readonly one: <T>(of: readonly [T, ...T[]]) => T;
}

/** Draws that are the same for the same seed. */
export const drawsFrom = (first: Seed): Draws => {
  let seed = first;
  const below = (limit: number): number => {
    seed = nextSeed(seed);
    return Math.floor(unitInterval(seed) * limit);
  };
  return { below, one: (of) => of[below(of.length)] ?? of[0] };
};

const requirement = (key: string, operator: string, values: readonly string[]): JsonRecord => ({
  key,
  operator,
  ...(values.length === 0 ? {} : { values }),
});

const requirementsOf = ({ below, one }: Draws): readonly JsonRecord[] => [
  requirement('kubernetes.io/arch', 'In', [one(['amd64', 'arm64'])]),
  ...(below(2) === 0
    ? [requirement('topology.kubernetes.io/zone', 'In', [`zone-${below(6)}`, `zone-${below(6)}`])]
    : []),
  ...(below(5) === 0 ? [requirement('example.com/local-ssd', 'Exists', [])] : []),
  ...(below(5) === 0 ? [requirement('example.com/family', 'NotIn', ['burstable'])] : []),
];

const resourcesOf = ({ one, below }: Draws): JsonRecord => ({
  cpu: one(['100m', '250m', '500m', '1', '1500m', '2', '4', '8']),
  memory: one(['128Mi', '256Mi', '512Mi', '1Gi', '1536Mi', '2Gi', '4Gi', '16Gi', '500M']),
  ...(below(20) === 0 ? { 'nvidia.com/gpu': '1' } : {}),
});

/** The spec shared by all pods of a workload. */
const specOf = (draws: Draws, workload: number): JsonRecord => ({
  requirements: requirementsOf(draws),
  resources: resourcesOf(draws),
  priority: draws.one([0, 0, 0, 100, 1000, -10]),
  ...(draws.below(4) === 0
    ? {
      topologySpread: [{
        topologyKey: 'topology.kubernetes.io/zone',
        maxSkew: 1,
        whenUnsatisfiable: 'DoNotSchedule',
      }],
    }
    : {}),
  ...(draws.below(10) === 0
    ? {
      coLocation: {
        topologyKey: 'example.com/rack',
        labelSelector: { matchLabels: { app: `app-${workload}` } },
      },
    }
    : {}),
  ...(draws.below(2) === 0
    ? { interruptionPenalty: draws.one(['0', '500m', '3', '120', '8k']) }
    : {}),
  ...(draws.below(4) === 0 ? { reclamationPenalty: draws.one(['1', '50', '700']) } : {}),
});

/** `count` requests, each of them as parsed from the API server's JSON. */
export const makeRequests = (count: number, seed: Seed): readonly JsonRecord[] => {
  const draws = drawsFrom(seed);
  const specs = Array.from({ length: WORKLOADS }, (_, workload) => specOf(draws, workload));
  return Array.from({ length: count }, (_, index) => {
    const workload = draws.below(WORKLOADS);
    return {
      apiVersion: 'bigfleet.lucy.sh/v1alpha1',
      kind: 'CapacityRequest',
      metadata: {
        name: `app-${workload}-${index}`,
        namespace: `team-${workload % NAMESPACES}`,
        uid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
        resourceVersion: String(1000 + index),
        creationTimestamp: '2026-01-01T00:00:00Z',
        labels: { app: `app-${workload}`, 'app.kubernetes.io/managed-by': 'capacity-requests' },
      },
      // Every object has its own strings and lists, as if parsed from JSON.
      spec: structuredClone(specs[workload] ?? {}),
      status: { phase: 'Acknowledged', acknowledgedAt: '2026-01-01T00:00:10Z' },
    };
  });
};

/** The request with another amount. */
export const changedRequest = (request: JsonRecord, draws: Draws): JsonRecord => {
  const { spec, metadata } = request;
  const resourceVersion = String(1_000_000 + draws.below(1_000_000_000));
  return {
    ...request,
    metadata: { ...Object(metadata), resourceVersion: resourceVersion },
    spec: { ...Object(spec), resources: resourcesOf(draws) },
  };
};
