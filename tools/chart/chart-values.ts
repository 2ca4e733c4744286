/** The values of the Helm chart, but for `settings`: see `flag-values.ts`. */
import { ROLE_NAMES } from '../../src/domain/operator-roles.ts';
import {
  type ChartValues,
  DURATION,
  group,
  LINES,
  OBJECT,
  OBJECTS,
  type Schema,
  SWITCH,
  TEXT,
  TEXTS_BY_KEY,
  unset,
  value,
} from './chart-value.ts';
import { MONITORING } from './monitoring-values.ts';
import { SETTINGS } from './flag-values.ts';

const RESOURCES: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: { requests: OBJECT, limits: OBJECT, claims: OBJECTS },
};

const NAME: Schema = { type: 'string', pattern: '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$' };

const COUNT: Schema = { type: 'integer', minimum: 0, maximum: 5 };

/** Of one entry of `operators`. */
const OPERATOR: ChartValues = {
  enabled: value('Whether this Deployment exists.', SWITCH, true),
  roles: value(
    'Roles of its process; a process with several roles has one budget for all its writes.',
    { type: 'array', minItems: 1, uniqueItems: true, items: { enum: ROLE_NAMES } },
    ['fleet', 'pods'],
  ),
  replicas: value('Replicas: one leads, the others stand by.', COUNT, 2),
  resources: unset('Resources of this Deployment instead of `resources`.', RESOURCES, {
    limits: { memory: '1Gi' },
  }),
  settings: unset('Settings of this Deployment, which win over `settings`.', {
    $ref: '#/$defs/settings',
  }, { logLevel: 'debug' }),
  serviceAccountName: unset(
    'Existing ServiceAccount, when `serviceAccount.create` is false.',
    NAME,
    'tidegate-operator',
  ),
};

/** The schema of any entry of `operators`. */
export const OPERATOR_GROUP = group('A Deployment with its roles.', OPERATOR);

const OPERATORS: ChartValues = {
  operator: {
    description: 'The operator of the fleet. Another entry is another Deployment.',
    schema: { $ref: '#/$defs/operator' },
    default: { enabled: true, roles: ['fleet', 'pods'], replicas: 2 },
  },
  evictions: {
    description: 'EvictionRequests and surges, beside the operator.',
    schema: { $ref: '#/$defs/operator' },
    default: { enabled: false, roles: ['evictions', 'interceptors'], replicas: 2 },
  },
  maintenance: {
    description: 'NodeMaintenances, beside the operator.',
    schema: { $ref: '#/$defs/operator' },
    default: { enabled: false, roles: ['maintenance'], replicas: 2 },
  },
  availability: {
    description: 'Nodes that fail, beside the operator.',
    schema: { $ref: '#/$defs/operator' },
    default: { enabled: false, roles: ['availability'], replicas: 2 },
  },
};

const IMAGE = group('The image; it has the program `tidegate` on Node in its PATH.', {
  repository: value('Repository; required, because no image is published yet.', TEXT, ''),
  tag: value('Tag; without it, the version of the chart.', TEXT, ''),
  digest: value('Digest such as `sha256:…`, which wins over the tag.', {
    type: 'string',
    pattern: '^(sha256:[0-9a-f]{64})?$',
  }, ''),
  pullPolicy: value('Pull policy.', { enum: ['Always', 'IfNotPresent', 'Never'] }, 'IfNotPresent'),
});

const TLS = group('Key pair of the session with the shard: `tls.crt`, `tls.key`, `ca.crt`.', {
  existingSecret: value('Secret that you manage; changes are noticed without a restart.', NAME, ''),
  certManager: group('A Certificate of cert-manager instead.', {
    enabled: value('Whether the chart makes a Certificate.', SWITCH, false),
    issuerRef: group('Its issuer, whose CA must be the one that the fleet trusts.', {
      name: value('Name; required.', NAME, ''),
      kind: value('Kind.', TEXT, 'Issuer'),
      group: value('API group.', TEXT, 'cert-manager.io'),
    }),
    duration: value('Lifetime of a certificate.', DURATION, '2160h'),
    renewBefore: value('How long before its end it is renewed.', DURATION, '720h'),
  }),
});

const CLUSTER_OBJECTS: ChartValues = {
  crds: group('Custom resource definitions.', {
    install: value(
      'Whether the chart installs and upgrades them; an uninstall keeps them in any case.',
      SWITCH,
      true,
    ),
  }),
  policies: group(
    'ValidatingAdmissionPolicies: who may request evictions, maintain nodes, drain.',
    {
      install: value('Whether the chart installs them.', SWITCH, true),
    },
  ),
  rbac: group('Rights.', {
    create: value(
      'Whether each ServiceAccount gets exactly the rights of its roles.',
      SWITCH,
      true,
    ),
    viewer: value('ClusterRole for people, for the commands that only read.', SWITCH, true),
    drainer: value('ClusterRole for people, beside it, for those that drain nodes.', SWITCH, true),
  }),
  serviceAccount: group('ServiceAccounts, one for each Deployment.', {
    create: value('Whether the chart creates them.', SWITCH, true),
    annotations: value('Annotations.', TEXTS_BY_KEY, {}),
  }),
};

