/**
 * Custom resources of the shape that Kubernetes 1.37 gives to EvictionRequest and Eviction of
 * `lifecycle.k8s.io/v1alpha1`: the same fields, lists by key, enumerations and bounds.
 */
import type { JsonRecord } from '../../../src/domain/json.ts';

const NAME = {
  type: 'string',
  maxLength: 317,
  pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$',
};
const TIME = { type: 'string', format: 'date-time' };
const GENERATION = { type: 'integer', format: 'int64', minimum: 1 };
const INTENT = { type: 'string', enum: ['Eviction', 'Withdrawn'] };

const TARGET = {
  type: 'object',
  required: ['pod'],
  properties: {
    pod: {
      type: 'object',
      required: ['name', 'uid'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 253 },
        uid: { type: 'string', pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' },
      },
    },
  },
  'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'field is immutable' }],
};

const byKey = (key: string, maxItems: number, items: JsonRecord) => ({
  type: 'array',
  maxItems,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': [key],
  items: { type: 'object', ...items },
});

const CONDITIONS = byKey('type', 100, {
  required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  properties: {
    type: { type: 'string', maxLength: 316 },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    reason: { type: 'string', minLength: 1, maxLength: 1024 },
    message: { type: 'string', maxLength: 32_768 },
    lastTransitionTime: TIME,
    observedGeneration: { type: 'integer', format: 'int64' },
  },
});

const EVICTION_STATUS = {
  conditions: CONDITIONS,
  observedGeneration: GENERATION,
  requesters: byKey('name', 100, {
    'x-kubernetes-map-type': 'atomic',
    required: ['name', 'intent'],
    properties: { name: NAME, intent: INTENT },
  }),
  targetResponders: byKey('name', 11, {
    'x-kubernetes-map-type': 'atomic',
    required: ['name', 'priority', 'state'],
    properties: {
      name: NAME,
      priority: { type: 'integer', format: 'int32', minimum: 0, maximum: 100_000 },
      state: {
        type: 'string',
        enum: ['Inactive', 'Active', 'Interrupted', 'Canceled', 'Completed'],
      },
    },
  }),
  responders: byKey('name', 11, {
    required: ['name'],
    properties: {
      name: NAME,
      startTime: TIME,
      heartbeatTime: TIME,
      expectedCompletionTime: TIME,
      completionTime: TIME,
      message: { type: 'string', maxLength: 4000 },
    },
  }),
};

interface Shape {
  readonly kind: string;
  readonly plural: string;
  readonly required: readonly string[];
  readonly spec: JsonRecord;
  readonly status: JsonRecord;
}

const definition = ({ kind, plural, required, spec, status }: Shape) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${plural}.lifecycle.k8s.io`,
    annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
  },
  spec: {
    group: 'lifecycle.k8s.io',
    scope: 'Namespaced',
    names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
    versions: [{
      name: 'v1alpha1',
      served: true,
      storage: true,
      subresources: { status: {} },
      schema: {
        openAPIV3Schema: {
          type: 'object',
          required: ['spec'],
          properties: {
            spec: { type: 'object', required, properties: spec },
            status: { type: 'object', properties: status },
          },
        },
      },
    }],
  },
});

/** EvictionRequest and Eviction. */
export const NATIVE_DEFINITIONS = [
  definition({
    kind: 'EvictionRequest',
    plural: 'evictionrequests',
    required: ['target', 'requester', 'intent'],
    spec: {
      target: TARGET,
      requester: {
        ...NAME,
        'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'field is immutable' }],
      },
      intent: INTENT,
    },
    status: { conditions: CONDITIONS, observedGeneration: GENERATION },
  }),
  definition({
    kind: 'Eviction',
    plural: 'evictions',
    required: ['target'],
    spec: { target: TARGET },
    status: EVICTION_STATUS,
  }),
];
