/** The CustomResourceDefinitions of Tidegate, as an API server takes them. */
import type { JsonRecord } from '../domain/json.ts';
import { customResourceDefinition } from './crd.ts';
import { CUSTOM_RESOURCES } from './resources.ts';

/** One definition a custom resource. */
export const definitions = (): readonly JsonRecord[] =>
  CUSTOM_RESOURCES.map(customResourceDefinition);
