/** The custom resources of Tidegate, in the order of the docs. */
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
