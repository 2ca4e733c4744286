/**
 * The kind Pod (`pkg/registry/core/pod/strategy.go`), with the admission plugins of every cluster:
 * Priority and DefaultTolerationSeconds.
 */
import {
  booleanAt,
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
} from '../values/json.ts';
import { sameJson } from '../patches/same-json.ts';
import { fieldForbidden, type FieldProblem } from '../validation/field-problem.ts';
import { podSpecProblems } from '../validation/pod-problems.ts';
import { forbidden } from '../validation/problem.ts';
import { type Change, type Kind, kindNames, type Moment } from './kind.ts';
import { defaultedOwnSpec } from './pod-defaults.ts';
import { qualityOfService } from './quality-of-service.ts';

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const TOLERATION_SECONDS = 300;

const tolerates = (tolerations: readonly unknown[], key: string): boolean =>
  tolerations.some((one) => {
    const effect = textAt(one, 'effect') ?? '';
    const toleratedKey = textAt(one, 'key') ?? '';
    return (effect === '' || effect === 'NoExecute') &&
      (toleratedKey === '' || toleratedKey === key);
  });

const withTolerations = (spec: JsonRecord): JsonRecord => {
  const given = listOrEmptyAt(spec, 'tolerations');
  const added = [NOT_READY, UNREACHABLE].filter((key) => !tolerates(given, key)).map((key) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: TOLERATION_SECONDS,
  }));
  return { ...spec, tolerations: [...given, ...added] };
};

const PRIORITIES = 'priorityclasses.scheduling.k8s.io';

const defaultClass = ({ store }: Moment): JsonRecord | undefined => {
  for (const one of store.collection(PRIORITIES).objects()) {
    if (booleanAt(one, 'globalDefault') === true) return one;
  }
  return undefined;
};

/** The priority of a pod's class. */
const withPriority = (pod: JsonRecord, spec: JsonRecord, moment: Moment): JsonRecord => {
  const name = textAt(spec, 'priorityClassName') ?? '';
  const found = name === ''
    ? defaultClass(moment)
    : moment.store.collection(PRIORITIES).get({ namespace: '', name });
  if (name !== '' && found === undefined) {
    throw forbidden({ group: '', kind: 'pods' }, textAt(pod, 'metadata', 'name') ?? '', {
      why: `no PriorityClass with name ${name} was found`,
    });
  }
  const className = textAt(found, 'metadata', 'name');
  return {
    ...spec,
    priority: numberAt(found, 'value') ?? 0,
    ...(className === undefined ? {} : { priorityClassName: className }),
    preemptionPolicy: textAt(spec, 'preemptionPolicy') ?? textAt(found, 'preemptionPolicy') ??
      'PreemptLowerPriority',
  };
};

const gated = (spec: JsonRecord): JsonRecord =>
  listOrEmptyAt(spec, 'schedulingGates').length === 0 ? {} : {
    conditions: [{
      type: 'PodScheduled',
      status: 'False',
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
      lastProbeTime: null,
      lastTransitionTime: null,
    }],
  };

const onCreate = (pod: JsonRecord, moment: Moment): JsonRecord => {
  const spec = withTolerations(withPriority(pod, recordAt(pod, 'spec') ?? {}, moment));
  return {
    ...pod,
    spec,
    status: { phase: 'Pending', qosClass: qualityOfService(spec), ...gated(spec) },
  };
};

const MUTABLE = [
  'activeDeadlineSeconds',
  'tolerations',
  'terminationGracePeriodSeconds',
  'schedulingGates',
];

const withoutImages = (spec: JsonRecord, field: string): JsonRecord =>
  Array.isArray(spec[field])
    ? {
      [field]: listOrEmptyAt(spec, field).map((one) => {
        const { image: _, ...rest } = recordAt({ one }, 'one') ?? {};
        return rest;
      }),
    }
    : {};

const fixed = (pod: JsonRecord): JsonRecord => {
  const spec = recordAt(pod, 'spec') ?? {};
  const kept = Object.entries(spec).filter(([field]) => !MUTABLE.includes(field));
  return {
    ...Object.fromEntries(kept),
    ...withoutImages(spec, 'containers'),
    ...withoutImages(spec, 'initContainers'),
  };
};

/** Without `tolerationSeconds`, which may change. */
const tolerationsOf = (pod: JsonRecord): readonly unknown[] =>
  listOrEmptyAt(pod, 'spec', 'tolerations').map((toleration) => {
    const { tolerationSeconds: _, ...rest } = recordAt({ toleration }, 'toleration') ?? {};
    return rest;
  });

const lostTolerations = ({ wanted, current }: Change): readonly FieldProblem[] => {
  const kept = tolerationsOf(wanted);
  return tolerationsOf(current).every((one) => kept.some((other) => sameJson(one, other))) ? [] : [
    fieldForbidden(
      'spec.tolerations',
      'existing toleration can not be modified except its ' +
        'tolerationSeconds',
    ),
  ];
};

const changeProblems = (change: Change): readonly FieldProblem[] => [
  ...lostTolerations(change),
  ...fixedProblems(change),
];

const fixedProblems = ({ wanted, current }: Change): readonly FieldProblem[] =>
  sameJson(fixed(wanted), fixed(current)) ? [] : [
    fieldForbidden(
      'spec',
      'pod updates may not change fields other than `spec.containers[*].image`,' +
        '`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` ' +
        '(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it ' +
        'to be set to 1 if it was previously negative)\n',
    ),
  ];

/** The grace period of a pod. */
const grace = (pod: JsonRecord, askedSeconds: number | undefined): number => {
  const phase = textAt(pod, 'status', 'phase') ?? '';
  if ((textAt(pod, 'spec', 'nodeName') ?? '') === '') return 0;
  if (phase === 'Failed' || phase === 'Succeeded') return 0;
  const seconds = askedSeconds ?? numberAt(pod, 'spec', 'terminationGracePeriodSeconds') ?? 0;
  return seconds < 0 ? 1 : seconds;
};

/** The kind Pod. */
export const podKind: Kind = {
  ...kindNames('', 'Pod', { namespaced: true, shortNames: ['po'], categories: ['all'] }),
  resource: 'pods',
  custom: false,
  status: 'spec',
  generationOf: (pod) => pod['spec'],
  defaulted: (pod) => ({ ...pod, spec: defaultedOwnSpec(recordAt(pod, 'spec') ?? {}) }),
  onCreate,
  onUpdate: ({ wanted, current }) => ({
    ...wanted,
    spec: withTolerations(recordAt(wanted, 'spec') ?? {}),
    status: current['status'],
  }),
  problems: (pod) => podSpecProblems(recordAt(pod, 'spec') ?? {}, 'spec'),
  changeProblems,
  fields: (pod) => ({
    'spec.nodeName': textAt(pod, 'spec', 'nodeName') ?? '',
    'spec.restartPolicy': textAt(pod, 'spec', 'restartPolicy') ?? '',
    'spec.schedulerName': textAt(pod, 'spec', 'schedulerName') ?? '',
    'spec.serviceAccountName': textAt(pod, 'spec', 'serviceAccountName') ?? '',
    'spec.hostNetwork': `${booleanAt(pod, 'spec', 'hostNetwork') ?? false}`,
    'status.phase': textAt(pod, 'status', 'phase') ?? '',
    'status.podIP': textAt(pod, 'status', 'podIP') ?? '',
    'status.nominatedNodeName': textAt(pod, 'status', 'nominatedNodeName') ?? '',
  }),
  grace,
  returnsDeleted: true,
  unconditionalUpdate: true,
};
