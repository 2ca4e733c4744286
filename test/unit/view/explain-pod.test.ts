/** `explain pod`: the demand of a pod, and the state of its request. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printCordon } from '../../../src/domain/drain/cordon.ts';
import { projectDrainedNode } from '../../../src/domain/drain/drained-node.ts';
import { ACKNOWLEDGED_KEY, printAcknowledgement } from '../../../src/domain/drain/kept-pods.ts';
import { explainPod } from '../../../src/view/explain-pod.ts';
import { budgetOf, podOf } from '../../support/drains/drain-facts.ts';
import { sceneAnnotation, sceneEvent, sceneOfNode } from '../../support/drains/drain-scene.ts';
import { explanationText } from '../../../src/view/explanation-text.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const UID = '5ee46a0c-5c1f-4a5e-9f0e-2f6a1c9d7b10';

const pod = (more: { metadata?: object; spec?: object; phase?: string } = {}) => ({
  metadata: { name: 'web', namespace: 'team', uid: UID, resourceVersion: '1', ...more.metadata },
  spec: {
    containers: [{ name: 'main', resources: { requests: { cpu: '2' } } }],
    nodeSelector: { disk: 'ssd' },
    ...more.spec,
  },
  status: { phase: more.phase ?? 'Pending' },
});

const request = (phase: string) => ({
  metadata: {
    name: `cr-pod-web-${UID}`,
    namespace: 'team',
    creationTimestamp: '2026-03-01T11:59:50Z',
  },
  spec: {
    requirements: [{ key: 'disk', operator: 'In', values: ['ssd'] }],
    resources: { cpu: '2' },
    priority: 0,
  },
  status: { phase, acknowledgedAt: '2026-03-01T11:59:55Z' },
});

const explain = (object: unknown, ...requests: readonly object[]) =>
  explainPod({ pod: object, requests: { items: requests }, events: [], leases: undefined, nowMs });

describe('explainPod', () => {
  test('DR-41: a pod that cannot leave its node names who must act, and how', () => {
    const closed = budgetOf({
      spec: { minAvailable: undefined, maxUnavailable: 0 },
      status: { currentHealthy: 4, desiredHealthy: 4 },
    });
    const drained = sceneOfNode({
      pods: [podOf({ name: 'web', namespace: 'ns' }), podOf({ name: 'free', labels: {} })],
      budgets: [closed],
    });
    const about = (name: string) =>
      explainPod({
        pod: pod({ metadata: { name, namespace: 'ns' }, spec: { nodeName: 'n1' } }),
        requests: { items: [request('Acknowledged')] },
        events: [],
        leases: undefined,
        drained,
        nowMs,
      });
    expect(about('web')).toMatchObject({
      why: expect.stringContaining('It must leave the node "n1"'),
      canAct: 'application',
      action: expect.stringContaining('kubectl patch pdb db'),
    });
    expect(about('web').why).toContain('will not be empty by');
    expect(about('free')).toMatchObject({
      why: expect.stringContaining('being drained: eviction is next'),
      waitsFor: 'Its turn to be evicted',
      canAct: 'nobody',
    });
  });

  test('DR-41: a pod of a drain that failed for a missing permission names the permission', () => {
    const failedBy = (owner: string) => {
      const ended = sceneAnnotation({ ended: 'Failed' });
      const note = 'Cannot drain the node within 5 s: no right; 1 pod remains: ns/web (no right)';
      return explainPod({
        pod: pod({ metadata: { name: 'web', namespace: 'ns' }, spec: { nodeName: 'n1' } }),
        requests: { items: [request('Acknowledged')] },
        events: [],
        leases: undefined,
        drained: sceneOfNode({
          node: { cordons: { [owner]: ended } },
          pods: [podOf({ name: 'web' })],
          events: [sceneEvent('EvictionForbidden', note)],
        }),
        nowMs,
      });
    };
    expect(failedBy('reclaim')).toMatchObject({
      why: 'It must leave the node "n1", whose drain failed: ' +
        'The operator may not evict: 1 pod remained',
      waitsFor: 'Nothing: Tidegate evicts no more pods',
      canAct: 'platform',
      runbook: expect.stringContaining('#eviction-forbidden'),
    });
    expect(failedBy('maintenance-0123456789ab').waitsFor).toBe('The permission to evict');
  });

  test('RS-31: a pod that the drain keeps for its data says so, and who may accept it', () => {
    const disabled = sceneAnnotation({ deadlineMs: null });
    const volumes = [{ name: 'disk', hostPath: { path: '/d' } }];
    const about = (acknowledged: Readonly<Record<string, string>>) => {
      const node = projectDrainedNode({
        metadata: {
          name: 'n1',
          uid: 'u',
          resourceVersion: '1',
          annotations: { 'cordon.tidegate.dev/disabled': printCordon(disabled), ...acknowledged },
        },
        spec: { unschedulable: true },
      });
      if (node === undefined) throw new Error('no Node');
      const kept = podOf({ name: 'web', namespace: 'ns', volumes });
      return explainPod({
        pod: pod({ metadata: { name: 'web', namespace: 'ns' }, spec: { nodeName: 'n1' } }),
        requests: { items: [request('Acknowledged')] },
        events: [],
        leases: undefined,
        drained: { ...sceneOfNode({ pods: [kept] }), node },
        nowMs,
      });
    };
    expect(about({})).toMatchObject({
      why: 'The drain of the node "n1" does not evict it: data only on this node: volume "disk"',
      waitsFor: 'A person to accept that it stays, or to move its data',
      canAct: 'platform',
      action: expect.stringContaining('tidegate drain acknowledge NODE'),
    });
    const drains = { disabled: new Date(disabled.sinceMs).toISOString() };
    const text = printAcknowledgement({ drains, pods: ['uid-web'], why: '' });
    expect(about({ [ACKNOWLEDGED_KEY]: text })).toMatchObject({
      waitsFor: 'Nothing: it stays on its node',
      canAct: 'nobody',
    });
  });

  test('a pod with an acknowledged request shows the request and its demand', () => {
    const explained = explain(pod({ spec: { nodeName: 'node-1' } }), request('Acknowledged'));
    expect(explained).toMatchObject({ kind: 'Pod', name: 'team/web', canAct: 'nobody' });
    expect(explained.why).toContain('acknowledged a roll-up');
    expect(explained.details).toEqual([
      { name: 'Node', value: 'node-1' },
      { name: 'Request', value: `cr-pod-web-${UID}` },
      { name: 'Request state', value: 'Acknowledged' },
      { name: 'Acknowledged', value: '2026-03-01T11:59:55Z (5s ago)' },
      { name: 'Asks for', value: 'cpu 2' },
      { name: 'Priority', value: '0' },
      { name: 'Requirement', value: 'disk In ssd' },
    ]);
  });

  test('a pod whose request is new waits for the next roll-up', () => {
    const explained = explain(pod(), request('Pending'));
    expect(explained.waitsFor).toBe('The fleet to acknowledge the next roll-up');
  });

  test('a pod without a request shows what would create one, and its demand', () => {
    const explained = explain(pod());
    expect(explained).toMatchObject({ canAct: 'platform' });
    expect(explained.waitsFor).toContain('tidegate pods');
    expect(explained.details).toContainEqual({ name: 'Requirement', value: 'disk In ssd' });
  });

  test('a pod without permission to list its requests reports that', () => {
    const explained = explainPod({
      pod: pod(),
      requests: undefined,
      events: [],
      leases: undefined,
      nowMs,
    });
    expect(explained.why).toContain('is not permitted');
  });

  test.each([
    ['finished', pod({ phase: 'Succeeded' }), 'It has finished'],
    [
      'of a DaemonSet',
      pod({ metadata: { ownerReferences: [{ kind: 'DaemonSet', controller: true }] } }),
      'It belongs to a DaemonSet',
    ],
    [
      'mirror',
      pod({ metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }),
      'It is a mirror pod',
    ],
  ])('a %s pod is no demand', (_which, object, why) => {
    expect(explain(object)).toMatchObject({ canAct: 'nobody', details: [] });
    expect(explain(object).why).toContain(why);
  });

  test('demand that its request cannot express is a problem with its remedy', () => {
    const affinity = {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{
            matchExpressions: [{ key: 'cores', operator: 'Gt', values: ['8'] }],
          }],
        },
      },
    };
    const { problems } = explain(pod({ spec: { affinity } }));
    expect(problems).toHaveLength(1);
    expect(problems[0]?.problem).toContain('"Gt"');
  });

  test('explains any JSON', () => {
    fc.assert(fc.property(fc.anything(), fc.anything(), (object, requests) => {
      const explained = explainPod({ pod: object, requests, events: [], leases: {}, nowMs });
      expect(explanationText(explained, { nowMs, colors: false })).not.toBe('');
    }));
  });
});
