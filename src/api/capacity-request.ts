/** CapacityRequest: capacity that somebody in this cluster wants. */
import { Schema } from 'effect';
import { ageColumn, type CustomResource } from './crd.ts';
import {
  int32Field,
  LabelSelectorField,
  NonEmptyText,
  QuantityField,
  RequirementsField,
  ResourceMapField,
  TimestampField,
} from './fields.ts';

const TopologySpreadField = Schema.Struct({
  maxSkew: int32Field(1).annotate({
    description: 'By how many machines two values of the topology key may differ.',
  }),
  topologyKey: NonEmptyText.annotate({
    description: 'Label of machines whose values are spread over.',
  }),
  whenUnsatisfiable: Schema.Literals(['DoNotSchedule', 'ScheduleAnyway']).annotate({
    description:
      '`DoNotSchedule` binds the fleet; `ScheduleAnyway` is a wish and is not passed on to it.',
  }),
});

const CoLocationField = Schema.Struct({
  topologyKey: NonEmptyText.annotate({
    description: 'Label of machines that must have one value for the whole group.',
  }),
  labelSelector: Schema.optionalKey(LabelSelectorField.annotate({
    description: 'Pods of this namespace that make up the group. Equal selectors, one group.',
  })),
});

/*
 * No rule against negative penalties here: a value that is only wrong in meaning is reported by
 * the operator with an Event, like everything else that it cannot read, and objects that an older
 * CRD let in stay writable.
 */
const penalty = (what: string) =>
  Schema.optionalKey(QuantityField.annotate({
    description: `Dollars that ${what} costs the owner; zero or more. Rounded up to $0.50 or a ` +
      'power of two. Not given is not the same as 0.',
  }));

/** What is asked for. */
export const CapacityRequestSpec = Schema.Struct({
  requirements: Schema.optionalKey(RequirementsField.annotate({
    description: 'Conditions on the labels of the machine; all must hold.',
  })),
  resources: ResourceMapField.annotate({
    description: 'How much of each resource, as Kubernetes quantities; zero or more.',
  }),
  priority: int32Field().annotate({
    description: 'Larger goes first, and may take machines from smaller.',
  }),
  topologySpread: Schema.optionalKey(
    Schema.Array(TopologySpreadField).annotate({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['topologyKey', 'whenUnsatisfiable'],
      description: 'How evenly the machines of equal requests are spread.',
    }),
  ),
  coLocation: Schema.optionalKey(CoLocationField.annotate({
    description: 'Asks for one value of a topology key for a group of requests.',
  })),
  interruptionPenalty: penalty('an interruption of the workload'),
  reclamationPenalty: penalty('giving the machine back'),
});
/** What is asked for. */
export type CapacityRequestSpec = typeof CapacityRequestSpec.Type;

/** How far the request is. */
const CapacityRequestStatus = Schema.Struct({
  phase: Schema.Literals(['Pending', 'Acknowledged']).annotate({
    description: '`Acknowledged` once the fleet has confirmed a roll-up that contains the request.',
  }),
  acknowledgedAt: Schema.optionalKey(
    TimestampField.annotate({ description: 'When the fleet first confirmed it.' }),
  ),
});
/** How far the request is. */
type CapacityRequestStatus = typeof CapacityRequestStatus.Type;

/** The custom resource. */
export const capacityRequest: CustomResource = {
  kind: 'CapacityRequest',
  plural: 'capacityrequests',
  shortNames: ['cr', 'crs'],
  scope: 'Namespaced',
  description:
    'Capacity that is wanted. Tidegate adds up all CapacityRequests of the cluster and ' +
    'tells the fleet; the fleet sends machines. Delete the request when nobody wants the ' +
    'capacity any more.',
  spec: CapacityRequestSpec,
  status: CapacityRequestStatus,
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Priority', type: 'integer', jsonPath: '.spec.priority' },
    ageColumn,
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
