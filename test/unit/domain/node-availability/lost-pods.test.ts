/** Which pods of an offline node are replaced. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { uid } from '../../../../src/domain/ids.ts';
import {
  projectVolume,
  projectVolumeClaim,
} from '../../../../src/domain/node-availability/local-volumes.ts';
import {
  inOrder,
  podClassOf,
  projectLostPod,
} from '../../../../src/domain/node-availability/lost-pods.ts';
import { projectNodePod, removedPod } from '../../../../src/domain/node-availability/node-pod.ts';

const metadata = { namespace: 'team', name: 'web-1', uid: 'u1', resourceVersion: '1' };

const pod = (
  { kind = 'ReplicaSet', volumes = [], annotations = {}, phase = 'Running', deleted = false }: {
    readonly kind?: string;
    readonly volumes?: readonly object[];
    readonly annotations?: Readonly<Record<string, string>>;
    readonly phase?: string;
    readonly deleted?: boolean;
  },
) => ({
  metadata: {
    ...metadata,
    annotations,
    ...(kind === '' ? {} : { ownerReferences: [{ kind, name: 'owner', controller: true }] }),
    ...(deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
  spec: { nodeName: 'node-1', volumes },
  status: { phase },
});

const claimOf = (accessModes: readonly string[]) =>
  projectVolumeClaim({
    metadata: { ...metadata, name: 'data' },
    spec: { accessModes, volumeName: 'pv-1' },
  });
const volumeOf = (source: object) =>
  projectVolume({ metadata: { name: 'pv-1', uid: 'pv', resourceVersion: '1' }, spec: source });

const SHARED = claimOf(['ReadWriteMany']);
const SINGLE = claimOf(['ReadWriteOnce']);
const NETWORK = volumeOf({ nfs: {} });
const LOCAL = volumeOf({ local: { path: '/disk' } });

const classIn = (
  raw: object,
  [claim, volume]: readonly [typeof SHARED, typeof NETWORK] = [undefined, undefined],
) => {
  const read = projectLostPod(raw);
  return read && podClassOf(read, { claim: () => claim, volume: () => volume });
};

const DATA = { name: 'data', persistentVolumeClaim: { claimName: 'data' } };
const EMPTY = { name: 'scratch', emptyDir: {} };
const keep = (names: string) => ({ 'tidegate.dev/keep-volumes': names });

test.each([
  ['RS-20: a pod of a ReplicaSet is stateless', pod({}), 'Stateless'],
  ['RS-20: a pod without a controller is stateful', pod({ kind: '' }), 'Stateful'],
  ['RS-20: a pod of a StatefulSet is stateful', pod({ kind: 'StatefulSet' }), 'Stateful'],
  ['RS-20: a pod of a DaemonSet is left', pod({ kind: 'DaemonSet' }), 'Ignored'],
  [
    'RS-20: a static pod is left',
    pod({ annotations: { 'kubernetes.io/config.mirror': 'x' } }),
    'Ignored',
  ],
  ['RS-20: a finished pod is left', pod({ phase: 'Succeeded' }), 'Ignored'],
  ['RS-23: a pod that was deleted is left', pod({ deleted: true }), 'Ignored'],
  ['RS-20: an emptyDir is lost', pod({ volumes: [EMPTY] }), 'Stateless'],
  [
    'RS-20: an emptyDir to keep is not',
    pod({ volumes: [EMPTY], annotations: keep('logs, scratch') }),
    'Stateful',
  ],
  [
    'RS-20: all emptyDirs may be kept',
    pod({ volumes: [EMPTY], annotations: keep('*') }),
    'Stateful',
  ],
  ['RS-20: others are not', pod({ volumes: [EMPTY], annotations: keep('logs') }), 'Stateless'],
  ['RS-20: a hostPath is of the node', pod({ volumes: [{ hostPath: {} }] }), 'Stateful'],
  ['RS-20: a claim that is not known counts', pod({ volumes: [DATA] }), 'Stateful'],
])('%s', (_, raw, podClass) => {
  expect(classIn(raw)).toBe(podClass);
});

test.each([
  ['RS-20: a volume that many nodes may use moves', [SHARED, NETWORK] as const, 'Stateless'],
  ['RS-20: a volume that one node may use does not', [SINGLE, NETWORK] as const, 'Stateful'],
  ['RS-20: a disk of the node does not', [SHARED, LOCAL] as const, 'Stateful'],
  ['RS-20: an unbound claim does not', [SHARED, undefined] as const, 'Stateful'],
])('%s', (_, volumes, podClass) => {
  expect(classIn(pod({ volumes: [DATA] }), volumes)).toBe(podClass);
});

test.each([
  ['of a StatefulSet', 'StatefulSet', ['volume "disk"']],
  ['without a controller', '', ['the pod: no controller makes it again', 'volume "disk"']],
])('RS-22: a pod %s that was deleted is still removed with its node', (_, kind, losses) => {
  // Kubernetes deletes the pods of a silent node after five minutes: the loss was not seen.
  const raw = pod({ kind, volumes: [{ name: 'disk', hostPath: {} }], deleted: true });
  const read = projectNodePod(raw);
  const lookup = { claim: () => undefined, volume: () => undefined };
  expect(read && removedPod(read, lookup)).toMatchObject({ podClass: 'Stateful', losses });
});

test('RS-23: pods are in the order of name and UID, however they are listed', () => {
  const pods = fc.array(fc.record({
    namespace: fc.constantFrom('a', 'b'),
    name: fc.constantFrom('x', 'y', 'z'),
    uid: fc.string().map(uid),
  }));
  fc.assert(fc.property(pods, (listed) => {
    expect(inOrder(listed.toReversed())).toEqual(inOrder(listed));
  }));
});
