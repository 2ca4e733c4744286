/** The CustomResourceDefinitions of Tidegate, as an API server accepts them. */
import type { JsonRecord } from '../domain/json.ts';
import { customResourceDefinition } from './crd.ts';
import { CUSTOM_RESOURCES } from './resources.ts';

/** One definition per custom resource. */
export const definitions = (): readonly JsonRecord[] =>
  CUSTOM_RESOURCES.map(customResourceDefinition);
