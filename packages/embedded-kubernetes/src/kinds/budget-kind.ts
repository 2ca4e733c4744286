/** The kind PodDisruptionBudget (`pkg/registry/policy/poddisruptionbudget`, `pkg/apis/policy`). */
import { type JsonRecord, recordAt, textAt, valueAt } from '../values/json.ts';
import { type FieldProblem, invalid, notSupported } from '../validation/field-problem.ts';
import { selectorProblems } from '../validation/selector-problems.ts';
import { specAlone } from './generations.ts';
import { type Kind, kindNames } from './kind.ts';

const POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];
const PERCENT = /^[0-9]+%$/;

const amountProblems = (value: unknown, field: string): readonly FieldProblem[] => {
  if (value === undefined || value === null) return [];
  if (typeof value === 'number') {
    return value < 0 ? [invalid(field, value, 'must be greater than or equal to 0')] : [];
  }
  const text = `${value}`;
  if (!PERCENT.test(text)) {
    return [
      invalid(
        field,
        text,
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. " +
          "'1%',  or '93%', regex used for validation is '[0-9]+%')",
      ),
    ];
  }
  return Number(text.slice(0, -1)) > 100
    ? [invalid(field, text, 'must not be greater than 100%')]
    : [];
};

const COUNTS = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'];

const problems = (object: JsonRecord): readonly FieldProblem[] => {
  const spec = recordAt(object, 'spec') ?? {};
  const policy = textAt(spec, 'unhealthyPodEvictionPolicy');
  const [least, most] = [valueAt(spec, 'minAvailable'), valueAt(spec, 'maxUnavailable')];
  const status = recordAt(object, 'status') ?? {};
  return [
    ...COUNTS.filter((count) => Number(status[count] ?? 0) < 0).map((count) =>
      invalid(`status.${count}`, status[count], 'must be greater than or equal to 0')
    ),
    ...selectorProblems(valueAt(spec, 'selector'), 'spec.selector'),
    ...(least !== undefined && most !== undefined
      ? [invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set')]
      : []),
    ...amountProblems(least, 'spec.minAvailable'),
    ...amountProblems(most, 'spec.maxUnavailable'),
    ...(policy === undefined || POLICIES.includes(policy)
      ? []
      : [notSupported('spec.unhealthyPodEvictionPolicy', policy, POLICIES)]),
  ];
};

const BEGUN = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };

/** The kind PodDisruptionBudget. */
export const budgetKind: Kind = {
  ...kindNames('policy', 'PodDisruptionBudget', { namespaced: true, shortNames: ['pdb'] }),
  resource: 'poddisruptionbudgets.policy',
  custom: false,
  status: 'spec',
  generationOf: specAlone,
  onCreate: (object) => ({ ...object, status: BEGUN }),
  problems,
  unconditionalUpdate: false,
};
