/**
 * Reviews of the requesting user: who it is and what it may do.
 *
 * Promises: nothing is stored; everyone is an administrator, because the embedded cluster has no
 * users. Source: `pkg/registry/authorization`, `pkg/registry/authentication` of Kubernetes.
 */
import { type JsonRecord, recordAt, textAt } from '../values/json.ts';
import { invalid, required } from '../validation/field-problem.ts';
import { badRequest } from '../validation/problem.ts';
import { type Kind, kindNames, resourceOf } from './kind.ts';

const review = (
  group: string,
  kind: string,
  rules: Pick<Kind, 'problems' | 'respond'>,
): Kind => {
  const names = kindNames(group, kind, { namespaced: false });
  return {
    ...names,
    resource: resourceOf(names),
    custom: false,
    status: undefined,
    unconditionalUpdate: true,
    verbs: ['create'],
    ...rules,
  };
};

const answered = (given: JsonRecord, status: JsonRecord): JsonRecord => ({
  ...given,
  metadata: recordAt(given, 'metadata') ?? {},
  status,
});

const accessReview = review('authorization.k8s.io', 'SelfSubjectAccessReview', {
  problems: (given) => {
    const asked = ['resourceAttributes', 'nonResourceAttributes'].filter((field) =>
      recordAt(given, 'spec', field) !== undefined
    );
    if (asked.length === 1) return [];
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    return [
      asked.length === 0
        ? required('spec.resourceAttributes', why)
        : invalid('spec.nonResourceAttributes', {}, why),
    ];
  },
  respond: (given) =>
    answered(given, { allowed: true, reason: 'the embedded cluster allows everything' }),
});

const rulesReview = review('authorization.k8s.io', 'SelfSubjectRulesReview', {
  respond: (given) => {
    if ((textAt(given, 'spec', 'namespace') ?? '') === '') {
      throw badRequest('no namespace on request');
    }
    return answered({ ...given, spec: {} }, {
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
      incomplete: false,
    });
  },
});

const subjectReview = review('authentication.k8s.io', 'SelfSubjectReview', {
  respond: (given) =>
    answered(given, {
      userInfo: {
        username: 'tidegate-embedded',
        groups: ['system:masters', 'system:authenticated'],
      },
    }),
});

/** The kinds of reviews. */
export const REVIEW_KINDS: readonly Kind[] = [subjectReview, accessReview, rulesReview];
