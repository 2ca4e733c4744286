/** Contract: status, scale and binding. */
import { boat, buoy, configMap, node, pod, workload } from '../objects.ts';
import {
  absent,
  get,
  invalid,
  jsonPatch,
  keepResourceVersion,
  made,
  merge,
  newer,
  ok,
  patch,
  post,
  put,
  refused,
  type Step,
  strategic,
} from '../steps.ts';
import type { Area } from '../suite.ts';

const binding = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Binding',
  metadata: { name },
  target: { apiVersion: 'v1', kind: 'Node', name: 'somewhere' },
});

const scale = (replicas: number, more: object = {}) => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'a', namespace: '{ns}', ...more },
  spec: { replicas },
});

/** A workload of each kind that has a scale. */
const scaled = (resource: string, kind: string): readonly Step[] => [
  post(resource, workload('a', kind === 'StatefulSet' ? { serviceName: 'a' } : {}, kind)),
  get(
    `${resource}/a/scale`,
    ok({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'a', namespace: '{ns}' },
      spec: { replicas: 1 },
      status: { replicas: 0, selector: 'app=web' },
    }),
  ),
  patch(`${resource}/a/scale`, merge({ spec: { replicas: 4 } }), ok({ spec: { replicas: 4 } })),
  get(`${resource}/a`, ok({ spec: { replicas: 4 } })),
];

