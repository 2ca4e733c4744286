/** The initial nodes of a cluster, as a kubelet would register them. */
import type { JsonRecord } from '../values/json.ts';

const ZONES = ['zone-a', 'zone-b', 'zone-c'];
const RESOURCES = { cpu: '8', memory: '32Gi', pods: '110', 'ephemeral-storage': '100Gi' };

/** The node with this number, counted from 1. */
export const startNode = (number: number): JsonRecord => {
  const name = `node-${number}`;
  const labels = {
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
    'node.kubernetes.io/instance-type': 'embedded-8',
    'topology.kubernetes.io/zone': ZONES[number % ZONES.length],
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    spec: { providerID: `embedded://${name}` },
    status: { capacity: RESOURCES, allocatable: RESOURCES },
  };
};
