/** A Namespace, and whether its pods count as demand. */
import type { Identity } from '../facts.ts';
import { textAt } from '../json.ts';
import type { Labels } from '../label-condition.ts';
import { identityOf, labelsOf } from '../object-meta.ts';

/** The cached fields of a Namespace. */
export interface SelectedNamespace extends Identity {
  readonly name: string;
  readonly selected: boolean;
}

/** Reads a Namespace as the API server returns it. Total. */
export const selectedNamespaceProjector =
  (selects: (labels: Labels) => boolean) => (raw: unknown): SelectedNamespace | undefined => {
    const identity = identityOf(raw);
    if (identity === undefined) return undefined;
    const name = textAt(raw, 'metadata', 'name') ?? '';
    return { ...identity, name, selected: selects(labelsOf(raw)) };
  };
