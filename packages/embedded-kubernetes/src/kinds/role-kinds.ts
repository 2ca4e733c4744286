/**
 * Roles and their bindings.
 *
 * Source: `pkg/apis/rbac/{v1/defaults.go,validation/validation.go}`.
 */
import {
  asList,
  asRecord,
  type JsonRecord,
  listOrEmptyAt,
  recordAt,
  textAt,
} from '../values/json.ts';
import { RBAC_GROUP } from '../authorization/role-grants.ts';
import { sameJson } from '../patches/same-json.ts';
import { type FieldProblem, invalid, notSupported, required } from '../validation/field-problem.ts';
import { type Change, type Kind, kindNames, resourceOf } from './kind.ts';

const roleKind = (kind: string, namespaced: boolean, rules: Partial<Kind>): Kind => {
  const names = kindNames(RBAC_GROUP, kind, { namespaced });
  return {
    ...names,
    resource: resourceOf(names),
    custom: false,
    status: undefined,
    nameRule: 'path segment',
    unconditionalUpdate: true,
    ...rules,
  };
};

const isEmptyAt = (value: unknown, field: string): boolean =>
  listOrEmptyAt(value, field).length === 0;

const ruleProblems = (rule: unknown, field: string, namespaced: boolean): FieldProblem[] => {
  const verbs = isEmptyAt(rule, 'verbs')
    ? [required(`${field}.verbs`, 'verbs must contain at least one value')]
    : [];
  const paths = listOrEmptyAt(rule, 'nonResourceURLs');
  const at = `${field}.nonResourceURLs`;
  if (paths.length > 0) {
    const isMixed = ['apiGroups', 'resources', 'resourceNames'].some((one) =>
      !isEmptyAt(rule, one)
    );
    return [
      ...verbs,
      ...(namespaced
        ? [invalid(at, paths, 'namespaced rules cannot apply to non-resource URLs')]
        : []),
      ...(isMixed
        ? [invalid(at, paths, 'rules cannot apply to both regular resources and non-resource URLs')]
        : []),
    ];
  }
  return [
    ...verbs,
    ...(isEmptyAt(rule, 'apiGroups')
      ? [required(`${field}.apiGroups`, 'resource rules must supply at least one api group')]
      : []),
    ...(isEmptyAt(rule, 'resources')
      ? [required(`${field}.resources`, 'resource rules must supply at least one resource')]
      : []),
  ];
};

const roleProblems = (namespaced: boolean) => (role: JsonRecord): readonly FieldProblem[] => {
  const aggregation = recordAt(role, 'aggregationRule');
  const selectors = 'clusterRoleSelectors';
  return [
    ...listOrEmptyAt(role, 'rules').flatMap((rule, index) =>
      ruleProblems(rule, `rules[${index}]`, namespaced)
    ),
    ...(aggregation === undefined || !isEmptyAt(aggregation, selectors) ? [] : [
      required(
        `aggregationRule.${selectors}`,
        'at least one clusterRoleSelector required if aggregationRule is non-nil',
      ),
    ]),
  ];
};

/** Without rules the list is null, as Go prints a list that is not there. */
const withRules = (role: JsonRecord): JsonRecord => ({
  ...role,
  rules: asList(role['rules']) ?? null,
});

const SUBJECT_GROUPS: Readonly<Record<string, string>> = {
  User: RBAC_GROUP,
  Group: RBAC_GROUP,
  ServiceAccount: '',
};

const withSubjectGroup = (subject: unknown): JsonRecord => {
  const { apiGroup, ...rest } = asRecord(subject) ?? {};
  const group = (textAt({ apiGroup }, 'apiGroup') ?? '') ||
    (SUBJECT_GROUPS[textAt(rest, 'kind') ?? ''] ?? '');
  return { ...rest, ...(group === '' ? {} : { apiGroup: group }) };
};

const boundDefaults = (binding: JsonRecord): JsonRecord => {
  const reference = recordAt(binding, 'roleRef') ?? {};
  const subjects = listOrEmptyAt(binding, 'subjects').map(withSubjectGroup);
  const { subjects: _, ...rest } = binding;
  return {
    ...rest,
    ...(subjects.length === 0 ? {} : { subjects }),
    roleRef: { ...reference, apiGroup: textAt(reference, 'apiGroup') || RBAC_GROUP },
  };
};

const subjectProblems = (
  subject: unknown,
  field: string,
  namespaced: boolean,
): readonly FieldProblem[] => {
  const [kind = '', name = '', group = ''] = [
    textAt(subject, 'kind'),
    textAt(subject, 'name'),
    textAt(subject, 'apiGroup'),
  ];
  const wanted = SUBJECT_GROUPS[kind];
  const isHomeless = kind === 'ServiceAccount' && !namespaced && !textAt(subject, 'namespace');
  return [
    ...(name === '' ? [required(`${field}.name`)] : []),
    ...(wanted === undefined
      ? [notSupported(`${field}.kind`, kind, ['ServiceAccount', 'User', 'Group'])]
      : group === wanted
      ? []
      : [notSupported(`${field}.apiGroup`, group, [wanted])]),
    ...(isHomeless ? [required(`${field}.namespace`)] : []),
  ];
};

const bindingProblems = (namespaced: boolean) => (binding: JsonRecord): readonly FieldProblem[] => {
  const reference = recordAt(binding, 'roleRef');
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  const [group, kind, name] = ['apiGroup', 'kind', 'name'].map((field) =>
    textAt(reference, field) ?? ''
  );
  return [
    ...(group === RBAC_GROUP ? [] : [notSupported('roleRef.apiGroup', group, [RBAC_GROUP])]),
    ...(kinds.includes(kind ?? '') ? [] : [notSupported('roleRef.kind', kind, kinds)]),
    ...(name === '' ? [required('roleRef.name')] : []),
    ...listOrEmptyAt(binding, 'subjects').flatMap((subject, index) =>
      subjectProblems(subject, `subjects[${index}]`, namespaced)
    ),
  ];
};

const referenceProblems = ({ wanted, current }: Change): readonly FieldProblem[] => {
  if (sameJson(wanted['roleRef'], current['roleRef'])) return [];
  const reference = recordAt(wanted, 'roleRef');
  const printed = {
    APIGroup: textAt(reference, 'apiGroup') ?? '',
    Kind: textAt(reference, 'kind') ?? '',
    Name: textAt(reference, 'name') ?? '',
  };
  return [invalid('roleRef', printed, 'cannot change roleRef')];
};

const bindingKind = (kind: string, namespaced: boolean): Kind =>
  roleKind(kind, namespaced, {
    defaulted: boundDefaults,
    problems: bindingProblems(namespaced),
    changeProblems: referenceProblems,
  });

/** The kinds of role-based access control. */
export const ROLE_KINDS: readonly Kind[] = [
  roleKind('Role', true, { defaulted: withRules, problems: roleProblems(true) }),
  roleKind('ClusterRole', false, { defaulted: withRules, problems: roleProblems(false) }),
  bindingKind('RoleBinding', true),
  bindingKind('ClusterRoleBinding', false),
];
