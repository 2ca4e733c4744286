/** Machines as the shard of a large fleet replays them. */
import { MachineState } from '../../src/gen/bigfleet/v1alpha1/provider_pb.ts';
import type { ShardPayload } from '../support/fleet/shard-process.ts';

/** A `NodeStateUpdate` with the labels and resources that a real machine has. */
export const machinePayload = (
  index: number,
): Extract<ShardPayload, { readonly case: 'nodeStateUpdate' }> => ({
  case: 'nodeStateUpdate',
  value: {
    machineId: `machine-${index}`,
    state: MachineState.CONFIGURED,
    providerId: `provider://zone-${index % 6}/host-${index}`,
    labels: {
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/os': 'linux',
      'node.kubernetes.io/instance-type': `type-${index % 40}`,
      'topology.kubernetes.io/region': 'region-1',
      'topology.kubernetes.io/zone': `zone-${index % 6}`,
      'example.com/family': 'general',
      'example.com/rack': `rack-${index % 200}`,
    },
    resources: {
      resources: { cpu: '32', memory: '128Gi', 'ephemeral-storage': '900Gi', pods: '110' },
    },
  },
});
