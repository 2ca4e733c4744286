/** The custom resources of Tidegate, in the order of the docs. */
import { availableCapacity } from './available-capacity.ts';
import { capacityRequest } from './capacity-request.ts';
import type { CustomResource } from './crd.ts';
import { evictionRequest } from './eviction-request.ts';
import { nodeMaintenance } from './node-maintenance.ts';
import { upcomingNode } from './upcoming-node.ts';

/** Those of the fleet. */
export const CUSTOM_RESOURCES: readonly CustomResource[] = [
  capacityRequest,
  upcomingNode,
  availableCapacity,
];

/** Those of pod and node lifecycles, which a cluster may serve without a fleet. */
export const LIFECYCLE_RESOURCES: readonly CustomResource[] = [evictionRequest, nodeMaintenance];