/** Parts of objects that are written apart. */
export const subresources: Area = {
  title: 'Subresources',
  cases: {
    'a status is written apart': [
      post('pods', pod('a')),
      patch(
        'pods/a/status',
        merge({ status: { phase: 'Running', podIP: '10.1.1.1' } }),
        ok({
          status: { phase: 'Running', podIP: '10.1.1.1' },
        }),
      ),
      get('pods/a', ok({ status: { phase: 'Running' } })),
    ],
    'a status is read apart, with the whole object': [
      post('pods', pod('a')),
      get('pods/a/status', ok({ kind: 'Pod', spec: { restartPolicy: 'Always' } })),
    ],
    'a write of a status moves the revision of the object': [
      post('pods', pod('a')),
      keepResourceVersion(),
      patch('pods/a/status', merge({ status: { phase: 'Running' } })),
      newer(),
    ],
    'a status is not written with the object': [
      post('pods', pod('a')),
      patch('pods/a', merge({ status: { phase: 'Failed' }, metadata: { labels: { x: 'y' } } })),
      get('pods/a', ok({ status: { phase: 'Pending' }, metadata: { labels: { x: 'y' } } })),
    ],
    'annotations of a node are written with its status, and its spec is not': [
      post('nodes', node('{ns}', { metadata: { annotations: { a: '1', b: '2' } } })),
      patch(
        'nodes/{ns}/status',
        strategic({
          metadata: { annotations: { a: '3', b: null } },
          spec: { unschedulable: true },
          status: { conditions: [{ type: 'example.com/x', status: 'False', reason: 'Y' }] },
        }),
      ),
      get(
        'nodes/{ns}',
        ok({
          metadata: { annotations: { a: '3' } },
          status: { conditions: [{ type: 'example.com/x', status: 'False', reason: 'Y' }] },
        }),
      ),
      absent('metadata.annotations.b'),
      absent('spec.unschedulable'),
    ],
    'a spec is not written with the status': [
      post('deployments', workload('a')),
      patch('deployments/a/status', merge({ spec: { replicas: 9 }, status: { replicas: 1 } })),
      get('deployments/a', ok({ spec: { replicas: 1 }, status: { replicas: 1 } })),
    ],
    'a status is replaced whole by an update': [
      post('pods', pod('a')),
      patch('pods/a/status', merge({ status: { phase: 'Running', podIP: '10.1.1.1' } })),
      put('pods/a/status', { ...pod('a'), status: { phase: 'Succeeded' } }),
      get('pods/a', ok({ status: { phase: 'Succeeded' } })),
      absent('status.podIP'),
    ],
    'a status on an older revision is a conflict': [
      post('pods', pod('a')),
      keepResourceVersion(),
      patch('pods/a/status', merge({ status: { phase: 'Running' } })),
      patch(
        'pods/a/status',
        merge({
          metadata: { resourceVersion: '{rv}' },
          status: { phase: 'Failed' },
        }),
        refused(409, 'Conflict'),
      ),
    ],
    'a status is patched in JSON': [
      post('pods', pod('a')),
      patch(
        'pods/a/status',
        jsonPatch([
          { op: 'replace', path: '/status/phase', value: 'Running' },
        ]),
        ok({ status: { phase: 'Running' } }),
      ),
    ],
    'the status of an absent object is not found': [
      patch('pods/a/status', merge({ status: {} }), refused(404, 'NotFound')),
    ],
    'a configmap has no status': [
      post('configmaps', configMap('a')),
      get('configmaps/a/status', 404),
    ],
    'a status update of a node keeps its spec': [
      post('nodes', node('{ns}')),
      patch(
        'nodes/{ns}/status',
        merge({
          spec: { unschedulable: true },
          status: { nodeInfo: { kubeletVersion: 'v1' } },
        }),
      ),
      get('nodes/{ns}', ok({ status: { nodeInfo: { kubeletVersion: 'v1' } } })),
      absent('spec.unschedulable'),
    ],
    'a node keeps its status when it is written': [
      post('nodes', { ...node('{ns}'), status: { capacity: { cpu: '1' } } }),
      put(
        'nodes/{ns}',
        node('{ns}', { spec: { unschedulable: true } }),
        ok({
          spec: { unschedulable: true },
          status: { capacity: { cpu: '1' } },
        }),
      ),
    ],
    'a custom resource with a status is made without one': [
      post('boats', boat('a', { spec: { length: 1 }, status: { afloat: true } })),
      absent('status'),
    ],
    'a custom resource with a status keeps it when it is written': [
      post('boats', boat('a', { spec: { length: 1 } })),
      patch(
        'boats/a/status',
        merge({ status: { afloat: true } }),
        ok({ status: { afloat: true } }),
      ),
      patch(
        'boats/a',
        merge({ spec: { length: 2 }, status: { afloat: false } }),
        ok({
          spec: { length: 2 },
          status: { afloat: true },
        }),
      ),
    ],
    'a custom resource keeps its spec and its labels when its status is written': [
      post('boats', boat('a', { spec: { length: 1 }, metadata: { labels: { a: 'b' } } })),
      patch(
        'boats/a/status',
        merge({
          metadata: { labels: { a: 'c' } },
          spec: { length: 9 },
          status: { afloat: true },
        }),
      ),
      get('boats/a', ok({ spec: { length: 1 }, metadata: { labels: { a: 'b' } } })),
    ],
    'a custom resource without a status has none to write': [
      post('buoys', buoy('a')),
      patch('buoys/a/status', merge({ status: {} }), 404),
    ],
    'a status that breaks its schema is invalid': [
      post('boats', boat('a', { spec: { length: 1 } })),
      patch(
        'boats/a/status',
        merge({ status: { afloat: 'yes' } }),
        invalid([
          'status.afloat',
          'FieldValueTypeInvalid',
        ]),
      ),
    ],
    'a Deployment is scaled': scaled('deployments', 'Deployment'),
    'a ReplicaSet is scaled': scaled('replicasets', 'ReplicaSet'),
    'a StatefulSet is scaled': scaled('statefulsets', 'StatefulSet'),
    'a scale is updated whole': [
      post('deployments', workload('a')),
      put('deployments/a/scale', scale(5), ok({ spec: { replicas: 5 } })),
      get('deployments/a', ok({ spec: { replicas: 5 } })),
    ],
    'a scale on an older revision is a conflict': [
      post('deployments', workload('a')),
      keepResourceVersion(),
      patch('deployments/a', merge({ metadata: { labels: { a: 'b' } } })),
      put('deployments/a/scale', scale(5, { resourceVersion: '{rv}' }), refused(409, 'Conflict')),
    ],
    'a scale below nothing is invalid': [
      post('deployments', workload('a')),
      put('deployments/a/scale', scale(-1), { status: 422, body: { reason: 'Invalid' } }),
    ],
    'the scale of an absent object is not found': [
      get('deployments/a/scale', refused(404, 'NotFound')),
    ],
    'a DaemonSet has no scale': [
      post('daemonsets', workload('a', { replicas: undefined }, 'DaemonSet')),
      get('daemonsets/a/scale', 404),
    ],
    'a custom resource is scaled by the paths of its definition': [
      post('boats', boat('a', { spec: { length: 1, oars: 2 } })),
      get('boats/a/scale', ok({ kind: 'Scale', spec: { replicas: 2 } })),
      patch('boats/a/scale', merge({ spec: { replicas: 6 } })),
      get('boats/a', ok({ spec: { oars: 6 } })),
    ],
    'a pod is bound to a node': [
      post('pods', pod('a')),
      post('pods/a/binding', binding('a'), made({ kind: 'Status', status: 'Success' })),
      get(
        'pods/a',
        ok({
          spec: { nodeName: 'somewhere' },
          status: { conditions: [{ type: 'PodScheduled', status: 'True' }] },
        }),
      ),
    ],
    'a bound pod is not bound again': [
      post('pods', pod('a')),
      post('pods/a/binding', binding('a')),
      post('pods/a/binding', binding('a'), refused(409, 'Conflict')),
    ],
    'a pod that is not there is not bound': [
      post('pods/a/binding', binding('a'), refused(404, 'NotFound')),
    ],
    'a deployment is written by its status without a change of its generation': [
      post('deployments', workload('a')),
      put(
        'deployments/a/status',
        {
          ...workload('a', { replicas: 8 }),
          status: { observedGeneration: 1, replicas: 1, readyReplicas: 1 },
        },
        ok({
          metadata: { generation: 1 },
          spec: { replicas: 1 },
          status: { observedGeneration: 1, readyReplicas: 1 },
        }),
      ),
    ],
  },
};
