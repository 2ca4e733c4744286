/** Validates the small kinds (the validations in `pkg/apis` of Kubernetes). */
import { type JsonRecord, listOrEmptyAt, numberAt, recordAt, textAt } from '../values/json.ts';
import { fieldForbidden, type FieldProblem, invalid, required, tooLong } from './field-problem.ts';

const FILE_NAME = /^[-._a-zA-Z0-9]+$/;
const DATA_BYTES_MAX = 1_048_576;

const bytesOf = (record: JsonRecord): number =>
  Object.values(record).reduce<number>((sum, value) => sum + `${value}`.length, 0);

const keyProblems = (object: JsonRecord, field: string): readonly FieldProblem[] =>
  Object.keys(recordAt(object, field) ?? {}).filter((key) => !FILE_NAME.test(key)).map((key) =>
    invalid(
      `${field}[${key}]`,
      key,
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    )
  );

/** Validates the data of a ConfigMap or a Secret. */
export const dataProblems = (object: JsonRecord): readonly FieldProblem[] => {
  const fields = ['data', 'binaryData'];
  const bytes = fields.reduce((sum, field) => sum + bytesOf(recordAt(object, field) ?? {}), 0);
  return [
    ...fields.flatMap((field) => keyProblems(object, field)),
    ...(bytes > DATA_BYTES_MAX
      ? [tooLong('', `may not be more than ${DATA_BYTES_MAX} bytes`)]
      : []),
  ];
};

/** Validates a Lease. */
export const leaseProblems = (lease: JsonRecord): readonly FieldProblem[] => {
  const seconds = numberAt(lease, 'spec', 'leaseDurationSeconds') ?? 1;
  return seconds > 0
    ? []
    : [invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0')];
};

const PRIORITY_MAX = 1_000_000_000;

/** Validates a PriorityClass; only system classes may exceed the user limit. */
export const priorityProblems = (given: JsonRecord): readonly FieldProblem[] => {
  const system = (textAt(given, 'metadata', 'name') ?? '').startsWith('system-');
  return system || (numberAt(given, 'value') ?? 0) <= PRIORITY_MAX ? [] : [
    fieldForbidden('value', `maximum allowed value of a user defined priority is ${PRIORITY_MAX}`),
  ];
};

/** Validates an Event in the field names of the core group. */
export const eventProblems = (event: JsonRecord): readonly FieldProblem[] => {
  const involved = textAt(event, 'involvedObject', 'namespace') ?? '';
  const namespace = textAt(event, 'metadata', 'namespace') ?? '';
  // An Event about a cluster-scoped object belongs to the default namespace.
  const expected = involved === '' ? 'default' : involved;
  return expected === namespace ? [] : [
    invalid('involvedObject.namespace', involved, 'does not match event.namespace'),
  ];
};

const accessProblems = (object: JsonRecord): readonly FieldProblem[] =>
  listOrEmptyAt(object, 'spec', 'accessModes').length > 0
    ? []
    : [required('spec.accessModes', 'at least 1 access mode is required')];

/** Validates a PersistentVolumeClaim. */
export const claimProblems = (claim: JsonRecord): readonly FieldProblem[] => [
  ...accessProblems(claim),
  ...(recordAt(claim, 'spec', 'resources', 'requests')?.['storage'] === undefined
    ? [required('spec.resources[storage]')]
    : []),
];

/** Validates a PersistentVolume. */
export const volumeProblems = (volume: JsonRecord): readonly FieldProblem[] => [
  ...accessProblems(volume),
  ...(recordAt(volume, 'spec', 'capacity') === undefined ? [required('spec.capacity')] : []),
];

/** Validates a VolumeAttachment. */
export const attachmentProblems = (attachment: JsonRecord): readonly FieldProblem[] =>
  (textAt(attachment, 'spec', 'attacher') ?? '') === '' ? [required('spec.attacher')] : [];
