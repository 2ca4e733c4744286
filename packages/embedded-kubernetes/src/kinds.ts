/** The registry of served kinds: built-in ones and those of CRDs. */
import type { Kinds } from './api-server-state.ts';
import { budgetKind } from './kinds/budget-kind.ts';
import { CORE_KINDS } from './kinds/core-kinds.ts';
import { coreEventKind, eventKind } from './kinds/events.ts';
import type { Kind } from './kinds/kind.ts';
import { REVIEW_KINDS } from './kinds/reviews.ts';
import { POLICY_KINDS } from './kinds/policy-kinds.ts';
import { ROLE_KINDS } from './kinds/role-kinds.ts';
import { serviceKind } from './kinds/services.ts';
import { WORKLOAD_KINDS } from './kinds/workloads.ts';
import { definitionKind } from './controllers/custom-resource-definitions.ts';

/** Built-in kinds. */
export const BUILT_IN: readonly Kind[] = [
  ...CORE_KINDS,
  ...REVIEW_KINDS,
  coreEventKind,
  serviceKind,
  ...WORKLOAD_KINDS,
  budgetKind,
  eventKind,
  definitionKind,
  ...ROLE_KINDS,
  ...POLICY_KINDS,
];

const keyOf = ({ group, version, plural }: Pick<Kind, 'group' | 'version' | 'plural'>): string =>
  `${group}/${version}/${plural}`;

/** A registry with `kinds`. */
export const makeKinds = (kinds: readonly Kind[] = BUILT_IN): Kinds => {
  const known = new Map(kinds.map((kind) => [keyOf(kind), kind]));
  return {
    find: (group, version, plural) => known.get(keyOf({ group, version, plural })),
    all: () => known.values(),
    add: (kind) => {
      known.set(keyOf(kind), kind);
    },
    remove: (kind) => {
      known.delete(keyOf(kind));
    },
  };
};
