/**
 * Reviews: who a caller is, and what it or another may do.
 *
 * Promises: nothing is stored; answers are those of the cluster's authorizer. Source:
 * `pkg/registry/authorization`, `pkg/registry/authentication` of Kubernetes.
 */
import { asText, type JsonRecord, listOrEmptyAt, recordAt, textAt } from '../values/json.ts';
import { rfc3339Seconds } from '../values/time.ts';
import { TOKEN_AUDIENCES } from '../authentication/service-account-tokens.ts';
import { type User, userInfoOf } from '../authentication/user.ts';
import type { Action } from '../authorization/action.ts';
import type { PolicyRule } from '../authorization/authorizer.ts';
import { type FieldProblem, invalid } from '../validation/field-problem.ts';
import { badRequest } from '../validation/problem.ts';
import { type Kind, kindNames, resourceOf, type ReviewContext } from './kind.ts';

const AUTHORIZATION = 'authorization.k8s.io';
const AUTHENTICATION = 'authentication.k8s.io';

const review = (
  group: string,
  kind: string,
  rules: Pick<Kind, 'problems' | 'respond'> & { readonly namespaced?: boolean },
): Kind => {
  const { namespaced = false, ...others } = rules;
  const names = kindNames(group, kind, { namespaced });
  return {
    ...names,
    resource: resourceOf(names),
    custom: false,
    status: undefined,
    unconditionalUpdate: true,
    verbs: ['create'],
    ...others,
  };
};

const answered = (given: JsonRecord, status: JsonRecord): JsonRecord => ({
  ...given,
  metadata: recordAt(given, 'metadata') ?? {},
  status,
});

const ATTRIBUTES = ['resourceAttributes', 'nonResourceAttributes'] as const;

const attributeProblems = (given: JsonRecord): readonly FieldProblem[] => {
  const asked = ATTRIBUTES.filter((field) => recordAt(given, 'spec', field) !== undefined);
  if (asked.length === 1) return [];
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return asked.length === 0
    ? [invalid('spec.resourceAttributes', null, why)]
    : [invalid('spec.nonResourceAttributes', recordAt(given, 'spec', ATTRIBUTES[1]), why)];
};

const subjectProblems = (given: JsonRecord): readonly FieldProblem[] => {
  const hasUser = (textAt(given, 'spec', 'user') ?? '') !== '';
  return hasUser || listOrEmptyAt(given, 'spec', 'groups').length > 0
    ? []
    : [invalid('spec.user', '', 'at least one of user or group must be specified')];
};

const namespaceProblems = (given: JsonRecord): readonly FieldProblem[] => {
  const asked = textAt(given, 'spec', 'resourceAttributes', 'namespace') ?? '';
  return asked === textAt(given, 'metadata', 'namespace')
    ? []
    : [invalid('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace')];
};

const actionIn = (given: JsonRecord): Action => {
  const path = recordAt(given, 'spec', 'nonResourceAttributes');
  if (path !== undefined) {
    return { _tag: 'Path', verb: textAt(path, 'verb') ?? '', path: textAt(path, 'path') ?? '' };
  }
  const asked = recordAt(given, 'spec', 'resourceAttributes');
  const part = (field: string): string => textAt(asked, field) ?? '';
  return {
    _tag: 'Resource',
    verb: part('verb'),
    group: part('group'),
    resource: part('resource'),
    subresource: part('subresource'),
    namespace: part('namespace'),
    name: part('name'),
  };
};

const texts = (list: readonly unknown[]): readonly string[] =>
  list.filter((one) => typeof one === 'string');

const subjectOf = (given: JsonRecord): User => {
  const extra = Object.entries(recordAt(given, 'spec', 'extra') ?? {}).map(([key, list]) =>
    [key, texts(Array.isArray(list) ? list : [])] as const
  );
  return {
    name: textAt(given, 'spec', 'user') ?? '',
    uid: textAt(given, 'spec', 'uid') ?? '',
    groups: texts(listOrEmptyAt(given, 'spec', 'groups')),
    extra: Object.fromEntries(extra),
  };
};

const decided = (given: JsonRecord, user: User, { authorizer }: ReviewContext): JsonRecord => {
  const { allowed, reason } = authorizer.decide(user, actionIn(given));
  return answered(given, { allowed, ...(reason === '' ? {} : { reason }) });
};

const accessReview = review(AUTHORIZATION, 'SelfSubjectAccessReview', {
  problems: attributeProblems,
  respond: (given, context) => decided(given, context.caller, context),
});

const othersAccessReview = review(AUTHORIZATION, 'SubjectAccessReview', {
  problems: (given) => [...attributeProblems(given), ...subjectProblems(given)],
  respond: (given, context) => decided(given, subjectOf(given), context),
});

const localAccessReview = review(AUTHORIZATION, 'LocalSubjectAccessReview', {
  namespaced: true,
  problems: (given) => [
    ...attributeProblems(given),
    ...subjectProblems(given),
    ...namespaceProblems(given),
  ],
  respond: (given, context) => decided(given, subjectOf(given), context),
});

const unlessEmpty = (name: string, list: readonly string[]): JsonRecord =>
  list.length === 0 ? {} : { [name]: list };

const resourceRule = ({ verbs, groups, resources, names }: PolicyRule): JsonRecord => ({
  verbs,
  ...unlessEmpty('apiGroups', groups),
  ...unlessEmpty('resources', resources),
  ...unlessEmpty('resourceNames', names),
});

const rulesReview = review(AUTHORIZATION, 'SelfSubjectRulesReview', {
  respond: (given, { caller, authorizer }) => {
    const namespace = textAt(given, 'spec', 'namespace') ?? '';
    if (namespace === '') throw badRequest('no namespace on request');
    const rules = authorizer.rulesFor(caller, namespace);
    return answered({ ...given, spec: {} }, {
      resourceRules: rules.filter(({ resources }) => resources.length > 0).map(resourceRule),
      nonResourceRules: rules.filter(({ paths }) => paths.length > 0)
        .map(({ verbs, paths }) => ({ verbs, nonResourceURLs: paths })),
      incomplete: false,
    });
  },
});

const subjectReview = review(AUTHENTICATION, 'SelfSubjectReview', {
  respond: (given, { caller, nowMs }) => ({
    ...answered(given, { userInfo: userInfoOf(caller) }),
    metadata: { creationTimestamp: rfc3339Seconds(nowMs) },
  }),
});

const tokenReview = review(AUTHENTICATION, 'TokenReview', {
  respond: (given, { userOfToken }) => {
    const token = asText(recordAt(given, 'spec')?.['token']) ?? '';
    if (token === '') throw badRequest('token is required for TokenReview in authentication');
    const user = userOfToken(token);
    if (user === undefined) return answered(given, { user: {}, error: 'invalid bearer token' });
    return answered(given, {
      authenticated: true,
      user: userInfoOf(user),
      audiences: TOKEN_AUDIENCES,
    });
  },
});

/** The kinds of reviews. */
export const REVIEW_KINDS: readonly Kind[] = [
  subjectReview,
  tokenReview,
  accessReview,
  othersAccessReview,
  localAccessReview,
  rulesReview,
];
