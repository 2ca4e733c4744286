/** The registry of pods and their requests, on a small cluster. */
import { describe, expect, test } from 'vitest';
import { GC_GRACE_MS } from '../../../src/machines/pod-demand.ts';
import { ACTIVE_SETTLED_MAX } from '../../../src/actors/capacity-requests/pod-demand-actor.ts';
import { listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import { OWNED_BY_POD } from '../../../src/domain/pod-demand/pod-request.ts';
import { podRig, podUid } from '../../support/demand/pod-rig.ts';

const RECONCILES = 'bigfleet_unschedulable_pod_controller_reconciles_total';

describe('pods become demand', () => {
  test('a pod gets one request, owned by it and labelled, with its first phase, in 2 writes', async () => {
    const rig = podRig();
    rig.pod('web', { cpu: '2' });
    await rig.settle();
    const name = rig.nameOf('web');
    expect(rig.requests.writes()).toEqual(['POST', `PATCH ${name}/status`]);
    const request = rig.requests.get(name);
    expect(textAt(request, 'metadata', 'labels', OWNED_BY_POD)).toBe(podUid('web'));
    expect(listOrEmptyAt(request, 'metadata', 'ownerReferences')).toEqual([
      { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: podUid('web'), controller: true },
    ]);
    expect([rig.cpuOf(name), rig.phaseOf(name)]).toEqual(['2', 'Pending']);
    const outcomes = () =>
      ['cr_created', 'cr_exists'].map((one) => rig.counted.get(`${RECONCILES} ${one}`));
    expect(outcomes()).toEqual([1, undefined]);
    rig.pod('web', { cpu: '2', metadata: { annotations: { updated: 'yes' } } });
    await rig.settle();
    expect(outcomes()).toEqual([1, 1]);
  });

  test('a pod that goes between two terms of leadership is not counted any more', async () => {
    const rig = podRig();
    for (const name of ['web', 'kept']) rig.pod(name);
    await rig.settle();
    rig.registry().setLeading(false);
    expect(rig.registry().counts()).toMatchObject({ passive: 2, settled: 0 });
    rig.pods.remove('web');
    rig.collect('web');
    await rig.settle();
    expect(rig.registry().counts()).toMatchObject({ passive: 1, settled: 0 });
  });

  test('nothing is written before the lists of pods and requests are complete', async () => {
    const rig = podRig({ synced: false });
    rig.pod('web');
    rig.putRequest('cr-pod-old', 'gone');
    rig.pods.list();
    await rig.time.advance(GC_GRACE_MS * 2);
    expect(rig.requests.writes()).toEqual([]);
    rig.requests.list();
    await rig.settle();
    expect(rig.requests.writes()).toEqual(['POST', `PATCH ${rig.nameOf('web')}/status`]);
  });

  test('nothing is written without leadership, and all pending writes once leading', async () => {
    const rig = podRig({ leading: false });
    rig.pod('web');
    rig.pod('done', { phase: 'Succeeded' });
    await rig.time.advance(60_000);
    expect(rig.requests.writes()).toEqual([]);
    rig.registry().setLeading(true);
    await rig.settle();
    expect(rig.requests.names()).toEqual([rig.nameOf('web')]);
    rig.registry().setLeading(false);
    rig.pod('added');
    await rig.time.advance(60_000);
    expect(rig.requests.names()).toEqual([rig.nameOf('web')]);
  });

  test('a new process on the same cluster writes nothing', async () => {
    const rig = podRig();
    for (const name of ['a', 'b', 'c']) rig.pod(name);
    await rig.settle();
    const before = rig.requests.writes().length;
    await rig.restart();
    await rig.settle();
    expect(rig.requests.writes().length - before).toBe(0);
  });

  test('a request follows its pod, and only changes are sent', async () => {
    const rig = podRig();
    rig.pod('web', { cpu: '1' });
    await rig.settle();
    rig.pod('web', { cpu: '3' });
    await rig.settle();
    expect(rig.cpuOf(rig.nameOf('web'))).toBe('3');
    expect(rig.requests.calls.at(-1)).toMatchObject({
      method: 'PATCH',
      body: { spec: { resources: { cpu: '3' } } },
    });
    expect(rig.requests.writes()).toHaveLength(3);
  });

  test('a request changed by another client is corrected', async () => {
    const rig = podRig();
    rig.pod('web');
    await rig.settle();
    rig.requests.put(rig.nameOf('web'), { spec: { resources: { cpu: '9' }, priority: 3 } });
    await rig.settle();
    expect(rig.cpuOf(rig.nameOf('web'))).toBe('1');
  });

  test('a deleted request is created again', async () => {
    const rig = podRig();
    rig.pod('web');
    await rig.settle();
    rig.requests.remove(rig.nameOf('web'));
    await rig.settle();
    expect(rig.phaseOf(rig.nameOf('web'))).toBe('Pending');
  });
});

describe('pods that are no demand', () => {
  test('the request of a finished pod is deleted at once, and none is created later', async () => {
    const rig = podRig();
    rig.pod('job', { phase: 'Running' });
    await rig.settle();
    rig.pod('job', { phase: 'Succeeded' });
    await rig.settle();
    expect(rig.requests.names()).toEqual([]);
    expect(rig.requests.writes()).toHaveLength(3);
    rig.pod('job', { phase: 'Succeeded', metadata: { annotations: { updated: 'yes' } } });
    await rig.settle();
    expect(rig.requests.writes()).toHaveLength(3);
    expect(rig.counted.get(`${RECONCILES} pod_terminal`)).toBe(1);
  });

  test('a request of a finished pod is deleted at once, also when it is observed after the pod', async () => {
    const rig = podRig({ synced: false });
    rig.pod('job', { phase: 'Succeeded' });
    rig.pods.list();
    rig.putRequest('cr-pod-job-x', 'job');
    rig.requests.list();
    await rig.settle();
    expect(rig.requests.writes()).toEqual(['DELETE cr-pod-job-x']);
    rig.putRequest('cr-pod-job-y', 'job');
    await rig.settle();
    expect(rig.requests.writes()).toEqual(['DELETE cr-pod-job-x', 'DELETE cr-pod-job-y']);
  });

  test('pods of DaemonSets and mirror pods get none, and lose existing ones', async () => {
    const rig = podRig();
    rig.putRequest('cr-pod-agent-x', 'agent');
    rig.pod('agent', { metadata: { ownerReferences: [{ kind: 'DaemonSet', controller: true }] } });
    // An owner reference need not be marked as the controller's.
    rig.pod('plain', { metadata: { ownerReferences: [{ kind: 'DaemonSet', name: 'agent' }] } });
    rig.pod('static', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } });
    await rig.settle();
    expect(rig.requests.names()).toEqual([]);
    expect(rig.requests.writes()).toEqual(['DELETE cr-pod-agent-x']);
  });

  test('pods of excluded namespaces get none, until the namespace is selected', async () => {
    const rig = podRig({ selectsNamespace: (labels) => labels['team'] !== undefined });
    rig.pod('web');
    await rig.settle();
    expect(rig.requests.writes()).toEqual([]);
    rig.namespaces.put('default', {
      metadata: { name: 'default', uid: 'n', labels: { team: 'a' } },
    });
    await rig.settle();
    expect(rig.requests.names()).toEqual([rig.nameOf('web')]);
    rig.namespaces.put('default', { metadata: { name: 'default', uid: 'n', labels: {} } });
    await rig.settle();
    expect(rig.requests.names()).toEqual([]);
  });
});

