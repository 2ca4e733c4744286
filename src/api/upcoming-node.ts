/** UpcomingNode: a machine that is on its way to becoming a Node of this cluster. */
import { Schema } from 'effect';
import { MACHINE_ID_KEY } from '../domain/ids.ts';
import { ageColumn, type CustomResource } from './crd.ts';
import { ObjectReferenceField, ResourceMapField, TaintsField, TimestampField } from './fields.ts';

/** What the Node will look like. */
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
/** What the Node will look like. */
type UpcomingNodeSpec = typeof UpcomingNodeSpec.Type;

/** Where the machine is on its way. */
const UpcomingNodeStatus = Schema.Struct({
  phase: Schema.Literals([
    'Provisioning',
    'Launched',
    'Registered',
    'Ready',
    'Draining',
    'Drained',
    'Failed',
  ]).annotate({ description: 'What the fleet last said about the machine.' }),
  nodeRef: Schema.optionalKey(
    ObjectReferenceField.annotate({ description: 'The Node that the machine became.' }),
  ),
  providerID: Schema.optionalKey(
    Schema.String.annotate({ description: 'What the provider calls the machine.' }),
  ),
  lastError: Schema.optionalKey(
    Schema.String.annotate({ description: 'Why the machine failed, in the words of the fleet.' }),
  ),
  provisioningStartTime: Schema.optionalKey(
    TimestampField.annotate({ description: 'When the machine was first heard of. Set once.' }),
  ),
});
/** Where the machine is on its way. */
type UpcomingNodeStatus = typeof UpcomingNodeStatus.Type;

/** The custom resource. */
export const upcomingNode: CustomResource = {
  kind: 'UpcomingNode',
  plural: 'upcomingnodes',
  shortNames: ['upn'],
  scope: 'Cluster',
  description: 'A machine that the fleet has bound to this cluster, from the first word about it ' +
    'until it goes back. Written by Tidegate and nobody else; the annotation ' +
    `\`${MACHINE_ID_KEY}\` holds the id that the fleet knows it by.`,
  spec: UpcomingNodeSpec,
  status: UpcomingNodeStatus,
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Node', type: 'string', jsonPath: '.status.nodeRef.name' },
    ageColumn,
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
