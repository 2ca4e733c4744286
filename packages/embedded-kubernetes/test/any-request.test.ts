/** Whatever is sent, the embedded cluster answers: it never throws, and refuses without a trace. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asRecord, type JsonRecord, parseJson } from '../src/values/json.ts';
import { simulatedTime } from '../src/values/simulated-time.ts';
import type { ClusterRequest } from '../src/api.ts';
import { type Cluster, makeCluster } from '../src/cluster.ts';
import { apiVersionOf, type Kind } from '../src/kinds/kind.ts';
import { anything, objectOf } from './kubernetes-objects.ts';
import { WIDGETS } from './widgets.ts';

const RUNS = 2000;

const setUp = (): Cluster => {
  const cluster = makeCluster({ time: simulatedTime(), seed: 1 });
  cluster.answer({
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    body: WIDGETS,
  });
  return cluster;
};

const pathOf = ({ group, version, plural, namespaced }: Kind): string =>
  `${group === '' ? `/api/${version}` : `/apis/${group}/${version}`}${
    namespaced ? '/namespaces/default' : ''
  }/${plural}`;

const TEMPLATE = {
  metadata: { labels: { a: 'b' } },
  spec: { containers: [{ name: 'main', image: 'none' }] },
};
const WORKLOAD = { selector: { matchLabels: { a: 'b' } }, template: TEMPLATE };

/** Minimal valid specs of the kinds. */
const SPECS: Readonly<Record<string, JsonRecord>> = {
  pods: TEMPLATE.spec,
  services: { ports: [{ port: 80 }] },
  deployments: WORKLOAD,
  replicasets: WORKLOAD,
  statefulsets: WORKLOAD,
  daemonsets: WORKLOAD,
  widgets: { size: 1, parts: { a: '1' } },
};

/** Makes sure that there is an `a` to write over, and no `b`. */
const furnish = ({ answer }: Cluster, kind: Kind): void => {
  const spec = SPECS[kind.plural];
  const type = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  const body = { ...type, metadata: { name: 'a' }, ...(spec === undefined ? {} : { spec }) };
  answer({ method: 'POST', path: pathOf(kind), body });
  answer({ method: 'DELETE', path: `${pathOf(kind)}/b?gracePeriodSeconds=0` });
};

const pointer = fc.constantFrom('/spec', '/metadata/labels', '/metadata/labels/a', '/spec/x/0', '');
const operation = fc.record({
  op: fc.constantFrom('add', 'remove', 'replace', 'test', 'copy', 'move', 'mend'),
  path: pointer,
  from: pointer,
  value: anything,
});

const QUERIES = ['', '?dryRun=All', '?fieldValidation=Strict', '?limit=1', '?labelSelector=a,b'];
const JSON_TYPE = 'application/json';

interface Sent {
  readonly method: string;
  readonly suffix: string;
  readonly type: string;
  readonly body: unknown;
}

const sent = (
  method: string,
  suffixes: readonly [string, ...string[]],
  [type, body]: readonly [string, fc.Arbitrary<unknown>],
): fc.Arbitrary<Sent> =>
  fc.record({
    method: fc.constant(method),
    suffix: fc.constantFrom(...suffixes),
    type: fc.constant(type),
    body,
  });

const requestTo = (kind: Kind): fc.Arbitrary<ClusterRequest> => {
  const object = objectOf(kind, 'a');
  const parts = ['/a', '/a/status', '/a/scale'] as const;
  const requests = fc.oneof(
    sent('POST', [''], [JSON_TYPE, objectOf(kind, 'b')]),
    sent('POST', ['/a/eviction', '/a/binding'], [JSON_TYPE, object]),
    sent('PUT', parts, [JSON_TYPE, object]),
    sent('PATCH', parts, ['application/merge-patch+json', object]),
    sent('PATCH', parts, ['application/strategic-merge-patch+json', object]),
    sent('PATCH', parts, ['application/json-patch+json', fc.array(operation, { maxLength: 3 })]),
    sent('DELETE', ['', '/a'], [JSON_TYPE, anything]),
    sent('GET', ['', '/a', '/a/scale', '/%zz'], [JSON_TYPE, anything]),
  );
  return fc.tuple(requests, fc.constantFrom(...QUERIES)).map((
    [{ method, suffix, type, body }, query],
  ) => ({
    method,
    path: `${pathOf(kind)}${suffix}${query}`,
    headers: { 'content-type': type },
    body: parseJson(JSON.stringify(body)),
  }));
};

describe('embedded cluster', () => {
  test('any request is answered with a status, and a refused one leaves no trace', () => {
    const cluster = setUp();
    const kinds = [...cluster.kinds.all()];
    const asked = fc.constantFrom(...kinds).chain((kind) =>
      fc.record({ kind: fc.constant(kind), request: requestTo(kind) })
    );
    const seen = new Set<number>();
    fc.assert(
      fc.property(asked, ({ kind, request }) => {
        furnish(cluster, kind);
        const before = cluster.store.revision();
        const response = cluster.answer(request);
        if (response._tag === 'Watch') return;
        seen.add(response.status);
        expect(asRecord(response.body)).toBeDefined();
        if (response.status >= 400) expect(cluster.store.revision()).toBe(before);
      }),
      { numRuns: RUNS },
    );
    expect([...seen].sort()).toEqual(expect.arrayContaining([200, 201, 400, 404, 422]));
  });
});
