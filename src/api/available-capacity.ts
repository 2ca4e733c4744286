/** AvailableCapacity: what the fleet could still give on certain terms. */
import { Schema } from 'effect';
import { ageColumn, type CustomResource } from './crd.ts';
import { int32Field, QuantityField, RequirementsField, ResourceMapField } from './fields.ts';

/** What could be had. */
const AvailableCapacitySpec = Schema.Struct({
  requirements: Schema.optionalKey(RequirementsField.annotate({
    description: 'Conditions that the machines meet; all hold.',
  })),
  resources: ResourceMapField.annotate({ description: 'Resources of one machine.' }),
  availableCount: int32Field(0).annotate({ description: 'How many machines could be had.' }),
  availability: Schema.Literals(['None', 'Low', 'Medium', 'High']).annotate({
    description: 'How sure the fleet is of that.',
  }),
  cost: QuantityField.annotate({ description: 'Dollars an hour for one machine.' }),
});
/** What could be had. */
type AvailableCapacitySpec = typeof AvailableCapacitySpec.Type;

/** Nothing yet: everything that is known stands in the spec. */
const AvailableCapacityStatus = Schema.Struct({});

/** The custom resource. */
export const availableCapacity: CustomResource = {
  kind: 'AvailableCapacity',
  plural: 'availablecapacities',
  shortNames: ['avc'],
  scope: 'Cluster',
  description: 'Capacity of one profile that the fleet could still give to this cluster, as it ' +
    'last said. Written by Tidegate and nobody else; a hint and no promise.',
  spec: AvailableCapacitySpec,
  status: AvailableCapacityStatus,
  columns: [
    { name: 'Availability', type: 'string', jsonPath: '.spec.availability' },
    { name: 'Available', type: 'integer', jsonPath: '.spec.availableCount' },
    { name: 'Cost', type: 'string', jsonPath: '.spec.cost' },
    ageColumn,
  ],
  selectableFields: [],
  example: {
    metadata: { name: 'ac-c1e0f71c92d76ecb4932359515c143ee' },
    spec: {
      requirements: [
        { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['a3-highgpu-8g'] },
      ],
      resources: { cpu: '208', memory: '1872Gi', 'nvidia.com/gpu': '8' },
      availableCount: 12,
      availability: 'Medium',
      cost: '88.49',
    },
  },
};
