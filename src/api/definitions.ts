/** The CustomResourceDefinitions of Tidegate, as an API server accepts them. */
import type { JsonRecord } from '../domain/json.ts';
import type { RoleName } from '../domain/operator-roles.ts';
import { type CustomResource, customResourceDefinition } from './crd.ts';
import { evictionRequest } from './eviction-request.ts';
import { nodeMaintenance } from './node-maintenance.ts';
import { CUSTOM_RESOURCES, LIFECYCLE_RESOURCES } from './resources.ts';

/** One definition per custom resource. */
export const definitions = (): readonly JsonRecord[] =>
  [...CUSTOM_RESOURCES, ...LIFECYCLE_RESOURCES].map(customResourceDefinition);

/** The resources of each role. */
const OF_ROLES: Readonly<Record<RoleName, readonly CustomResource[]>> = {
  fleet: CUSTOM_RESOURCES,
  pods: CUSTOM_RESOURCES,
  evictions: [evictionRequest],
  interceptors: [evictionRequest],
  maintenance: [nodeMaintenance],
  availability: [],
};

/** Those that the roles need. */
export const definitionsOf = (roles: readonly RoleName[]): readonly JsonRecord[] =>
  [...new Set(roles.flatMap((role) => OF_ROLES[role]))].map(customResourceDefinition);
