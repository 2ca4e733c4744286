/** The remaining kinds of the core group, and the small groups. */
import {
  type JsonRecord,
  listOrEmptyAt,
  recordAt,
  textAt,
  textRecordOrEmptyAt,
} from '../values/json.ts';
import {
  attachmentProblems,
  claimProblems,
  dataProblems,
  leaseProblems,
  priorityProblems,
  volumeProblems,
} from '../validation/core-problems.ts';
import { fieldForbidden, type FieldProblem, invalid } from '../validation/field-problem.ts';
import { taintProblems } from '../validation/scheduling-problems.ts';
import { type Change, type Kind, type KindNames, kindNames, resourceOf } from './kind.ts';
import { nameOf } from './metadata.ts';
import { namespaceKind } from './namespaces.ts';
import { podKind } from './pods.ts';

const plain = (names: KindNames, rules: Partial<Kind> = {}): Kind => ({
  ...names,
  resource: resourceOf(names),
  custom: false,
  status: undefined,
  unconditionalUpdate: true,
  ...rules,
});

/** An absent field is false. */
const nodeSpec = (node: JsonRecord): JsonRecord => {
  const { unschedulable, ...spec } = recordAt(node, 'spec') ?? {};
  return unschedulable === true ? { ...spec, unschedulable } : spec;
};

const NOT_READY = 'node.kubernetes.io/not-ready';

/** Admission taints a new node until the node lifecycle controller sees it Ready. */
const withNotReady = (spec: JsonRecord): JsonRecord => {
  const taints = listOrEmptyAt(spec, 'taints');
  if (taints.some((taint) => textAt(taint, 'key') === NOT_READY)) return spec;
  return { ...spec, taints: [...taints, { key: NOT_READY, effect: 'NoSchedule' }] };
};

const nodeKind = plain(kindNames('', 'Node', { namespaced: false, shortNames: ['no'] }), {
  status: 'spec',
  defaulted: (node) => {
    const capacity = recordAt(node, 'status', 'capacity');
    const status = recordAt(node, 'status');
    const spec = nodeSpec(node);
    if (capacity === undefined || status?.['allocatable'] !== undefined) return { ...node, spec };
    return { ...node, spec, status: { ...status, allocatable: capacity } };
  },
  // Unlike other kinds, a node keeps the status it is created with: kubelets register so.
  onCreate: (node) => ({ ...node, spec: withNotReady(recordAt(node, 'spec') ?? {}) }),
  problems: taintProblems,
  changeProblems: ({ wanted, current }) => {
    const before = textAt(current, 'spec', 'providerID') ?? '';
    return before === '' || textAt(wanted, 'spec', 'providerID') === before ? [] : [
      fieldForbidden('spec.providerID', 'node updates may only change labels, taints, or capacity'),
    ];
  },
  fields: (node) => ({
    'spec.unschedulable': `${recordAt(node, 'spec')?.['unschedulable'] ?? false}`,
  }),
});

/** Moves `stringData` into `data`, base64-encoded. */
const secretData = (secret: JsonRecord): JsonRecord => {
  const { stringData: _, ...rest } = secret;
  const texts = Object.entries(textRecordOrEmptyAt(secret, 'stringData'));
  const added = Object.fromEntries(
    texts.map(([key, text]) => [key, encoded(text)]),
  );
  const data = { ...recordAt(secret, 'data'), ...added };
  return {
    ...rest,
    ...(Object.keys(data).length === 0 ? {} : { data }),
    type: textAt(secret, 'type') ?? 'Opaque',
  };
};

const encoded = (text: string): string =>
  btoa(String.fromCodePoint(...new TextEncoder().encode(text)));

const immutable =
  (kept: readonly string[]) => ({ wanted, current }: Change): readonly FieldProblem[] => {
    if (current['immutable'] !== true) return [];
    return kept.filter((field) => JSON.stringify(wanted[field]) !== JSON.stringify(current[field]))
      .map((field) => ({
        reason: 'FieldValueForbidden',
        field,
        message: 'Forbidden: field is immutable when `immutable` is set',
      }));
  };

const secretKind = plain(kindNames('', 'Secret', { namespaced: true }), {
  problems: dataProblems,
  defaulted: secretData,
  fields: (secret) => ({ type: textAt(secret, 'type') ?? '' }),
  changeProblems: (change) => [
    ...(change.wanted['type'] === change.current['type']
      ? []
      : [invalid('type', change.wanted['type'], 'field is immutable')]),
    ...immutable(['immutable', 'data'])(change),
  ],
});

const claimKind = plain(
  kindNames('', 'PersistentVolumeClaim', { namespaced: true, shortNames: ['pvc'] }),
  {
    status: 'spec',
    returnsDeleted: true,
    defaulted: (claim) => ({
      ...claim,
      spec: { volumeMode: 'Filesystem', ...recordAt(claim, 'spec') },
      status: { phase: 'Pending', ...recordAt(claim, 'status') },
    }),
    onCreate: (claim) => ({ ...claim, status: { phase: 'Pending' } }),
    problems: claimProblems,
    fields: (claim) => ({ name: nameOf(claim) }),
  },
);

const volumeKind = plain(
  kindNames('', 'PersistentVolume', { namespaced: false, shortNames: ['pv'] }),
  {
    status: 'spec',
    returnsDeleted: true,
    defaulted: (volume) => ({
      ...volume,
      spec: {
        persistentVolumeReclaimPolicy: 'Retain',
        volumeMode: 'Filesystem',
        ...recordAt(volume, 'spec'),
      },
      status: { phase: 'Pending', ...recordAt(volume, 'status') },
    }),
    onCreate: (volume) => ({ ...volume, status: { phase: 'Pending' } }),
    problems: volumeProblems,
    fields: (volume) => ({ name: nameOf(volume) }),
  },
);

const priorityKind = plain(
  kindNames('scheduling.k8s.io', 'PriorityClass', {
    namespaced: false,
    plural: 'priorityclasses',
    shortNames: ['pc'],
  }),
  {
    generationOf: () => 0,
    problems: priorityProblems,
    defaulted: (given) => ({ preemptionPolicy: 'PreemptLowerPriority', value: 0, ...given }),
    changeProblems: ({ wanted, current }) =>
      wanted['value'] === current['value']
        ? []
        : [invalid('value', wanted['value'], 'field is immutable')],
  },
);

const leaseKind = plain(kindNames('coordination.k8s.io', 'Lease', { namespaced: true }), {
  unconditionalUpdate: false,
  createOnUpdate: true,
  problems: leaseProblems,
});

const attachmentKind = plain(
  kindNames('storage.k8s.io', 'VolumeAttachment', { namespaced: false }),
  {
    status: 'spec',
    returnsDeleted: true,
    unconditionalUpdate: false,
    problems: attachmentProblems,
  },
);

/** The kinds of these groups. */
export const CORE_KINDS: readonly Kind[] = [
  namespaceKind,
  nodeKind,
  podKind,
  plain(kindNames('', 'ConfigMap', { namespaced: true, shortNames: ['cm'] }), {
    problems: dataProblems,
    changeProblems: immutable(['immutable', 'data', 'binaryData']),
  }),
  secretKind,
  plain(kindNames('', 'ServiceAccount', { namespaced: true, shortNames: ['sa'] }), {
    returnsDeleted: true,
  }),
  claimKind,
  volumeKind,
  priorityKind,
  leaseKind,
  attachmentKind,
];
