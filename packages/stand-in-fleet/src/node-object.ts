/** The Node that a machine becomes when it joins a cluster. */
import type { FleetMachine } from './inventory.ts';

/** Labels by which the operator finds a machine's Node, besides its name and provider id. */
const MACHINE_ID_LABEL = 'bigfleet.lucy.sh/machine-id';
/** Marks the Nodes that the stand-in may delete. */
export const MADE_BY_LABEL = 'bigfleet.lucy.sh/made-by';
export const MADE_BY = 'tidegate-fleet';

/** `spec.providerID` ends with the machine's `provider_id`, as in clouds. */
const providerId = ({ kind, providerId }: FleetMachine): string =>
  `tidegate-fleet://${kind.labels['topology.kubernetes.io/zone'] ?? ''}/${providerId}`;

/** The machine's name as a valid DNS name. */
export const nodeName = (machineId: string): string =>
  machineId.toLowerCase().replaceAll(/[^a-z0-9.-]/g, '-').replaceAll(/^[.-]+|[.-]+$/g, '');

/** The condition that a kubelet would set. */
export const readyCondition = (now: string) => ({
  type: 'Ready',
  status: 'True',
  reason: 'MachineConfigured',
  message: 'The stand-in fleet runs this node',
  lastHeartbeatTime: now,
  lastTransitionTime: now,
});

/** The Node of a machine that is CONFIGURED. `now` is RFC 3339. */
export const nodeObject = (machine: FleetMachine, now: string) => {
  const name = nodeName(machine.id);
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        ...machine.kind.labels,
        'kubernetes.io/hostname': name,
        [MACHINE_ID_LABEL]: machine.id,
        [MADE_BY_LABEL]: MADE_BY,
      },
    },
    spec: { providerID: providerId(machine) },
    status: {
      capacity: machine.kind.resources,
      allocatable: machine.kind.resources,
      conditions: [readyCondition(now)],
      addresses: [{ type: 'Hostname', address: name }],
      nodeInfo: {
        architecture: 'amd64',
        bootID: '',
        containerRuntimeVersion: 'tidegate-fleet',
        kernelVersion: '',
        kubeProxyVersion: '',
        kubeletVersion: 'tidegate-fleet',
        machineID: machine.id,
        operatingSystem: 'linux',
        osImage: 'Tidegate stand-in fleet',
        systemUUID: machine.id,
      },
    },
  };
};
