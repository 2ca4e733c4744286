/**
 * An object of a built-in kind before anything is set: which structures it has already, and so
 * nobody adds.
 *
 * Source: the Go types of `k8s.io/api`, whose structures are always there, unlike pointers to them.
 */
import type { JsonRecord } from '../values/json.ts';
import { apiVersionOf, type Kind } from '../kinds/kind.ts';

const TEMPLATE = { metadata: {}, spec: { containers: null } };
const workload = (strategy: string): JsonRecord => ({
  spec: { selector: null, template: TEMPLATE, [strategy]: {} },
});

const SPEC: JsonRecord = { spec: {} };

const ZEROES: Readonly<Record<string, JsonRecord>> = {
  'v1/Pod': { spec: { containers: null } },
  'v1/Node': SPEC,
  'v1/Namespace': SPEC,
  'v1/Service': SPEC,
  'v1/PersistentVolume': SPEC,
  'v1/PersistentVolumeClaim': { spec: { resources: {} } },
  'v1/Event': { involvedObject: {}, source: {} },
  'events.k8s.io/v1/Event': { regarding: {} },
  'coordination.k8s.io/v1/Lease': SPEC,
  'policy/v1/PodDisruptionBudget': SPEC,
  'apps/v1/Deployment': workload('strategy'),
  'apps/v1/StatefulSet': workload('updateStrategy'),
  'apps/v1/DaemonSet': workload('updateStrategy'),
  'apps/v1/ReplicaSet': { spec: { selector: null, template: TEMPLATE } },
  'storage.k8s.io/v1/VolumeAttachment': { spec: { source: {} } },
  'apiextensions.k8s.io/v1/CustomResourceDefinition': { spec: { names: {}, versions: null } },
};

/** The object; its metadata is always there. */
export const zeroObject = (kind: Kind): JsonRecord => ({
  metadata: {},
  ...(kind.custom ? {} : ZEROES[`${apiVersionOf(kind)}/${kind.kind}`]),
});