describe('deleted pods', () => {
  test('the request of a deleted pod is left to the garbage collector', async () => {
    const rig = podRig();
    rig.pod('web');
    await rig.settle();
    rig.pods.remove('web');
    await rig.time.advance(GC_GRACE_MS / 2);
    rig.collect('web');
    await rig.time.advance(GC_GRACE_MS * 2);
    expect(rig.requests.writes()).toHaveLength(2);
    expect(rig.registry().counts()['leaving'] ?? 0).toBe(0);
  });

  test('a request that the garbage collector leaves behind is deleted after its grace', async () => {
    const rig = podRig();
    rig.pod('web');
    await rig.settle();
    rig.pods.remove('web');
    await rig.time.advance(GC_GRACE_MS - 1);
    expect(rig.requests.writes()).toHaveLength(2);
    await rig.time.advance(1);
    await rig.settle();
    expect(rig.requests.names()).toEqual([]);
  });

  test('a request of a pod deleted without a leader is deleted after the grace', async () => {
    const rig = podRig({ synced: false });
    rig.putRequest('cr-pod-old', 'gone');
    rig.pods.list();
    rig.requests.list();
    await rig.settle();
    expect(rig.requests.writes()).toEqual([]);
    await rig.time.advance(GC_GRACE_MS);
    await rig.settle();
    expect(rig.requests.names()).toEqual([]);
  });

  test('a pod that reuses a name has a request of its own', async () => {
    const rig = podRig();
    rig.pod('db-0');
    await rig.settle();
    rig.pods.remove('db-0');
    rig.pod('db-0', { life: 2 });
    await rig.settle();
    expect(rig.requests.names().sort()).toEqual([rig.nameOf('db-0', 1), rig.nameOf('db-0', 2)]);
    rig.collect('db-0', 1);
    await rig.time.advance(GC_GRACE_MS * 2);
    expect(rig.requests.names()).toEqual([rig.nameOf('db-0', 2)]);
  });
});

