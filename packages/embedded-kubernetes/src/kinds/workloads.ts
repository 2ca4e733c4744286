/** The kinds of `apps/v1` (`pkg/apis/apps/v1/defaults.go`, `pkg/registry/apps`). */
import { type JsonRecord, numberAt, recordAt, textRecordOrEmptyAt } from '../values/json.ts';
import { sameJson } from '../patches/same-json.ts';
import { type FieldProblem, invalid, notSupported, required } from '../validation/field-problem.ts';
import { podSpecProblems } from '../validation/pod-problems.ts';
import { annotationsAndSpec } from './generations.ts';
import { type Change, type Kind, kindNames, type ScalePaths } from './kind.ts';
import { selectorHolds } from './label-selector.ts';
import { defaultedTemplate } from './pod-defaults.ts';

const REPLICAS: ScalePaths = {
  specReplicas: ['spec', 'replicas'],
  statusReplicas: ['status', 'replicas'],
  selector: ['spec', 'selector'],
};

/** Deep-merges the missing fields of `more` into `given`. */
const filled = (given: JsonRecord, more: JsonRecord): JsonRecord => {
  const result: Record<string, unknown> = { ...given };
  for (const [field, value] of Object.entries(more)) {
    const [mine, theirs] = [recordAt(given, field), recordAt(more, field)];
    if (mine !== undefined && theirs !== undefined) result[field] = filled(mine, theirs);
    else if (result[field] === undefined || result[field] === null) result[field] = value;
  }
  return result;
};

const isRolling = (spec: JsonRecord, field: string): boolean =>
  (recordAt(spec, field)?.['type'] ?? 'RollingUpdate') === 'RollingUpdate';

const withDefaults = (
  object: JsonRecord,
  more: (spec: JsonRecord) => JsonRecord,
): JsonRecord => {
  const spec = recordAt(object, 'spec') ?? {};
  const template = defaultedTemplate(recordAt(spec, 'template') ?? {});
  return { ...object, spec: { ...filled(spec, more(spec)), template } };
};

const deploymentSpec = (spec: JsonRecord): JsonRecord => ({
  replicas: 1,
  strategy: isRolling(spec, 'strategy')
    ? { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } }
    : {},
  revisionHistoryLimit: 10,
  progressDeadlineSeconds: 600,
});

const daemonSetSpec = (spec: JsonRecord): JsonRecord => ({
  updateStrategy: isRolling(spec, 'updateStrategy')
    ? { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } }
    : {},
  revisionHistoryLimit: 10,
});

const statefulSetSpec = (spec: JsonRecord): JsonRecord => ({
  replicas: 1,
  podManagementPolicy: 'OrderedReady',
  updateStrategy: isRolling(spec, 'updateStrategy')
    ? { type: 'RollingUpdate', rollingUpdate: { partition: 0 } }
    : {},
  persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  revisionHistoryLimit: 10,
});

const isEmpty = (selector: JsonRecord | undefined): boolean =>
  selector === undefined ||
  Object.values(selector).every((part) =>
    typeof part === 'object' && part !== null && Object.keys(part).length === 0
  );

const alwaysRestarted = (object: JsonRecord): readonly FieldProblem[] => {
  const policy = recordAt(object, 'spec', 'template', 'spec')?.['restartPolicy'] ?? 'Always';
  const field = 'spec.template.spec.restartPolicy';
  return policy === 'Always' ? [] : [notSupported(field, policy, ['Always'])];
};

const isNought = (value: unknown): boolean => value === 0 || value === '0%';

const rollingProblems = (object: JsonRecord): readonly FieldProblem[] => {
  const rolling = recordAt(object, 'spec', 'strategy', 'rollingUpdate');
  if (rolling === undefined) return [];
  if (!isNought(rolling['maxSurge']) || !isNought(rolling['maxUnavailable'])) return [];
  const field = 'spec.strategy.rollingUpdate.maxUnavailable';
  return [invalid(field, rolling['maxUnavailable'], 'may not be 0 when `maxSurge` is 0')];
};

