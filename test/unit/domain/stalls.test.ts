/**
 * Objects that are as large as the API server stores them are not read to their end. Causes: every
 * ending of a Node's providerID was indexed, however many it had; the resources of a pod were added
 * up without a bound, and copied for each container; all entries of its selectors were read.
 */
import { expect, test } from 'vitest';
import { projectNode } from '../../../src/domain/cluster-node.ts';
import { readCapacityRequest } from '../../../src/domain/demand/reading.ts';
import { REQUEST_LIMITS } from '../../../src/domain/demand/request-limits.ts';
import { nodeMatching } from '../../../src/domain/node-matching.ts';
import { projectPodDemand } from '../../../src/domain/pod-demand/pod-demand.ts';
import { podResources } from '../../../src/domain/pod-demand/pod-resources.ts';
import { countedEntries, countedInput } from '../../support/reads.ts';

/** The most is 101,824, of the 300,000 values of node affinity. */
const READS_MAX = 110_000;

const resources = (from: number, count: number): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`a.example/${from + index}`, '1'] as const),
  );

test('a Node whose providerID has 50,000 parts matches no machine, and is not indexed', () => {
  const node = projectNode({
    metadata: { name: 'n', uid: 'uid', resourceVersion: '1' },
    spec: { providerID: `a://${'b/'.repeat(50_000)}host-1` },
  });
  if (node === undefined) return expect.fail('the Node has no identity');
  const machine = { machineId: 'm', providerId: 'host-1', nodeName: '' };
  const entries = countedEntries();
  const matching = nodeMatching();
  matching.putMachine(machine);
  matching.putNode(node);
  expect(matching.resolve(machine)).toBeUndefined();
  expect(entries()).toBeLessThan(20);
});

test.each([
  ['container with 32,000 resources', {
    containers: [{ resources: { requests: resources(0, 32_000) } }],
  }],
  ['overhead of 32,000 resources', { containers: [], overhead: resources(0, 32_000) }],
  ['resource of its own in each of 5,000 containers', {
    containers: Array.from({ length: 5000 }, (_, index) => ({
      name: `c${index}`,
      resources: { requests: resources(index, 1) },
    })),
  }],
])('a pod with a %s has too many for a request, and is not read to its end', (_, spec) => {
  const { input, reads } = countedInput({ spec });
  const found = Object.keys(podResources(input)).length;
  expect(found).toBeGreaterThan(REQUEST_LIMITS.resources);
  expect(found).toBeLessThan(3 * REQUEST_LIMITS.resources);
  expect(reads()).toBeLessThan(READS_MAX);
});

const podWith = (spec: object) =>
  projectPodDemand({
    metadata: { name: 'a', namespace: 'ns', uid: 'uid', resourceVersion: '1' },
    spec: { containers: [], ...spec },
  });

const expression = (index: number) => ({
  key: `k${index}`,
  operator: 'In',
  values: Array.from({ length: 1000 }, (_, value) => `${value}`),
});

test.each([
  ['nodeSelector', { nodeSelector: resources(0, 100_000) }],
  ['node affinity', {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{
            matchExpressions: Array.from({ length: 300 }, (_, index) => expression(index)),
          }],
        },
      },
    },
  }],
  ['pod affinity', {
    affinity: {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{
          topologyKey: 'rack',
          labelSelector: { matchLabels: resources(0, 100_000) },
        }],
      },
    },
  }],
  ['spread', {
    topologySpreadConstraints: Array.from({ length: 20_000 }, (_, index) => ({
      topologyKey: `k${index}`,
      maxSkew: 1,
      whenUnsatisfiable: 'DoNotSchedule',
    })),
  }],
])(
  'a pod with an enormous %s is too large for a request, and is not read to its end',
  (_, spec) => {
    const { input, reads } = countedInput(spec);
    const ask = podWith(input)?.ask;
    if (ask === undefined || ask === null) return expect.fail('the pod asks for nothing');
    const { requirements, coLocation, topologySpread } = ask;
    const request = {
      spec: {
        priority: 0,
        resources: {},
        requirements,
        topologySpread,
        ...(coLocation === null ? {} : { coLocation }),
      },
    };
    expect(readCapacityRequest(request)).toMatchObject({ _tag: 'Unreadable', tooLarge: true });
    expect(reads()).toBeLessThan(READS_MAX);
  },
);