describe('what is recorded', () => {
  const unsayable = {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{
            matchExpressions: [{ key: 'cores', operator: 'Gt', values: ['8'] }],
          }],
        },
      },
    },
  };

  test('a pod whose request is incomplete is warned once for each reason', async () => {
    const rig = podRig();
    const annotations = { 'bigfleet.lucy.sh/interruption-penalty': 'a lot' };
    rig.pod('web', { spec: unsayable, metadata: { annotations } });
    await rig.settle();
    rig.pod('web', { spec: unsayable, metadata: { annotations }, phase: 'Running' });
    await rig.settle();
    expect(rig.notes.map(({ reason }) => reason)).toEqual(['DemandLeftOut', 'PenaltyUnreadable']);
    expect(rig.notes[1]?.note).toContain('is "a lot", which is not a number');
  });

  test('penalties of a PriorityClass reach every pod of it when they change', async () => {
    const rig = podRig();
    for (const name of ['a', 'b']) rig.pod(name, { spec: { priorityClassName: 'high' } });
    rig.pod('c');
    await rig.settle();
    const before = rig.requests.writes().length;
    rig.defaults.next(new Map([['high', { interruptionPenalty: '16' }]]));
    await rig.settle();
    expect(['a', 'b', 'c'].map((name) => rig.penaltyOf(rig.nameOf(name))))
      .toEqual(['16', '16', undefined]);
    expect(rig.requests.writes().length - before).toBe(2);
  });
});

describe('many pods', () => {
  test('a thousand settled pods stay active, and the least recently used are passivated', async () => {
    const rig = podRig();
    const count = ACTIVE_SETTLED_MAX + 200;
    for (let number = 0; number < count; number += 1) rig.pod(`p${number}`);
    await rig.registry().idle();
    await rig.settle();
    expect(rig.requests.names()).toHaveLength(count);
    expect(rig.registry().counts()).toMatchObject({ settled: ACTIVE_SETTLED_MAX, passive: 200 });
    expect([...rig.registry().actors()]).toHaveLength(ACTIVE_SETTLED_MAX);
  });

  test('2,000 pods of which 1,000 finish cost exactly 2 writes a pod and 1 for a finished one', async () => {
    const rig = podRig();
    const names = Array.from({ length: 2000 }, (_, number) => `p${number}`);
    for (const name of names) rig.pod(name);
    await rig.registry().idle();
    await rig.restart();
    for (const name of names.slice(0, 1000)) rig.pod(name, { phase: 'Failed' });
    await rig.registry().idle();
    await rig.settle();
    expect(rig.requests.names().sort()).toEqual(names.slice(1000).map((n) => rig.nameOf(n)).sort());
    expect(rig.requests.writes()).toHaveLength(2 * 2000 + 1000);
  });
});
