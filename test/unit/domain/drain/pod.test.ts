/** The drain facts of a pod. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { podProjection, projectPod, terminatingSinceMs } from '../../../../src/domain/drain/pod.ts';
import { podOf, rawPod } from '../../../support/drains/drain-facts.ts';

const taint = 'node.kubernetes.io/unschedulable';

describe('projectPod', () => {
  it('reads the node, controller and status of a pod', () => {
    expect(podOf({ priority: 7 })).toEqual({
      key: 'ns/a',
      uid: 'uid-a',
      resourceVersion: '10',
      namespace: 'ns',
      name: 'a',
      node: 'n1',
      priority: 7,
      phase: 'Running',
      ready: true,
      terminating: false,
      deletionMs: null,
      deletionGraceSeconds: null,
      graceSeconds: 30,
      controller: { kind: 'ReplicaSet', name: 'web', uid: 'uid-web' },
      mirror: false,
      toleratesCordon: false,
      finalizers: [],
      createdMs: null,
      labels: { app: 'web' },
      losesData: false,
      finished: false,
    });
  });

  it('ignores an owner that is not the controller', () => {
    expect(podOf({ controller: null }).controller).toBeNull();
  });

  // Such a pod was evicted, and asked for as demand, although each new node runs its own.
  it('DR-20: counts a DaemonSet as the controller without its mark', () => {
    const plain = { kind: 'DaemonSet', name: 'agent', uid: 'uid-agent' };
    const metadata = { name: 'a', uid: 'u', resourceVersion: '1', ownerReferences: [plain] };
    expect(projectPod({ metadata })?.controller).toEqual(plain);
  });

  it('DR-20: recognizes mirror pods, finished pods and pods with an emptyDir', () => {
    expect(podOf({ annotations: { 'kubernetes.io/config.mirror': 'x' } }).mirror).toBe(true);
    expect(podOf({ phase: 'Succeeded' }).finished).toBe(true);
    expect(podOf({ phase: 'Failed' }).finished).toBe(true);
    expect(podOf({ volumes: [{ name: 'v', emptyDir: {} }] }).losesData).toBe(true);
    expect(podOf({ volumes: [{ name: 'v', secret: {} }] }).losesData).toBe(false);
  });

  it.each([
    ['any key', { operator: 'Exists' }, true],
    ['the key', { key: taint, operator: 'Exists' }, true],
    ['the key without a value', { key: taint, effect: 'NoSchedule' }, true],
    ['the key with another value', { key: taint, value: 'x' }, false],
    ['another key', { key: 'other', operator: 'Exists' }, false],
    ['another effect', { key: taint, operator: 'Exists', effect: 'NoExecute' }, false],
    ['an operator that compares numbers', { key: taint, operator: 'Lt', value: '' }, false],
  ])('DR-20: a toleration of %s allows rescheduling or not', (_, toleration, tolerates) => {
    expect(podOf({ tolerations: [toleration] }).toleratesCordon).toBe(tolerates);
  });

  it('computes since when a pod terminates, without its grace', () => {
    const pod = podOf({ deletion: '2026-01-01T00:01:00Z', deletionGraceSeconds: 30 });
    expect(pod.terminating).toBe(true);
    expect(terminatingSinceMs(pod)).toBe(Date.UTC(2026, 0, 1, 0, 0, 30));
    expect(terminatingSinceMs(podOf())).toBeUndefined();
  });

  it('treats a pod with an unreadable deletion time as terminating', () => {
    expect(podOf({ deletion: 'soon' })).toMatchObject({ terminating: true, deletionMs: null });
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.anything(), (raw) => {
      projectPod(raw);
      projectPod({
        metadata: { name: 'a', uid: 'u', resourceVersion: '1' },
        spec: raw,
        status: raw,
      });
    }));
  });
});

describe('podProjection', () => {
  it('shares labels and controllers of one workload', () => {
    const project = podProjection();
    const [one, two] = [project(rawPod({ name: 'a' })), project(rawPod({ name: 'b' }))];
    expect(one).toEqual(podOf({ name: 'a' }));
    expect(one?.labels).toBe(two?.labels);
    expect(one?.controller).toBe(two?.controller);
    expect(project({})).toBeUndefined();
  });
});
