/**
 * Seeded pods with an in-place resize: requested, allocated and actual resources, and feasibility.
 */
import fc from 'fast-check';
import type { JsonRecord } from '../../../src/domain/json.ts';

/** A bound pod with its kubelet's status. */
export interface ResizedPod {
  readonly spec: JsonRecord;
  readonly status: JsonRecord;
}

const cpus = fc.constantFrom('100m', '500m', '1', '1500m', '2');
const memories = fc.constantFrom('128Mi', '1Gi', '1500M', '2Gi');
const amounts = fc.record({ cpu: cpus, memory: memories });

const container = fc.record({
  asked: amounts,
  given: fc.option(amounts, { nil: undefined }),
  has: fc.option(amounts, { nil: undefined }),
});
type Container = typeof container extends fc.Arbitrary<infer Value> ? Value : never;

const pod = fc.record({
  containers: fc.array(container, { minLength: 1, maxLength: 2 }),
  sidecars: fc.array(container, { maxLength: 1 }),
  isInfeasible: fc.boolean(),
});

const specOf = (prefix: string, more: JsonRecord = {}) => ({ asked }: Container, at: number) => ({
  name: `${prefix}-${at}`,
  image: 'image',
  resources: { requests: asked },
  ...more,
});

const statusOf = (prefix: string) => ({ given, has }: Container, at: number) => ({
  name: `${prefix}-${at}`,
  image: 'image',
  imageID: '',
  ready: true,
  restartCount: 0,
  state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
  ...(given === undefined ? {} : { allocatedResources: given }),
  ...(has === undefined ? {} : { resources: { requests: has } }),
});

const PENDING = { type: 'PodResizePending', status: 'True', reason: 'Infeasible' };

const resized = pod.map(({ containers, sidecars, isInfeasible }): ResizedPod => ({
  spec: {
    containers: containers.map(specOf('main')),
    initContainers: sidecars.map(specOf('sidecar', { restartPolicy: 'Always' })),
  },
  status: {
    phase: 'Running',
    conditions: isInfeasible ? [PENDING] : [],
    containerStatuses: containers.map(statusOf('main')),
    initContainerStatuses: sidecars.map(statusOf('sidecar')),
  },
}));

/** So many of them. */
export const resizedPods = (count: number, seed: number): readonly ResizedPod[] =>
  fc.sample(resized, { numRuns: count, seed });