const PODS: ChartValues = {
  resources: value(
    'Resources of each pod; the heap of Node is three quarters of the memory limit.',
    RESOURCES,
    { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '512Mi' } },
  ),
  podDisruptionBudget: group('One budget for each Deployment.', {
    enabled: value('Whether there are any.', SWITCH, true),
    maxUnavailable: value('Pods that may be away.', {
      anyOf: [{ type: 'integer', minimum: 0 }, { type: 'string', pattern: '^[0-9]+%$' }],
    }, 1),
  }),
  spread: group('Where the replicas of a Deployment run.', {
    topologyKeys: value('Labels of Nodes over which they spread.', LINES, [
      'kubernetes.io/hostname',
      'topology.kubernetes.io/zone',
    ]),
    whenUnsatisfiable: value('Whether a pod that cannot be spread waits.', {
      enum: ['ScheduleAnyway', 'DoNotSchedule'],
    }, 'ScheduleAnyway'),
  }),
  priorityClassName: value('PriorityClass, such as `system-cluster-critical`.', NAME, ''),
  nodeSelector: value('Labels of the Nodes.', TEXTS_BY_KEY, {}),
  tolerations: value('Tolerations.', OBJECTS, []),
  affinity: value('Affinity.', OBJECT, {}),
  podLabels: value('Further labels of pods.', TEXTS_BY_KEY, {}),
  podAnnotations: value('Further annotations of pods.', TEXTS_BY_KEY, {}),
  userId: value(
    'User and group of the process; null lets the platform choose, as OpenShift does.',
    { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] },
    65532,
  ),
  terminationGracePeriodSeconds: value(
    'Time to finish evictions in flight and to release the Lease.',
    { type: 'integer', minimum: 30 },
    45,
  ),
};

const FILES: ChartValues = {
  bootstrapTemplate: group("Template of a machine's user data; changes need no restart.", {
    text: value('The template itself, for a ConfigMap of the chart.', TEXT, ''),
    existingConfigMap: value('ConfigMap with it instead.', NAME, ''),
    existingSecret: value('Secret with it instead, for templates with tokens.', NAME, ''),
    key: value('Key in the ConfigMap or Secret.', { type: 'string', minLength: 1 }, 'template'),
  }),
  priorityClassDefaults: group('Penalties by PriorityClass, for pods without the annotations.', {
    content: value('The content of the file; changes need no restart.', OBJECT, {}),
    existingConfigMap: value('ConfigMap with it instead.', NAME, ''),
    key: value('Key in the ConfigMap.', { type: 'string', minLength: 1 }, 'defaults.yaml'),
  }),
  livePage: group(
    'The live page, on the loopback address of the pod, for `kubectl port-forward`.',
    {
      enabled: value('Whether it is served.', SWITCH, false),
      tokenSecret: value('Secret whose key `token` its readers must send.', NAME, ''),
    },
  ),
};

const TRAFFIC =
  'NetworkPolicy of all Deployments. It lets out DNS (ports 53 and 5353), requests to the API ' +
  'server, and the session to the port of `settings.shardAddr`, which is 443 when it names none.';

const NETWORK_POLICY = group(TRAFFIC, {
  enabled: value('Whether there is one.', SWITCH, false),
  metricsFrom: value('Peers that may read metrics; without any, all.', OBJECTS, []),
  apiServer: group('Where the API server is.', {
    cidrs: value('Address ranges; without any, all addresses.', LINES, []),
    ports: value('Ports.', {
      type: 'array',
      items: { type: 'integer', minimum: 1, maximum: 65535 },
    }, [443, 6443]),
  }),
  extraEgress: value('Further rules of egress.', OBJECTS, []),
});

const EXTRAS: ChartValues = {
  extraArgs: value('Further arguments of `tidegate operator`; a flag beats a setting.', LINES, []),
  extraEnv: value("Further variables; one of the name of the chart's replaces it.", OBJECTS, []),
  extraVolumes: value('Further volumes.', OBJECTS, []),
  extraVolumeMounts: value('Further mounts.', OBJECTS, []),
  extraObjects: value('Further objects of the release, as they are.', OBJECTS, []),
};

/** All values, in the order of values.yaml. */
export const CHART_VALUES: ChartValues = {
  image: IMAGE,
  imagePullSecrets: value('Secrets for the registry, such as `name: registry`.', OBJECTS, []),
  nameOverride: value('Instead of `tidegate` in names.', NAME, ''),
  fullnameOverride: value('Instead of the release and the chart in names.', NAME, ''),
  commonLabels: value('Further labels of all objects.', TEXTS_BY_KEY, {}),
  operators: {
    ...group('Deployments by name; each has its roles, its account and its Lease.', OPERATORS),
    schema: { type: 'object', propertyNames: { pattern: '^[a-z]([-a-z0-9]{0,18}[a-z0-9])?$' } },
  },
  settings: {
    ...group('Flags of the operator in camel case; see the command line.', SETTINGS),
    default: {},
  },
  tls: TLS,
  ...FILES,
  ...CLUSTER_OBJECTS,
  ...PODS,
  networkPolicy: NETWORK_POLICY,
  monitoring: MONITORING,
  ...EXTRAS,
};
