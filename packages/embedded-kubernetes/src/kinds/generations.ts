/** Which changes increment `metadata.generation`. */
import { type JsonRecord, recordAt } from '../values/json.ts';

/** The spec alone. */
export const specAlone = (object: JsonRecord): unknown => object['spec'];

/** A Deployment's annotations count too, because its ReplicaSets copy them. */
export const annotationsAndSpec = (object: JsonRecord): unknown => [
  recordAt(object, 'metadata')?.['annotations'] ?? {},
  object['spec'],
];
