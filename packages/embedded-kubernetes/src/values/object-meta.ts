/** Reads `metadata` of a Kubernetes object. */
import { textRecordOrEmptyAt } from './json.ts';

/** `metadata.labels`; empty when there are none. */
export const labelsOf = (raw: unknown): Readonly<Record<string, string>> =>
  textRecordOrEmptyAt(raw, 'metadata', 'labels');

/** `metadata.annotations`; empty when there are none. */
export const annotationsOf = (raw: unknown): Readonly<Record<string, string>> =>
  textRecordOrEmptyAt(raw, 'metadata', 'annotations');
