/**
 * Pod defaults (`pkg/apis/core/v1/defaults.go`).
 *
 * Promises: total on any input; malformed values stay for validation to refuse.
 */
import {
  asRecord,
  asText,
  type JsonRecord,
  listOrEmptyAt,
  recordAt,
  textAt,
} from '../values/json.ts';

const HOST_PATH = { type: '' };
const FILE_MODE = 420;
const MODED = ['secret', 'configMap', 'downwardAPI', 'projected'];

const mapped = (
  object: JsonRecord,
  field: string,
  change: (item: JsonRecord) => JsonRecord,
): JsonRecord => {
  if (!Array.isArray(object[field])) return {};
  return {
    [field]: listOrEmptyAt(object, field).map((item) => {
      const record = asRecord(item);
      return record === undefined ? item : change(record);
    }),
  };
};

const isLatest = (image: string): boolean => {
  const name = image.slice(image.lastIndexOf('/') + 1);
  return !image.includes('@') && (!name.includes(':') || name.endsWith(':latest'));
};

const probe = (object: JsonRecord, field: string): JsonRecord => {
  const given = recordAt(object, field);
  if (given === undefined) return {};
  const http = recordAt(given, 'httpGet');
  return {
    [field]: {
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
      ...given,
      ...(http === undefined ? {} : { httpGet: { path: '/', scheme: 'HTTP', ...http } }),
    },
  };
};

const environment = (variable: JsonRecord): JsonRecord => {
  const from = recordAt(variable, 'valueFrom');
  const field = recordAt(from, 'fieldRef');
  if (field === undefined) return variable;
  return { ...variable, valueFrom: { ...from, fieldRef: { apiVersion: 'v1', ...field } } };
};

const container = (given: JsonRecord): JsonRecord => ({
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: isLatest(textAt(given, 'image') ?? '') ? 'Always' : 'IfNotPresent',
  ...given,
  ...mapped(given, 'ports', (port) => ({ protocol: 'TCP', ...port })),
  ...mapped(given, 'env', environment),
  ...probe(given, 'livenessProbe'),
  ...probe(given, 'readinessProbe'),
  ...probe(given, 'startupProbe'),
});

const volume = (given: JsonRecord): JsonRecord => {
  const sources = Object.keys(given).filter((field) => field !== 'name');
  if (sources.length === 0) return { ...given, emptyDir: {} };
  const moded = MODED.filter((source) => recordAt(given, source) !== undefined);
  const hostPath = recordAt(given, 'hostPath');
  return {
    ...given,
    ...Object.fromEntries(
      moded.map((source) => [source, { defaultMode: FILE_MODE, ...recordAt(given, source) }]),
    ),
    ...(hostPath === undefined ? {} : { hostPath: { ...HOST_PATH, ...hostPath } }),
  };
};

const accounts = (spec: JsonRecord): JsonRecord => {
  const name = asText(spec['serviceAccountName']) ?? asText(spec['serviceAccount']);
  return name === undefined || name === ''
    ? {}
    : { serviceAccountName: name, serviceAccount: name };
};

/** Defaults the spec of a pod or a pod template. */
const defaultedPodSpec = (spec: JsonRecord): JsonRecord => ({
  restartPolicy: 'Always',
  dnsPolicy: 'ClusterFirst',
  schedulerName: 'default-scheduler',
  securityContext: {},
  terminationGracePeriodSeconds: 30,
  ...spec,
  ...accounts(spec),
  ...mapped(spec, 'containers', container),
  ...mapped(spec, 'initContainers', container),
  ...mapped(spec, 'volumes', volume),
});

/** Defaults a pod template. */
export const defaultedTemplate = (template: JsonRecord): JsonRecord => ({
  ...template,
  metadata: { ...recordAt(template, 'metadata') },
  spec: defaultedPodSpec(recordAt(template, 'spec') ?? {}),
});

const requested = (given: JsonRecord): JsonRecord => {
  const limits = recordAt(given, 'resources', 'limits');
  if (limits === undefined) return given;
  const resources = recordAt(given, 'resources');
  return {
    ...given,
    resources: { ...resources, requests: { ...limits, ...recordAt(resources, 'requests') } },
  };
};

/** Defaults a pod's own spec: limits become requests, service links are enabled. */
export const defaultedOwnSpec = (spec: JsonRecord): JsonRecord => {
  const whole = defaultedPodSpec(spec);
  return {
    enableServiceLinks: true,
    ...whole,
    ...mapped(whole, 'containers', requested),
    ...mapped(whole, 'initContainers', requested),
  };
};
