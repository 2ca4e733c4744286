/** The spec and the name of a pod's CapacityRequest. */
import { Schema } from 'effect';
import { describe, expect, test } from 'vitest';
import { CapacityRequestSpec } from '../../../../src/api/capacity-request.ts';
import { readCapacityRequest } from '../../../../src/domain/demand/reading.ts';
import { isSubdomain } from '../../../../src/domain/names.ts';
import { NO_DEFAULTS, type PenaltyDefaults } from '../../../../src/domain/pod-demand/penalties.ts';
import {
  type PodDemand,
  podDemandProjector,
  projectPodDemand,
} from '../../../../src/domain/pod-demand/pod-demand.ts';
import {
  requestName,
  requestOfPod,
  requestTexts,
} from '../../../../src/domain/pod-demand/pod-request.ts';
import { requestText } from '../../../../src/domain/pod-demand/request-text.ts';
import {
  POD_DEMAND_CASES,
  type PodDemandCase,
  podOf,
} from '../../../support/demand/pod-demand-cases.ts';

const UID = '5ee46a0c-5c1f-4a5e-9f0e-2f6a1c9d7b10';

/** As the API server would return it. */
const served = (pod: object, name: string): object => ({
  ...pod,
  metadata: {
    ...('metadata' in pod ? Object(pod.metadata) : {}),
    name,
    uid: UID,
    resourceVersion: '1',
  },
});

const projected = (row: PodDemandCase): PodDemand => {
  const pod = projectPodDemand(served(podOf(row, 'pod'), 'pod'));
  if (pod === undefined) throw new Error('No projection');
  return pod;
};
const defaultsOf = (row: PodDemandCase): PenaltyDefaults =>
  new Map(Object.entries(row.defaults ?? {}));
const requestFor = (row: PodDemandCase) => requestOfPod(projected(row), defaultsOf(row));

describe('The request of a pod', () => {
  test.each(POD_DEMAND_CASES.map((row) => [row.title, row] as const))('%s', (_title, row) => {
    const { status } = projected(row);
    const request = requestFor(row);
    expect(status).toBe(row.none ?? 'Wanted');
    expect(request?.warnings.map(({ field }) => field) ?? []).toEqual(row.warned ?? []);
    if (row.none !== undefined) return expect(request).toBeUndefined();
    const spec = new Map(Object.entries(request?.spec ?? {}));
    for (const [field, value] of Object.entries(row.expected ?? {})) {
      expect(spec.get(field) ?? null, field).toEqual(value);
    }
  });

  test('has at least 60 rules, each with its sentence', () => {
    expect(POD_DEMAND_CASES.length).toBeGreaterThanOrEqual(60);
    expect(POD_DEMAND_CASES.filter(({ sentence }) => sentence === '')).toEqual([]);
    expect(new Set(POD_DEMAND_CASES.map(({ title }) => title)).size).toBe(POD_DEMAND_CASES.length);
  });

  test('is accepted by the CRD and readable by the operator, for any pod', () => {
    for (const row of POD_DEMAND_CASES) {
      const request = requestFor(row);
      if (request === undefined) continue;
      const object = { metadata: { namespace: 'default' }, spec: request.spec };
      expect(Schema.is(CapacityRequestSpec)(request.spec), row.title).toBe(true);
      expect(readCapacityRequest(object)._tag, row.title).toBe('Readable');
    }
  });

  test('is stable for a pod, and shared by pods of one workload', () => {
    const project = podDemandProjector();
    const texts = requestTexts(NO_DEFAULTS);
    const [row] = POD_DEMAND_CASES;
    if (row === undefined) throw new Error('No case');
    const asks = ['pod-1', 'pod-2'].map((name) => project(served(podOf(row, name), name))?.ask);
    const [first, second] = asks;
    expect(first).toBe(second);
    if (first === null || first === undefined) throw new Error('No demand');
    expect(texts(first)).toBe(requestText(requestFor(row)?.spec));
  });

  test('is read from any JSON without an exception', () => {
    const odd = [{}, { spec: 1 }, {
      spec: {
        nodeSelector: [1],
        containers: {},
        initContainers: [null, 3, { resources: { requests: { cpu: 'x', memory: {} } } }],
        affinity: {
          nodeAffinity: 7,
          podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [4] },
        },
        topologySpreadConstraints: [{}],
      },
    }];
    for (const pod of odd) {
      const request = projectPodDemand(served(pod, 'odd'));
      expect(request?.status).toBe('Wanted');
    }
    expect(projectPodDemand(undefined)).toBeUndefined();
  });
});

describe('The name of a request', () => {
  const longest = 'a'.repeat(253);
  test.each([
    ['of a pod is made of its name and UID', 'web-1', `cr-pod-web-1-${UID}`],
    ['of a long name is cut to 200', longest, `cr-pod-${'a'.repeat(200)}-${UID}`],
    [
      'never ends its cut with a dot or a dash',
      `${'b'.repeat(197)}.-.c`,
      `cr-pod-${'b'.repeat(197)}-${UID}`,
    ],
    ['keeps dots within', 'a.b-c', `cr-pod-a.b-c-${UID}`],
  ])('%s', (_title, pod, expected) => {
    expect(requestName(pod, UID)).toBe(expected);
    expect(isSubdomain(requestName(pod, UID))).toBe(true);
  });
});
