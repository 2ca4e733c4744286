/** CapacityRequest: capacity that this cluster requests. */
import { Schema } from 'effect';
import { API_GROUP } from '../domain/api-group.ts';
import { REQUEST_LIMITS } from '../domain/demand/request-limits.ts';
import { ageColumn, type CustomResource, wideColumn } from './crd.ts';
import {
  atomic,
  ConditionsField,
  int32Field,
  LabelKeyField,
  LabelSelectorField,
  QuantityField,
  quantityMessage,
  requirementsField,
  ResourceMapField,
  resourceMessages,
  TimestampField,
} from './fields.ts';

const TopologySpreadField = Schema.Struct({
  maxSkew: int32Field().annotate({
    description: 'Maximum difference in machines between two values of the topology key; at ' +
      'least 1 with `DoNotSchedule`.',
  }),
  topologyKey: LabelKeyField.annotate({
    description: 'Machine label over whose values to spread.',
  }),
  whenUnsatisfiable: Schema.Literals(['DoNotSchedule', 'ScheduleAnyway']).annotate({
    description:
      '`DoNotSchedule` binds the fleet; `ScheduleAnyway` is a preference and not sent to it.',
  }),
});

const CoLocationField = Schema.Struct({
  topologyKey: LabelKeyField.annotate({
    description: 'Machine label that must have the same value for the whole group.',
  }),
  labelSelector: Schema.optionalKey(LabelSelectorField.annotate({
    description: 'Pods of this namespace that form the group. Equal selectors form one group.',
  })),
});

/*
 * The rules only word what the pattern refuses: there is none against negative penalties.
 * The operator reports other invalid values with an Event, and objects that an older CRD admitted
 * stay writable.
 */
const penalty = (what: string) =>
  Schema.optionalKey(QuantityField.annotate({
    ...quantityMessage(
      'The penalty is no quantity: give dollars as "16", "0.5" or "500m", without a sign of ' +
        'currency',
    ),
    description: `Dollars that ${what} costs the owner; zero or more. Rounded up to $0.50 or a ` +
      'power of two. Absent is different from 0.',
  }));

/** The requested capacity. */
export const CapacityRequestSpec = Schema.Struct({
  requirements: Schema.optionalKey(
    requirementsField(REQUEST_LIMITS.requirements).annotate({
      description: 'Conditions on the labels of the machine; all must hold.',
    }),
  ),
  resources: ResourceMapField.check(Schema.isMaxProperties(REQUEST_LIMITS.resources)).annotate({
    ...resourceMessages({
      cpu: 'resources.cpu is no quantity: give cores as "4", "1.5" or "250m"',
      memory: 'resources.memory is no quantity: give bytes as "512Mi", "16Gi" or "1500M"; the ' +
        'suffixes are case-sensitive, and no space precedes them',
    }),
    description: 'Amount of each resource, as Kubernetes quantities; zero or more.',
  }),
  priority: int32Field().annotate({
    description: 'Higher priority is served first and may preempt lower priority.',
  }),
  topologySpread: Schema.optionalKey(
    Schema.Array(TopologySpreadField).check(Schema.isMaxLength(REQUEST_LIMITS.spreads)).annotate({
      ...atomic,
      description: 'How evenly to spread the machines of equal requests.',
    }),
  ),
  coLocation: Schema.optionalKey(CoLocationField.annotate({
    description: 'Requires one value of a topology key for a group of requests.',
  })),
  interruptionPenalty: penalty('an interruption of the workload'),
  reclamationPenalty: penalty('a reclaim of the machine'),
});
/** The requested capacity. */
export type CapacityRequestSpec = typeof CapacityRequestSpec.Type;

/** The status of the request. */
const CapacityRequestStatus = Schema.Struct({
  phase: Schema.Literals(['Pending', 'Acknowledged']).annotate({
    description: '`Acknowledged` once the fleet acknowledged a roll-up that includes the request.',
  }),
  acknowledgedAt: Schema.optionalKey(
    TimestampField.annotate({ description: 'When the fleet first acknowledged it.' }),
  ),
  conditions: Schema.optionalKey(
    ConditionsField.annotate({
      description: '`Acknowledged` is True once the fleet acknowledged the generation that it ' +
        'names, Unknown before, and False while the request is left out of the demand.',
    }),
  ),
});
/** The status of the request. */
type CapacityRequestStatus = typeof CapacityRequestStatus.Type;

/** The custom resource. */
export const capacityRequest: CustomResource = {
  group: API_GROUP,
  category: 'fleet',
  kind: 'CapacityRequest',
  plural: 'capacityrequests',
  shortNames: ['cr', 'crs'],
  scope: 'Namespaced',
  description: 'Requested capacity. Tidegate aggregates all CapacityRequests of the cluster and ' +
    'reports them to the fleet, which provides machines. Delete the request when the ' +
    'capacity is no longer needed.',
  spec: CapacityRequestSpec,
  status: CapacityRequestStatus,
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Priority', type: 'integer', jsonPath: '.spec.priority' },
    ageColumn,
    wideColumn('CPU', '.spec.resources.cpu'),
    wideColumn('Memory', '.spec.resources.memory'),
    wideColumn('Pod', '.metadata.ownerReferences[?(@.kind=="Pod")].name'),
  ],
  selectableFields: ['.status.phase'],
  example: {
    metadata: { name: 'training', namespace: 'research' },
    spec: {
      requirements: [
        { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['a3-highgpu-8g'] },
        { key: 'example.com/quarantined', operator: 'DoesNotExist' },
      ],
      resources: { cpu: '96', memory: '1800Gi', 'nvidia.com/gpu': 8 },
      priority: 1000,
      topologySpread: [{
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'DoNotSchedule',
      }],
      coLocation: {
        topologyKey: 'example.com/rack',
        labelSelector: { matchLabels: { job: 'training' } },
      },
      interruptionPenalty: '16',
      reclamationPenalty: '500m',
    },
  },
};
