/** The CustomResourceDefinitions of Tidegate, as an API server accepts them. */
import type { JsonRecord } from '../domain/json.ts';
import type { RoleName } from '../domain/operator-roles.ts';
import { customResourceDefinition } from './crd.ts';
import { CUSTOM_RESOURCES, LIFECYCLE_RESOURCES } from './resources.ts';

/** One definition per custom resource. */
export const definitions = (): readonly JsonRecord[] =>
  [...CUSTOM_RESOURCES, ...LIFECYCLE_RESOURCES].map(customResourceDefinition);

const OF_LIFECYCLES: ReadonlySet<RoleName> = new Set(['evictions', 'interceptors']);

/** Those that the roles need. */
export const definitionsOf = (roles: readonly RoleName[]): readonly JsonRecord[] => {
  const ofFleet = roles.some((role) => !OF_LIFECYCLES.has(role)) ? CUSTOM_RESOURCES : [];
  const ofLifecycles = roles.some((role) => OF_LIFECYCLES.has(role)) ? LIFECYCLE_RESOURCES : [];
  return [...ofFleet, ...ofLifecycles].map(customResourceDefinition);
};
