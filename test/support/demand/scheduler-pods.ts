/**
 * Pods from a seed, for asking the real scheduler: what they request, and where they may go.
 *
 * Promises: every pod is one that the API server takes; the same seed gives the same pods.
 */
import fc from 'fast-check';
import type { JsonRecord } from '../../../src/domain/json.ts';

/** A RuntimeClass with an overhead; pods that name it get it from the API server. */
const SANDBOXED = 'sandboxed';

/** Its manifest. */
export const sandboxedClass: JsonRecord = {
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name: SANDBOXED },
  handler: 'sandbox',
  overhead: { podFixed: { cpu: '130m', memory: '70Mi' } },
};

const cpus = fc.constantFrom('1m', '100m', '250m', '0.5', '1', '1500m', '0.0015', '2');
const memories = fc.constantFrom('1', '128Mi', '1G', '1500m', '64Mi', '500k', '1.5Gi', '2Gi');
const disks = fc.constantFrom('1Gi', '200M');
const devices = fc.constantFrom('1', '2', '3');

/** What may be requested without a limit. */
const requests = fc.record(
  { cpu: cpus, memory: memories, 'ephemeral-storage': disks },
  { requiredKeys: [] },
);
/** Extended resources are not overcommitted: their limit is their request. */
const extended = fc.record({ 'example.com/device': devices }, { requiredKeys: [] });

const resources = fc.oneof(
  { weight: 3, arbitrary: fc.record({ requests, limits: extended }) },
  // The API server takes limits for requests where there are none.
  { weight: 1, arbitrary: fc.record({ limits: requests }) },
  { weight: 1, arbitrary: fc.constant({}) },
);

const container = fc.record({ resources });
const initContainer = fc.record({
  resources,
  restartPolicy: fc.constantFrom(undefined, undefined, 'Always'),
});

/** Above the requests of all containers of one pod, as the API server requires. */
const podLevel = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  {
    weight: 1,
    arbitrary: fc.record({
      requests: fc.record(
        { cpu: fc.constantFrom('31', '40500m'), memory: fc.constantFrom('31Gi', '40G') },
        { requiredKeys: [] },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ limits: { cpu: '33', memory: '41G' } }) },
);

const named = (containers: readonly object[], prefix: string): readonly object[] =>
  containers.map((one, index) => ({ name: `${prefix}-${index}`, image: 'image', ...one }));

const hungryPods = fc.record({
  containers: fc.array(container, { minLength: 1, maxLength: 3 }),
  initContainers: fc.array(initContainer, { maxLength: 4 }),
  sandboxed: fc.boolean(),
  resources: podLevel,
}).map(({ containers, initContainers, sandboxed, resources: podResources }): JsonRecord => ({
  containers: named(containers, 'main'),
  initContainers: named(initContainers, 'init'),
  ...(sandboxed ? { runtimeClassName: SANDBOXED } : {}),
  ...(podResources === undefined ? {} : { resources: podResources }),
}));

/** The label that every machine of the fleet has. */
const INSTANCE_TYPE = 'node.kubernetes.io/instance-type';

const zones = fc.constantFrom('a', 'b', 'c');
const tiers = fc.constantFrom('1', '2');

/** Label sets of nodes; each is of some instance type. */
const nodeLabels = fc.record({
  [INSTANCE_TYPE]: fc.constantFrom('small', 'large'),
  zone: zones,
  tier: tiers,
  'example.com/local-ssd': fc.constant(''),
}, { requiredKeys: [INSTANCE_TYPE] });

const keys = fc.constantFrom('zone', 'tier', 'example.com/local-ssd', INSTANCE_TYPE);
const values = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', '1', '2', '', 'small'), {
  minLength: 1,
  maxLength: 3,
});
const expressions = fc.oneof(
  fc.record({ key: keys, operator: fc.constantFrom('In', 'NotIn'), values }),
  fc.record({ key: keys, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
);

/** A pod's own terms: a node selector and the expressions of one required affinity term. */
export interface NodeTerms {
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly expressions: readonly object[];
}

const nodeTerms: fc.Arbitrary<NodeTerms> = fc.record({
  nodeSelector: fc.record({ zone: zones, tier: tiers }, { requiredKeys: [] }),
  expressions: fc.array(expressions, { maxLength: 3 }),
});

/** Specs of pods that use every part of the scheduler's arithmetic. */
export const podsThatAsk = (count: number, seed: number): readonly JsonRecord[] =>
  fc.sample(hungryPods, { numRuns: count, seed });

/** Labels of nodes. */
export const labelledNodes = (
  count: number,
  seed: number,
): readonly Readonly<Record<string, string>>[] => fc.sample(nodeLabels, { numRuns: count, seed });

/** Terms of pods. */
export const podsThatChoose = (count: number, seed: number): readonly NodeTerms[] =>
  fc.sample(nodeTerms, { numRuns: count, seed });

/** `spec.affinity` for one required term; none when the term would be empty. */
export const affinityOf = (term: {
  readonly matchExpressions?: readonly object[];
  readonly matchFields?: readonly object[];
}): JsonRecord => {
  const parts = Object.values(term).flat();
  if (parts.length === 0) return {};
  const required = { nodeSelectorTerms: [term] };
  return {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
  };
};
