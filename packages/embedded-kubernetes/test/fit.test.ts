/** Which nodes a pod may stand on. */
import { describe, expect, test } from 'vitest';
import type { JsonRecord } from '../src/values/json.ts';
import { noAllocations, nodeAmounts, podAmounts } from '../src/controllers/amounts.ts';
import { misfit } from '../src/controllers/fit.ts';

const node = (spec: JsonRecord = {}, labels: JsonRecord = {}): JsonRecord => ({
  metadata: { name: 'n1', labels },
  spec,
  status: { allocatable: { cpu: '2', memory: '4Gi', pods: '3' } },
});
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const affinity = (...nodeSelectorTerms: readonly unknown[]): JsonRecord => ({
  spec: { affinity: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms } } } },
});

describe('misfit', () => {
  test('a cordoned node fits only pods that tolerate the cordon', () => {
    const cordoned = node({ unschedulable: true });
    const tolerant = {
      spec: { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] },
    };
    expect(misfit({}, cordoned, [])).toBe('were unschedulable');
    expect(misfit(tolerant, cordoned, [])).toBeUndefined();
  });
  test.each([
    [{ key: 'a', operator: 'Exists' }, true],
    [{ operator: 'Exists' }, true],
    [{ key: 'a', operator: 'Equal', value: 'b' }, true],
    [{ key: 'a', value: 'b', effect: 'NoSchedule' }, true],
    [{ key: 'a', value: 'c' }, false],
    [{ key: 'a', operator: 'Exists', effect: 'NoExecute' }, false],
  ])('the toleration %j of a taint a=b:NoSchedule: %s', (toleration, holds) => {
    const tainted = node({ taints: [{ key: 'a', value: 'b', effect: 'NoSchedule' }] });
    const why = misfit({ spec: { tolerations: [toleration] } }, tainted, []);
    expect(why === undefined).toBe(holds);
  });
  test('a PreferNoSchedule taint excludes no pod', () => {
    const tainted = node({ taints: [{ key: 'a', effect: 'PreferNoSchedule' }] });
    expect(misfit({}, tainted, [])).toBeUndefined();
  });
  test('node selectors require every label', () => {
    const pod = { spec: { nodeSelector: { zone: 'a', disk: 'ssd' } } };
    expect(misfit(pod, node({}, { zone: 'a' }), [])).toContain('affinity/selector');
    expect(misfit(pod, node({}, { zone: 'a', disk: 'ssd' }), [])).toBeUndefined();
  });
  test('one term of the node affinity is enough, and an empty one matches nothing', () => {
    const inA = { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] };
    const byName = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] };
    expect(misfit(affinity({}), node(), [])).toContain('affinity/selector');
    expect(misfit(affinity({}, inA), node({}, { zone: 'a' }), [])).toBeUndefined();
    expect(misfit(affinity(inA, byName), node({}, { zone: 'b' }), [])).toBeUndefined();
  });
  test('a volume in another zone excludes the node', () => {
    const key = 'topology.kubernetes.io/zone';
    const volume = { metadata: { labels: { [key]: 'b' } } };
    expect(misfit({}, node({}, { [key]: 'a' }), [volume])).toContain('volume node affinity');
    expect(misfit({}, node({}, { [key]: 'b' }), [volume])).toBeUndefined();
  });
});

describe('ledger', () => {
  const container = (cpu: string) => ({ resources: { requests: { cpu } } });
  test('a pod requests the sum of its containers, at least its largest init container', () => {
    const pod = {
      spec: {
        containers: [container('500m'), container('250m')],
        initContainers: [container('2')],
        overhead: { cpu: '10m' },
      },
    };
    expect(podAmounts(pod).get('cpu')).toBe(2010);
  });
  test('names the insufficient resource; released resources are available again', () => {
    const book = noAllocations();
    const room = nodeAmounts(node());
    const one = podAmounts({ spec: { containers: [container('1500m')] } });
    expect(book.short(one, room)).toBeUndefined();
    book.take(one);
    expect(book.short(one, room)).toBe('cpu');
    book.giveBack(one);
    expect(book.short(one, room)).toBeUndefined();
  });
  test('a node fits no more pods than its limit, however small', () => {
    const book = noAllocations();
    const small = podAmounts({ spec: {} });
    for (let made = 0; made < 3; made += 1) book.take(small);
    expect(book.short(small, nodeAmounts(node()))).toBe('pods');
  });
});