const problems = (object: JsonRecord): readonly FieldProblem[] => {
  const selector = recordAt(object, 'spec', 'selector');
  const labels = textRecordOrEmptyAt(object, 'spec', 'template', 'metadata', 'labels');
  const replicas = numberAt(object, 'spec', 'replicas') ?? 0;
  return [
    ...(replicas < 0
      ? [invalid('spec.replicas', replicas, 'must be greater than or equal to 0')]
      : []),
    ...(selector === undefined ? [required('spec.selector')] : []),
    ...(selector !== undefined && isEmpty(selector)
      ? [invalid('spec.selector', selector, 'empty selector is invalid for deployment')]
      : []),
    ...(selector !== undefined && !selectorHolds(selector, labels)
      ? [
        invalid(
          'spec.template.metadata.labels',
          labels,
          '`selector` does not match template `labels`',
        ),
      ]
      : []),
    ...podSpecProblems(recordAt(object, 'spec', 'template', 'spec') ?? {}, 'spec.template.spec'),
    ...alwaysRestarted(object),
    ...rollingProblems(object),
  ];
};

const selectorStays = ({ wanted, current }: Change): readonly FieldProblem[] => {
  const [now, before] = [
    recordAt(wanted, 'spec', 'selector'),
    recordAt(current, 'spec', 'selector'),
  ];
  return sameJson(now, before) ? [] : [invalid('spec.selector', now, 'field is immutable')];
};

const STATEFUL_MUTABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

const statefulStays = ({ wanted, current }: Change): readonly FieldProblem[] => {
  const fixed = (object: JsonRecord) =>
    Object.fromEntries(
      Object.entries(recordAt(object, 'spec') ?? {}).filter(([field]) =>
        !STATEFUL_MUTABLE.includes(field)
      ),
    );
  return sameJson(fixed(wanted), fixed(current)) ? [] : [{
    reason: 'FieldValueForbidden',
    field: 'spec',
    message: "Forbidden: updates to statefulset spec for fields other than 'replicas', " +
      "'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', " +
      "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
  }];
};

const workload = (
  kind: string,
  shortName: string,
  rules: Partial<Kind> & {
    readonly spec: (spec: JsonRecord) => JsonRecord;
    readonly begun: JsonRecord;
  },
): Kind => {
  const { spec, begun, ...more } = rules;
  const names = kindNames('apps', kind, {
    namespaced: true,
    shortNames: [shortName],
    categories: ['all'],
  });
  return {
    ...names,
    resource: `${names.plural}.apps`,
    custom: false,
    status: 'spec and labels',
    generationOf: (object) => object['spec'],
    defaulted: (object) => withDefaults(object, spec),
    onCreate: (object) => ({ ...object, status: begun }),
    problems,
    changeProblems: selectorStays,
    unconditionalUpdate: true,
    ...more,
  };
};

/** All served kinds of `apps/v1`. */
export const WORKLOAD_KINDS: readonly Kind[] = [
  workload('Deployment', 'deploy', {
    spec: deploymentSpec,
    begun: {},
    scale: REPLICAS,
    generationOf: annotationsAndSpec,
  }),
  workload('ReplicaSet', 'rs', {
    spec: () => ({ replicas: 1 }),
    begun: { replicas: 0 },
    scale: REPLICAS,
    fields: (object) => ({ 'status.replicas': `${numberAt(object, 'status', 'replicas') ?? 0}` }),
  }),
  workload('StatefulSet', 'sts', {
    spec: statefulSetSpec,
    begun: { replicas: 0, availableReplicas: 0 },
    scale: REPLICAS,
    changeProblems: statefulStays,
  }),
  workload('DaemonSet', 'ds', {
    spec: daemonSetSpec,
    begun: {
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
    },
  }),
];
