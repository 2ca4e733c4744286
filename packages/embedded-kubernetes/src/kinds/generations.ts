/** What makes a new generation of an object. */
import { type JsonRecord, recordAt } from '../values/json.ts';

/** The spec alone. */
export const specAlone = (object: JsonRecord): unknown => object['spec'];

/** Annotations of a Deployment count too, because its ReplicaSets get them. */
export const annotationsAndSpec = (object: JsonRecord): unknown => [
  recordAt(object, 'metadata')?.['annotations'] ?? {},
  object['spec'],
];
