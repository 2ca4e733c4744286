/** The CustomResourceDefinitions of Tidegate, as an API server accepts them. */
import type { JsonRecord } from '../domain/json.ts';
import type { RoleName } from '../domain/operator-roles.ts';
import { customResourceDefinition } from './crd.ts';
import { CUSTOM_RESOURCES, LIFECYCLE_RESOURCES } from './resources.ts';

/** One definition per custom resource. */
export const definitions = (): readonly JsonRecord[] =>
  [...CUSTOM_RESOURCES, ...LIFECYCLE_RESOURCES].map(customResourceDefinition);

/** Those that the roles need. */
export const definitionsOf = (roles: readonly RoleName[]): readonly JsonRecord[] => {
  const ofFleet = roles.some((role) => role !== 'evictions') ? CUSTOM_RESOURCES : [];
  const ofLifecycles = roles.includes('evictions') ? LIFECYCLE_RESOURCES : [];
  return [...ofFleet, ...ofLifecycles].map(customResourceDefinition);
};
