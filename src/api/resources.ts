/** Every custom resource of Tidegate, in the order in which people meet them. */
import { availableCapacity } from './available-capacity.ts';
import { capacityRequest } from './capacity-request.ts';
import type { CustomResource } from './crd.ts';
import { upcomingNode } from './upcoming-node.ts';

/** All of them. */
export const CUSTOM_RESOURCES: readonly CustomResource[] = [
  capacityRequest,
  upcomingNode,
  availableCapacity,
];
