/**
 * Which PersistentVolumes are of one node. Those of CSI drivers that keep them on a disk of the
 * node counted as movable, because they are neither `local` nor `hostPath`: the only thing that
 * ties them to the node is their node affinity.
 */
import { expect, test } from 'vitest';
import { keptData } from '../../../../src/domain/drain/kept-pods.ts';
import {
  projectVolume,
  projectVolumeClaim,
  volumeLookup,
} from '../../../../src/domain/node-availability/local-volumes.ts';

const metadata = (name: string) => ({ name, namespace: 'team', uid: name, resourceVersion: '1' });
const on = (key: string, values: readonly string[], operator = 'In') => ({
  matchExpressions: [{ key, operator, values }],
});

/** The kept data of a pod whose claim has a CSI volume with these terms. */
const keptWith = (nodeSelectorTerms: readonly object[]): readonly string[] => {
  const volume = projectVolume({
    metadata: { name: 'pv', uid: 'pv', resourceVersion: '1' },
    spec: {
      csi: { driver: 'example.com' },
      ...(nodeSelectorTerms.length === 0
        ? {}
        : { nodeAffinity: { required: { nodeSelectorTerms } } }),
    },
  });
  const claim = projectVolumeClaim({
    metadata: metadata('data'),
    spec: { accessModes: ['ReadWriteOnce'], volumeName: 'pv' },
  });
  if (volume === undefined || claim === undefined) throw new Error('unreadable');
  const pod = { namespace: 'team', storage: { nodeVolumes: [], claims: ['data'] } };
  return keptData(pod, volumeLookup([claim], [volume]));
};

test.each([
  ['TopoLVM', [on('topology.topolvm.io/node', ['a'])]],
  ['OpenEBS', [on('openebs.io/nodename', ['a'])]],
  ['a hostname', [on('kubernetes.io/hostname', ['a'])]],
  ['its name', [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }]],
  ['a node and its zone', [{
    matchExpressions: [
      { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['z'] },
      { key: 'kubernetes.io/hostname', operator: 'In', values: ['a'] },
    ],
  }]],
  ['one node in each term', [
    on('topology.topolvm.io/node', ['a']),
    on('kubernetes.io/hostname', ['a']),
  ]],
])('RS-11: a CSI volume is of the node that its affinity names: %s', (_, terms) => {
  expect(keptWith(terms)).toEqual(['claim "data"']);
});

test.each([
  ['no affinity', []],
  ['a zone', [on('topology.kubernetes.io/zone', ['z'])]],
  ['two nodes', [on('kubernetes.io/hostname', ['a', 'b'])]],
  ['two nodes in two terms', [
    on('kubernetes.io/hostname', ['a']),
    on('kubernetes.io/hostname', ['b']),
  ]],
  ['a node or a zone', [
    on('kubernetes.io/hostname', ['a']),
    on('topology.kubernetes.io/zone', ['z']),
  ]],
  ['all nodes but one', [on('kubernetes.io/hostname', ['a'], 'NotIn')]],
  ['nodes of a driver', [on('openebs.io/csi-node', ['mayastor'])]],
])('RS-11: a CSI volume that more nodes may have moves: %s', (_, terms) => {
  expect(keptWith(terms)).toEqual([]);
});
