/**
 * Validates a pod spec, as far as clients of this cluster rely on it
 * (`pkg/apis/core/validation/validation.go`).
 */
import { type JsonRecord, listOrEmptyAt, numberAt, textAt } from '../values/json.ts';
import { duplicate, type FieldProblem, invalid, notSupported, required } from './field-problem.ts';
import { labelNameProblems } from './names.ts';
import {
  nodeSelectorProblems,
  resourceProblems,
  tolerationProblems,
} from './scheduling-problems.ts';

const RESTART_POLICIES = ['Always', 'Never', 'OnFailure'];
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];

const ofName = (name: string, field: string): FieldProblem[] =>
  name === ''
    ? [required(field)]
    : labelNameProblems(name).map((problem) => invalid(field, name, problem));

const ofContainer = (container: unknown, field: string): FieldProblem[] => {
  const policy = textAt(container, 'imagePullPolicy');
  return [
    ...ofName(textAt(container, 'name') ?? '', `${field}.name`),
    ...((textAt(container, 'image') ?? '') === '' ? [required(`${field}.image`)] : []),
    ...(policy === undefined || PULL_POLICIES.includes(policy)
      ? []
      : [notSupported(`${field}.imagePullPolicy`, policy, PULL_POLICIES)]),
    ...resourceProblems(container, `${field}.resources`),
  ];
};

const ofNames = (items: readonly unknown[], field: string): FieldProblem[] => {
  const names = items.map((item) => textAt(item, 'name') ?? '');
  return names.flatMap((name, index) =>
    name !== '' && names.indexOf(name) < index ? [duplicate(`${field}[${index}].name`, name)] : []
  );
};

const ofMounts = (
  container: unknown,
  field: string,
  volumes: ReadonlySet<string>,
): FieldProblem[] =>
  listOrEmptyAt(container, 'volumeMounts').flatMap((mount, index) => {
    const name = textAt(mount, 'name') ?? '';
    const at = `${field}.volumeMounts[${index}]`;
    return [
      ...(name === '' ? [required(`${at}.name`)] : []),
      ...(name === '' || volumes.has(name) ? [] : [{
        reason: 'FieldValueNotFound',
        field: `${at}.name`,
        message: `Not found: ${JSON.stringify(name)}`,
      }]),
      ...((textAt(mount, 'mountPath') ?? '') === '' ? [required(`${at}.mountPath`)] : []),
    ];
  });

const ofContainers = (spec: JsonRecord, field: string, list: string): FieldProblem[] => {
  const containers = listOrEmptyAt(spec, list);
  const volumes = new Set(listOrEmptyAt(spec, 'volumes').map((one) => textAt(one, 'name') ?? ''));
  return [
    ...containers.flatMap((container, index) => [
      ...ofContainer(container, `${field}.${list}[${index}]`),
      ...ofMounts(container, `${field}.${list}[${index}]`, volumes),
    ]),
    ...ofNames(containers, `${field}.${list}`),
  ];
};

const ofVolumes = (spec: JsonRecord, field: string): FieldProblem[] => {
  const volumes = listOrEmptyAt(spec, 'volumes');
  return [
    ...volumes.flatMap((volume, index) =>
      ofName(textAt(volume, 'name') ?? '', `${field}.volumes[${index}].name`)
    ),
    ...ofNames(volumes, `${field}.volumes`),
  ];
};

/** Validates the spec at `field`. */
export const podSpecProblems = (spec: JsonRecord, field: string): readonly FieldProblem[] => {
  const policy = textAt(spec, 'restartPolicy') ?? '';
  const seconds = numberAt(spec, 'terminationGracePeriodSeconds') ?? 0;
  return [
    ...ofVolumes(spec, field),
    ...(listOrEmptyAt(spec, 'containers').length === 0 ? [required(`${field}.containers`)] : []),
    ...ofContainers(spec, field, 'containers'),
    ...ofContainers(spec, field, 'initContainers'),
    ...(RESTART_POLICIES.includes(policy)
      ? []
      : [notSupported(`${field}.restartPolicy`, policy, RESTART_POLICIES)]),
    ...nodeSelectorProblems(spec, field),
    ...tolerationProblems(spec, field),
    ...(seconds < 0
      ? [
        invalid(
          `${field}.terminationGracePeriodSeconds`,
          seconds,
          'must be greater than or equal to 0',
        ),
      ]
      : []),
  ];
};
