/**
 * Kinds of the Prometheus Operator and of cert-manager, with the fields that the chart uses, typed
 * as theirs: an API server with them refuses a field that they do not have.
 */
import { stringify } from 'yaml';

const TEXT = { type: 'string' };
const SWITCH = { type: 'boolean' };
const TEXTS = { type: 'array', items: TEXT };
const TEXTS_BY_KEY = { type: 'object', additionalProperties: TEXT };
const SELECTOR = { type: 'object', properties: { matchLabels: TEXTS_BY_KEY } };

const object = (properties: object, ...required: readonly string[]): object => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required }),
});

const listOf = (items: object): object => ({ type: 'array', items });

const ENDPOINTS = listOf(object({ port: TEXT, interval: TEXT, honorLabels: SWITCH }));

const RULE = object(
  { alert: TEXT, expr: TEXT, for: TEXT, labels: TEXTS_BY_KEY, annotations: TEXTS_BY_KEY },
  'expr',
);

interface Kind {
  readonly group: string;
  readonly kind: string;
  readonly spec: object;
}

const MONITORING = 'monitoring.coreos.com';

const KINDS: readonly Kind[] = [
  {
    group: MONITORING,
    kind: 'ServiceMonitor',
    spec: object({ selector: SELECTOR, endpoints: ENDPOINTS }, 'selector', 'endpoints'),
  },
  {
    group: MONITORING,
    kind: 'PodMonitor',
    spec: object({ selector: SELECTOR, podMetricsEndpoints: ENDPOINTS }, 'selector'),
  },
  {
    group: MONITORING,
    kind: 'PrometheusRule',
    spec: object({ groups: listOf(object({ name: TEXT, rules: listOf(RULE) }, 'name')) }),
  },
  {
    group: 'cert-manager.io',
    kind: 'Certificate',
    spec: object(
      {
        secretName: TEXT,
        uris: TEXTS,
        usages: TEXTS,
        duration: TEXT,
        renewBefore: TEXT,
        issuerRef: object({ name: TEXT, kind: TEXT, group: TEXT }, 'name'),
        privateKey: object({
          algorithm: { type: 'string', enum: ['RSA', 'ECDSA', 'Ed25519'] },
          size: { type: 'integer' },
          rotationPolicy: { type: 'string', enum: ['Never', 'Always'] },
        }),
        isCA: SWITCH,
      },
      'issuerRef',
      'secretName',
    ),
  },
];

const definition = ({ group, kind, spec }: Kind): object => {
  const singular = kind.toLowerCase();
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural: `${singular}s`, singular },
      versions: [{
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: object({ spec }) },
      }],
    },
  };
};

/** Their definitions. */
export const monitoringKinds = (): string =>
  KINDS.map((kind) => stringify(definition(kind), { aliasDuplicateObjects: false })).join('---\n');

/** Their names, as `kubectl` takes them. */
export const MONITORING_KINDS: readonly string[] = KINDS
  .map(({ group, kind }) => `${kind.toLowerCase()}s.${group}`);
