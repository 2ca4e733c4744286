/** A Node as the operator needs it: who it is, which machine it may be, whether it is Ready. */
import type { Identity } from './facts.ts';
import { listOrEmptyAt, textAt } from './json.ts';
import { identityOf } from './object-meta.ts';
import { MACHINE_ID_KEY } from './upcoming-node.ts';

/** What the cache keeps of a Node. Empty text stands for fields that are not there. */
export interface NodeProjection extends Identity {
  readonly name: string;
  readonly providerId: string;
  /** The label that a bootstrap template may set to the machine's id. */
  readonly machineLabel: string;
  readonly ready: boolean;
}

/** Reads a Node as the API server gives it. Total. */
export const projectNode = (raw: unknown): NodeProjection | undefined => {
  const identity = identityOf(raw);
  if (identity === undefined) return undefined;
  const ready = listOrEmptyAt(raw, 'status', 'conditions')
    .find((condition) => textAt(condition, 'type') === 'Ready');
  return {
    ...identity,
    name: identity.key,
    providerId: textAt(raw, 'spec', 'providerID') ?? '',
    machineLabel: textAt(raw, 'metadata', 'labels', MACHINE_ID_KEY) ?? '',
    ready: textAt(ready, 'status') === 'True',
  };
};
