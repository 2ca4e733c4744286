/** A write that admission may refuse. */
import type { JsonRecord } from '../values/json.ts';
import { textAt } from '../values/json.ts';
import type { Kind } from '../kinds/kind.ts';
import type { ObjectName } from '../storage/collection.ts';

/** One write, before it is stored. */
export interface Attempt {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly kind: Kind;
  /** The name in the request; '' where it has none. */
  readonly at: ObjectName;
  readonly subresource?: string;
  /** Absent for deletions. */
  readonly object?: JsonRecord;
  /** Absent for creations. */
  readonly oldObject?: JsonRecord;
  readonly dryRun: boolean;
}

/** Admits a write, or throws the problem that refuses it. */
export type Admit = (attempt: Attempt) => void;

/** The namespace of the request: that of a Namespace itself is its own name. */
export const namespaceOfAttempt = ({ kind, at }: Attempt): string =>
  kind.resource === 'namespaces' ? at.name : at.namespace;

/** Group, version and kind of what is sent: a subresource may have a kind of its own. */
export const sentKind = ({ kind, subresource, object }: Attempt): {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
} => {
  const sent = subresource === undefined || object === undefined ? undefined : object;
  const [name, apiVersion] = [textAt(sent, 'kind'), textAt(sent, 'apiVersion')];
  if (name === undefined || apiVersion === undefined) {
    return { group: kind.group, version: kind.version, kind: kind.kind };
  }
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  return { group, version, kind: name };
};
