/** Validates tolerations, taints and resources (`pkg/apis/core/validation`). */
import { type JsonRecord, listOrEmptyAt, recordAt, textAt } from '../values/json.ts';
import { compareQuantities, parseQuantity, type Quantity } from '../values/quantity.ts';
import { duplicate, type FieldProblem, invalid, notSupported, required } from './field-problem.ts';
import { labelValueProblems } from './names.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const OPERATORS = ['Equal', 'Exists'];

const ofToleration = (toleration: unknown, field: string): readonly FieldProblem[] => {
  const operator = textAt(toleration, 'operator') ?? '';
  const effect = textAt(toleration, 'effect') ?? '';
  const keyless = (textAt(toleration, 'key') ?? '') === '' && operator !== 'Exists';
  return [
    ...(keyless
      ? [invalid(
        `${field}.operator`,
        operator,
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      )]
      : []),
    ...(operator === '' || OPERATORS.includes(operator)
      ? []
      : [notSupported(`${field}.operator`, operator, OPERATORS)]),
    ...(effect === '' || EFFECTS.includes(effect)
      ? []
      : [notSupported(`${field}.effect`, effect, EFFECTS)]),
  ];
};

/** Validates the tolerations of a pod spec at `field`. */
export const tolerationProblems = (spec: JsonRecord, field: string): readonly FieldProblem[] =>
  listOrEmptyAt(spec, 'tolerations').flatMap((toleration, index) =>
    ofToleration(toleration, `${field}.tolerations[${index}]`)
  );

/** Validates the node selector of a pod spec at `field`. */
export const nodeSelectorProblems = (spec: JsonRecord, field: string): readonly FieldProblem[] =>
  Object.values(recordAt(spec, 'nodeSelector') ?? {}).flatMap((value) =>
    labelValueProblems(`${value}`).map((problem) =>
      invalid(`${field}.nodeSelector`, value, problem)
    )
  );

/** Validates a node's taints. The real server reports them under metadata. */
export const taintProblems = (node: JsonRecord): readonly FieldProblem[] => {
  const seen = new Set<string>();
  return listOrEmptyAt(node, 'spec', 'taints').flatMap((taint, index) => {
    const effect = textAt(taint, 'effect') ?? '';
    const mark = `${textAt(taint, 'key')}:${effect}`;
    const twice = seen.has(mark);
    seen.add(mark);
    return [
      ...(EFFECTS.includes(effect)
        ? []
        : [notSupported(`metadata.taints[${index}].effect`, effect, EFFECTS)]),
      ...(twice ? [duplicate(`metadata.taints[${index}]`, taint)] : []),
    ];
  });
};

const quantityIn = (value: unknown): Quantity | undefined => {
  const reading = parseQuantity(`${value}`);
  return reading._tag === 'Quantity' ? reading.quantity : undefined;
};

const ofAmounts = (amounts: JsonRecord, field: string): readonly FieldProblem[] =>
  Object.entries(amounts).flatMap(([name, value]) =>
    `${value}`.startsWith('-')
      ? [invalid(`${field}[${name}]`, value, 'must be greater than or equal to 0')]
      : []
  );

/** `example.com/gpu`: extended resources are integers and cannot be overcommitted. */
const isExtended = (name: string): boolean =>
  name.includes('/') && !name.split('/')[0]?.endsWith('kubernetes.io');

/** Validates the resources of a container at `field`. */
export const resourceProblems = (container: unknown, field: string): readonly FieldProblem[] => {
  const requests = recordAt(container, 'resources', 'requests');
  const limits = recordAt(container, 'resources', 'limits');
  const above = Object.entries(requests ?? {}).flatMap(([name, value]) => {
    const [asked, most] = [quantityIn(value), quantityIn(limits?.[name] ?? '')];
    if (asked === undefined || most === undefined || compareQuantities(asked, most) <= 0) return [];
    const why = `must be less than or equal to ${name} limit of ${limits?.[name]}`;
    return [invalid(`${field}.requests`, value, why)];
  });
  const unlimited = Object.keys(requests ?? {}).filter((name) =>
    isExtended(name) && limits?.[name] === undefined
  );
  return [
    ...unlimited.map(() =>
      required(`${field}.limits`, 'Limit must be set for non overcommitable resources')
    ),
    ...ofAmounts(limits ?? {}, `${field}.limits`),
    ...ofAmounts(requests ?? {}, `${field}.requests`),
    ...above,
  ];
};
