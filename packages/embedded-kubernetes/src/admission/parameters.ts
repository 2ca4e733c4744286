/**
 * The parameter objects that a binding refers to.
 *
 * Source: `apiserver/pkg/admission/plugin/policy/generic/policy_matcher.go` (CollectParams).
 */
import { type JsonRecord, recordAt, textAt, textRecordOrEmptyAt } from '../values/json.ts';
import type { Kinds } from '../api-server-state.ts';
import { apiVersionOf } from '../kinds/kind.ts';
import { selectorHolds } from '../kinds/label-selector.ts';
import type { Store } from '../storage/store.ts';

/** A policy or binding cannot be used for a write. */
export class Misconfigured extends Error {}

interface Asked {
  readonly policy: JsonRecord;
  readonly binding: JsonRecord;
  readonly namespace: string;
}

const NO_PARAMETERS = 'no params found for policy binding with `Deny` parameterNotFoundAction';

const namespaceFor = (
  reference: JsonRecord,
  { namespaced, namespace }: { readonly namespaced: boolean; readonly namespace: string },
): string => {
  const wanted = textAt(reference, 'namespace') ?? '';
  if (!namespaced) {
    if (wanted === '') return '';
    throw new Misconfigured(
      'paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
    );
  }
  if (wanted !== '') return wanted;
  if (namespace !== '') return namespace;
  throw new Misconfigured(
    'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
  );
};

/** The parameters; one undefined where the policy takes none. Throws when they cannot be found. */
export const parametersFor = (
  { store, kinds }: { readonly store: Store; readonly kinds: Kinds },
  { policy, binding, namespace }: Asked,
): readonly (JsonRecord | undefined)[] => {
  const wanted = recordAt(policy, 'spec', 'paramKind');
  const reference = recordAt(binding, 'spec', 'paramRef');
  if (wanted === undefined || reference === undefined) return [undefined];
  const kind = [...kinds.all()].find((one) =>
    apiVersionOf(one) === textAt(wanted, 'apiVersion') && one.kind === textAt(wanted, 'kind')
  );
  if (kind === undefined) {
    throw new Misconfigured(
      `failed to find resource referenced by paramKind: '${textAt(wanted, 'apiVersion')}, Kind=${
        textAt(wanted, 'kind')
      }'`,
    );
  }
  const from = namespaceFor(reference, { namespaced: kind.namespaced, namespace });
  const selector = recordAt(reference, 'selector');
  const named = { namespace: from, name: textAt(reference, 'name') ?? '' };
  const found = selector === undefined
    ? [store.collection(kind.resource).get(named)].filter((one) => one !== undefined)
    : [...store.collection(kind.resource).ordered(from)].map(({ object }) => object)
      .filter((one) => selectorHolds(selector, textRecordOrEmptyAt(one, 'metadata', 'labels')));
  if (found.length === 0 && textAt(reference, 'parameterNotFoundAction') === 'Deny') {
    throw new Misconfigured(NO_PARAMETERS);
  }
  return found;
};
