/** Which requests belong to a pod, and what other clients may do to them. */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { GC_GRACE_MS } from '../../../src/machines/pod-demand.ts';
import { listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import { OWNED_BY_POD } from '../../../src/domain/pod-demand/pod-request.ts';
import { podRig, podUid } from '../../support/demand/pod-rig.ts';

describe('requests of other clients', () => {
  test('a request of another controller is adopted under its name, and corrected', async () => {
    const rig = podRig();
    rig.putRequest('cr-pod-web-x7k2p', 'web');
    rig.pod('web');
    await rig.settle();
    expect(rig.requests.writes()).toEqual(['PATCH cr-pod-web-x7k2p']);
    expect(rig.cpuOf('cr-pod-web-x7k2p')).toBe('1');
    expect(rig.phaseOf('cr-pod-web-x7k2p')).toBe('Acknowledged');
    const [owner] = listOrEmptyAt(
      rig.requests.get('cr-pod-web-x7k2p'),
      'metadata',
      'ownerReferences',
    );
    expect(textAt(owner, 'uid')).toBe(podUid('web'));
  });

  // The label alone counted as ownership, in any namespace: the pod lost its own request, and the
  // one of the other namespace was patched at the full write rate.
  test('a request of another namespace that names the pod is left alone', async () => {
    const rig = podRig();
    rig.pod('web');
    await rig.settle();
    const before = rig.requests.writes().length;
    rig.requests.put('forged', {
      metadata: {
        name: 'forged',
        namespace: 'elsewhere',
        uid: 'forged',
        labels: { [OWNED_BY_POD]: podUid('web') },
        ownerReferences: [{ kind: 'Pod', name: 'web', uid: podUid('web'), controller: true }],
      },
      spec: { resources: { cpu: '7' }, priority: 0 },
    });
    await rig.time.advance(GC_GRACE_MS);
    expect(rig.requests.writes().slice(before)).toEqual([]);
    rig.requests.remove(rig.nameOf('web'));
    await rig.settle();
    expect(rig.phaseOf(rig.nameOf('web'))).toBe('Pending');
  });

  test('a request with the label and no owner reference is not adopted', async () => {
    const rig = podRig();
    rig.putRequest('labelled', 'web', {
      metadata: {
        name: 'labelled',
        namespace: 'default',
        uid: 'l',
        labels: { [OWNED_BY_POD]: podUid('web') },
      },
    });
    rig.pod('web');
    await rig.settle();
    expect(rig.requests.writes()).toEqual(['POST', `PATCH ${rig.nameOf('web')}/status`]);
  });

  test('a patch names the UID, so that a new object of the same name is looked at first', async () => {
    const rig = podRig();
    rig.pod('web');
    await rig.settle();
    const name = rig.nameOf('web');
    rig.requests.lag();
    rig.requests.remove(name);
    rig.putRequest(name, 'web');
    rig.pod('web', { cpu: '3' });
    await rig.time.advance(5000);
    const [patch] = rig.requests.calls.filter(({ path, method }) =>
      method === 'PATCH' && path.endsWith(name)
    );
    expect(patch?.body).toMatchObject({ metadata: { uid: 'uid-1' } });
    rig.requests.catchUp();
    await rig.settle();
    expect(rig.cpuOf(name)).toBe('3');
    expect(rig.notes).toEqual([]);
  });

  test('a change that another client reverts at once is not repeated in a loop', async () => {
    const rig = podRig();
    rig.pod('web');
    await rig.settle();
    const name = rig.nameOf('web');
    // An admission webhook that keeps its own amount.
    let touches = 0;
    rig.requests.intercept(({ method, path }) =>
      Effect.sync(() => {
        if (method !== 'PATCH' || !path.endsWith(name)) return undefined;
        touches += 1;
        rig.requests.put(name, { spec: { resources: { cpu: `${100 + touches}` }, priority: 0 } });
        return { status: 200, body: rig.requests.get(name) };
      })
    );
    rig.pod('web', { cpu: '3' });
    await rig.time.advance(60_000);
    expect(touches).toBeGreaterThan(1);
    expect(touches).toBeLessThan(30);
    expect(rig.notes[0]?.reason).toBe('PodRequestFailing');
  });

  test('of several requests of one pod the one with its own name stays', async () => {
    const rig = podRig({ leading: false });
    rig.pod('web');
    rig.putRequest('cr-pod-web-a', 'web');
    rig.putRequest(rig.nameOf('web'), 'web');
    rig.putRequest('cr-pod-web-b', 'web');
    rig.registry().setLeading(true);
    await rig.settle();
    expect(rig.requests.names()).toEqual([rig.nameOf('web')]);
  });

  test('a request that lost its label gets it again', async () => {
    const rig = podRig();
    rig.pod('web');
    await rig.settle();
    const name = rig.nameOf('web');
    const ownerReferences = [{ kind: 'Pod', name: 'web', uid: podUid('web'), controller: true }];
    rig.requests.put(name, {
      metadata: { name, namespace: 'default', uid: 'uid-1', ownerReferences },
    });
    await rig.settle();
    expect(textAt(rig.requests.get(name), 'metadata', 'labels', OWNED_BY_POD)).toBe(podUid('web'));
    expect(rig.requests.names()).toEqual([name]);
  });

  // The UID at the end of a name counted as ownership, so that a person's request was deleted two
  // minutes after "its" pod, or at once when that pod finished.
  test('a request without our label and owner reference is never touched, whatever its name', async () => {
    const rig = podRig();
    const names = [
      rig.nameOf('done'),
      rig.nameOf('gone'),
      rig.nameOf('web'),
      `${rig.nameOf('web')}x`,
    ];
    rig.pod('done', { phase: 'Succeeded' });
    const ownerReferences = [{ kind: 'Job', name: 'train', uid: podUid('gone'), controller: true }];
    for (const name of names) {
      rig.requests.put(name, {
        metadata: { name, namespace: 'default', uid: `person-${name}`, ownerReferences },
        spec: { resources: { cpu: '7' }, priority: 0 },
      });
    }
    rig.pod('web');
    await rig.time.advance(GC_GRACE_MS * 2);
    expect(new Set(rig.requests.writes())).toEqual(new Set(['POST']));
    expect(rig.requests.names().sort()).toEqual(names.sort());
    expect(rig.notes[0]).toMatchObject({
      reason: 'PodRequestRefused',
      note: expect.stringContaining(`"${rig.nameOf('web')}"`),
    });
    rig.requests.remove(rig.nameOf('web'));
    await rig.time.advance(GC_GRACE_MS);
    expect(rig.phaseOf(rig.nameOf('web'))).toBe('Pending');
  });

  test('a request that loses label and owner reference is left to the person who took them', async () => {
    const rig = podRig();
    rig.pod('web');
    await rig.settle();
    const name = rig.nameOf('web');
    const before = rig.requests.writes().length;
    rig.requests.put(name, {
      metadata: { name, namespace: 'default', uid: 'uid-1' },
      spec: { resources: { cpu: '7' }, priority: 0 },
    });
    await rig.time.advance(GC_GRACE_MS);
    expect(new Set(rig.requests.writes().slice(before))).toEqual(new Set(['POST']));
    expect(rig.cpuOf(name)).toBe('7');
    expect(rig.notes[0]?.reason).toBe('PodRequestRefused');
  });

  test('requests without a pod are left alone', async () => {
    const rig = podRig();
    rig.requests.put('training', {
      metadata: { name: 'training', namespace: 'default', uid: 't' },
      spec: { resources: { cpu: '1' }, priority: 0 },
    });
    await rig.time.advance(GC_GRACE_MS * 2);
    expect(rig.requests.writes()).toEqual([]);
  });

  test('a phase that the operator wrote first is left alone', async () => {
    const rig = podRig();
    rig.requests.intercept(({ method, path }) => {
      const isStamp = method === 'PATCH' && path.endsWith('/status');
      const name = rig.nameOf('web');
      if (isStamp && rig.phaseOf(name) === undefined) {
        rig.requests.put(name, { status: { phase: 'Acknowledged' } });
      }
      return Effect.succeed(undefined);
    });
    rig.pod('web');
    await rig.settle();
    expect(rig.phaseOf(rig.nameOf('web'))).toBe('Acknowledged');
    expect(rig.requests.writes()).toHaveLength(2);
    expect(rig.registry().counts()).toMatchObject({ settled: 1 });
  });
});
