/** AvailableCapacity: free capacity of the fleet on given terms. */
import { Schema } from 'effect';
import { API_GROUP } from '../domain/api-group.ts';
import { REQUEST_LIMITS } from '../domain/demand/request-limits.ts';
import { ageColumn, type CustomResource, wideColumn } from './crd.ts';
import { int32Field, QuantityField, requirementsField, ResourceMapField } from './fields.ts';

/** Those of a request, and `Same` of a co-located one. */
const REQUIREMENTS_MAX = REQUEST_LIMITS.requirements + 1;

/** The available capacity. */
const AvailableCapacitySpec = Schema.Struct({
  requirements: Schema.optionalKey(
    requirementsField(REQUIREMENTS_MAX).annotate({
      description: 'Conditions that the machines meet; all hold.',
    }),
  ),
  resources: ResourceMapField.annotate({ description: 'Resources of one machine.' }),
  availableCount: int32Field(0).annotate({ description: 'Number of available machines.' }),
  availability: Schema.Literals(['None', 'Low', 'Medium', 'High']).annotate({
    description: 'How certain the fleet is of that.',
  }),
  cost: QuantityField.annotate({ description: 'Dollars per hour for one machine.' }),
});
/** The available capacity. */
type AvailableCapacitySpec = typeof AvailableCapacitySpec.Type;

/** Empty: everything is in the spec. */
const AvailableCapacityStatus = Schema.Struct({});

/** The custom resource. */
export const availableCapacity: CustomResource = {
  group: API_GROUP,
  category: 'fleet',
  kind: 'AvailableCapacity',
  plural: 'availablecapacities',
  shortNames: ['avc'],
  scope: 'Cluster',
  description: 'Free capacity of one profile that the fleet last reported for this ' +
    'cluster. Written only by Tidegate; a hint, not a guarantee.',
  spec: AvailableCapacitySpec,
  status: AvailableCapacityStatus,
  columns: [
    { name: 'Availability', type: 'string', jsonPath: '.spec.availability' },
    { name: 'Available', type: 'integer', jsonPath: '.spec.availableCount' },
    { name: 'Cost', type: 'string', jsonPath: '.spec.cost' },
    ageColumn,
    wideColumn('CPU', '.spec.resources.cpu'),
    wideColumn('Memory', '.spec.resources.memory'),
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
