/** UpcomingNode: a machine that is becoming a Node of this cluster. */
import { Schema } from 'effect';
import { API_GROUP } from '../domain/api-group.ts';
import { MACHINE_ID_KEY } from '../domain/ids.ts';
import { ageColumn, type CustomResource, wideColumn } from './crd.ts';
import {
  ConditionsField,
  ObjectReferenceField,
  ResourceMapField,
  TaintsField,
  TimestampField,
} from './fields.ts';

/** The expected Node. */
const UpcomingNodeSpec = Schema.Struct({
  labels: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.String)
      .annotate({ description: 'Labels that the Node will have.' }),
  ),
  resources: ResourceMapField.annotate({ description: 'Resources that the Node will offer.' }),
  taints: Schema.optionalKey(
    TaintsField.annotate({ description: 'Taints that the Node will have.' }),
  ),
});
/** The expected Node. */
type UpcomingNodeSpec = typeof UpcomingNodeSpec.Type;

/** The status of the machine. */
const UpcomingNodeStatus = Schema.Struct({
  phase: Schema.Literals([
    'Provisioning',
    'Launched',
    'Registered',
    'Ready',
    'Draining',
    'Drained',
    'Failed',
  ]).annotate({ description: 'Last phase that the fleet reported.' }),
  nodeRef: Schema.optionalKey(
    ObjectReferenceField.annotate({ description: 'The Node that the machine became.' }),
  ),
  providerID: Schema.optionalKey(
    Schema.String.annotate({ description: "Provider's id of the machine." }),
  ),
  lastError: Schema.optionalKey(
    Schema.String.annotate({
      description: 'Why the machine or its drain failed, or what blocks the drain.',
    }),
  ),
  provisioningStartTime: Schema.optionalKey(
    TimestampField.annotate({ description: 'When the machine was first reported. Set once.' }),
  ),
  conditions: Schema.optionalKey(
    ConditionsField.annotate({
      description: '`Ready` is True in phase Ready; its reason is the phase, and its message the ' +
        'last error, if any.',
    }),
  ),
});
/** The status of the machine. */
type UpcomingNodeStatus = typeof UpcomingNodeStatus.Type;

/** The custom resource. */
export const upcomingNode: CustomResource = {
  group: API_GROUP,
  category: 'fleet',
  kind: 'UpcomingNode',
  plural: 'upcomingnodes',
  shortNames: ['upn'],
  scope: 'Cluster',
  description: 'A machine that the fleet has bound to this cluster, from its first report ' +
    'until its return. Written only by Tidegate; the annotation ' +
    `\`${MACHINE_ID_KEY}\` holds its id in the fleet.`,
  spec: UpcomingNodeSpec,
  status: UpcomingNodeStatus,
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Node', type: 'string', jsonPath: '.status.nodeRef.name' },
    ageColumn,
    wideColumn('Instance Type', String.raw`.spec.labels.node\.kubernetes\.io/instance-type`),
    wideColumn('Zone', String.raw`.spec.labels.topology\.kubernetes\.io/zone`),
    wideColumn('Last Error', '.status.lastError'),
  ],
  selectableFields: [],
  example: {
    metadata: {
      name: 'un-m-0042',
      annotations: { [MACHINE_ID_KEY]: 'm-0042' },
    },
    spec: {
      labels: { 'node.kubernetes.io/instance-type': 'a3-highgpu-8g' },
      resources: { cpu: '208', memory: '1872Gi', 'nvidia.com/gpu': '8' },
      taints: [{ key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }],
    },
  },
};
