/**
 * ValidatingAdmissionPolicies: refuse, or warn about, writes that are not valid for a bound policy.
 *
 * Promises: policies and bindings count from the step in which they are stored; without a policy a
 * write costs nothing. An audited violation is not recorded, because there is no audit log.
 * Source: `apiserver/pkg/admission/plugin/policy/validating/dispatcher.go`.
 */
import { type JsonRecord, listOrEmptyAt, recordAt, textAt } from '../values/json.ts';
import type { Kinds } from '../api-server-state.ts';
import type { User } from '../authentication/user.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import { celJson } from '../cel/expressions.ts';
import { nameOf } from '../kinds/metadata.ts';
import { subjectOf } from '../kinds/kind.ts';
import type { Store } from '../storage/store.ts';
import { ApiProblem, qualified } from '../validation/problem.ts';
import { type Admit, type Attempt, namespaceOfAttempt } from './attempt.ts';
import { type Denial, denialsOf, type Scene, sceneVariables } from './evaluating.ts';
import { isMatching } from './matching.ts';
import { Misconfigured, parametersFor } from './parameters.ts';
import { type PolicyExpressions, policyExpressions } from './policy-expressions.ts';

/** The API group of policies. */
export const POLICY_GROUP = 'admissionregistration.k8s.io';
const POLICIES = `validatingadmissionpolicies.${POLICY_GROUP}`;
const BINDINGS = `validatingadmissionpolicybindings.${POLICY_GROUP}`;

/** A policy with its bindings, ready to run. */
interface Hook {
  readonly policy: JsonRecord;
  readonly bindings: readonly JsonRecord[];
  readonly expressions: PolicyExpressions;
}

/** What policies read. */
export interface PolicySources {
  readonly store: Store;
  readonly kinds: Kinds;
  readonly authorizer: Authorizer;
}

/** The policies of a cluster. */
export interface Policies {
  readonly isEmpty: () => boolean;
  /** The admission of one request. */
  readonly admission: (user: User, warn: (text: string) => void) => Admit;
}

interface Violation extends Denial {
  readonly policy: JsonRecord;
  readonly binding: JsonRecord;
}

const CODES: Readonly<Record<string, number>> = {
  Unauthorized: 401,
  Forbidden: 403,
  RequestEntityTooLarge: 413,
};

const objectName = ({ at, object }: Attempt): string => {
  const generated = textAt(object, 'metadata', 'generateName') ?? '';
  return at.name || (object === undefined ? '' : nameOf(object)) || generated || 'Unknown';
};

const denied = (attempt: Attempt, { policy, binding, message, reason }: Violation): ApiProblem => {
  const why = `ValidatingAdmissionPolicy '${nameOf(policy)}' with binding ` +
    `'${nameOf(binding)}' denied request: ${message}`;
  const [subject, name] = [subjectOf(attempt.kind), objectName(attempt)];
  return new ApiProblem({
    code: CODES[reason] ?? 422,
    reason,
    message: `${qualified(subject)} "${name}" is forbidden: ${why}`,
    details: {
      name,
      ...(subject.group === '' ? {} : { group: subject.group }),
      kind: subject.kind,
      causes: [{ message: why }],
    },
  });
};

const hooksIn = (store: Store): readonly Hook[] => {
  const bindings = [...store.collection(BINDINGS).ordered()].map(({ object }) => object);
  return [...store.collection(POLICIES).ordered()].map(({ object: policy }) => ({
    policy,
    bindings: bindings.filter((one) => textAt(one, 'spec', 'policyName') === nameOf(policy)),
    expressions: policyExpressions(policy),
  })).filter((hook) => hook.bindings.length > 0);
};

/** Policies never run for themselves, nor for what is only answered. */
const isExempt = ({ kind }: Attempt): boolean =>
  kind.group === POLICY_GROUP || kind.respond !== undefined;

const ignoresFailures = (policy: JsonRecord): boolean =>
  textAt(policy, 'spec', 'failurePolicy') === 'Ignore';

interface Round {
  readonly sources: PolicySources;
  readonly attempt: Attempt;
  readonly variables: Readonly<Record<string, unknown>>;
}

const boundDenials = (
  { policy, expressions }: Hook,
  binding: JsonRecord,
  { sources, attempt, variables }: Round,
): readonly Denial[] => {
  const isForgiving = ignoresFailures(policy);
  try {
    const namespace = namespaceOfAttempt(attempt);
    return parametersFor(sources, { policy, binding, namespace }).flatMap((params) =>
      denialsOf(expressions, { ...variables, params: celJson(params ?? null) }, isForgiving)
    );
  } catch (cause) {
    if (!(cause instanceof Misconfigured)) throw cause;
    const message = `failed to configure binding: ${cause.message}`;
    return isForgiving ? [] : [{ message, reason: 'Invalid' }];
  }
};

const violationsOf = (hooks: readonly Hook[], round: Round): readonly Violation[] =>
  hooks.flatMap((hook) =>
    hook.bindings.filter((binding) =>
      isMatching(recordAt(binding, 'spec', 'matchResources'), round.attempt, round.sources)
    ).flatMap((binding) =>
      boundDenials(hook, binding, round).map((denial) => ({
        ...denial,
        policy: hook.policy,
        binding,
      }))
    )
  );

const sceneOf = (sources: PolicySources, user: User, attempt: Attempt): Scene => {
  const name = attempt.kind.resource === 'namespaces' ? '' : attempt.at.namespace;
  return {
    attempt,
    user,
    authorizer: sources.authorizer,
    namespaceObject: name === ''
      ? undefined
      : sources.store.collection('namespaces').get({ namespace: '', name }),
  };
};

const hasAction = ({ binding }: Violation, action: string): boolean =>
  listOrEmptyAt(binding, 'spec', 'validationActions').includes(action);

/** The policies in a store. */
export const makePolicies = (sources: PolicySources): Policies => {
  const { store } = sources;
  let hooks: readonly Hook[] | undefined;
  store.subscribe(({ resource }) => {
    if (resource === POLICIES || resource === BINDINGS) hooks = undefined;
  });
  const admission: Policies['admission'] = (user, warn) => (attempt) => {
    if (isExempt(attempt)) return;
    hooks ??= hooksIn(store);
    const matching = hooks.filter(({ policy }) =>
      isMatching(recordAt(policy, 'spec', 'matchConstraints'), attempt, sources)
    );
    if (matching.length === 0) return;
    const variables = sceneVariables(sceneOf(sources, user, attempt));
    const violations = violationsOf(matching, { sources, attempt, variables });
    for (const violation of violations.filter((one) => hasAction(one, 'Warn'))) {
      const { policy, binding, message } = violation;
      warn(
        `Validation failed for ValidatingAdmissionPolicy '${nameOf(policy)}' with binding ` +
          `'${nameOf(binding)}': ${message}`,
      );
    }
    const first = violations.find((one) => hasAction(one, 'Deny'));
    if (first !== undefined) throw denied(attempt, first);
  };
  return { isEmpty: () => store.collection(POLICIES).size() === 0, admission };
};
