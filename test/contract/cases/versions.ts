/** Contract: resourceVersion, generation and conflicts. */
import { boat, budget, buoy, configMap, lease, node, pod, workload } from '../objects.ts';
import {
  absent,
  get,
  invalid,
  jsonPatch,
  keep,
  keepResourceVersion,
  made,
  merge,
  newer,
  ok,
  patch,
  post,
  put,
  refused,
  unmoved,
} from '../steps.ts';
import type { Area } from '../suite.ts';

const stale = (name: string, resource: string) =>
  refused(409, 'Conflict', {
    message: `Operation cannot be fulfilled on ${resource} "${name}": the object has been ` +
      'modified; please apply your changes to the latest version and try again',
    details: { name },
  });

const generation = (number: number) => ok({ metadata: { generation: number } });
const labelled = merge({ metadata: { labels: { a: 'b' } } });
const at = (resourceVersion: string) => ({ metadata: { resourceVersion } });

/** Increasing resource versions, generations of specs, conflicts. */
export const versions: Area = {
  title: 'Versions',
  cases: {
    'an update moves the revision': [
      post('configmaps', configMap('a')),
      keepResourceVersion(),
      put('configmaps/a', configMap('a', { data: { x: 'y' } })),
      newer(),
    ],
    'an update that changes nothing does not move the revision': [
      post('configmaps', configMap('a', { data: { x: 'y' } })),
      keepResourceVersion(),
      put('configmaps/a', configMap('a', { data: { x: 'y' } })),
      unmoved(),
    ],
    'a patch that changes nothing does not move the revision': [
      post('configmaps', configMap('a', { data: { x: 'y' } })),
      keepResourceVersion(),
      patch('configmaps/a', merge({ data: { x: 'y', z: null } })),
      unmoved(),
    ],
    'an empty JSON patch does not move the revision': [
      post('configmaps', configMap('a')),
      keepResourceVersion(),
      patch('configmaps/a', jsonPatch([])),
      unmoved(),
    ],
    'revisions are counted over all resources': [
      post('configmaps', configMap('a')),
      keepResourceVersion(),
      post('pods', pod('a')),
      newer(),
      keepResourceVersion('later'),
      post('leases', lease('a')),
      newer('later'),
    ],
    'the revision of a list is at least that of its newest item': [
      post('configmaps', configMap('a')),
      post('configmaps', configMap('b')),
      keepResourceVersion(),
      patch('configmaps/a', labelled),
      get('configmaps'),
      newer(),
    ],
    'an update on an older revision is a conflict': [
      post('configmaps', configMap('a')),
      keepResourceVersion(),
      patch('configmaps/a', labelled),
      put('configmaps/a', configMap('a', at('{rv}')), stale('a', 'configmaps')),
    ],
    'an update on the newest revision is taken': [
      post('configmaps', configMap('a')),
      keepResourceVersion(),
      put('configmaps/a', configMap('a', { ...at('{rv}'), data: { x: 'y' } })),
      newer(),
    ],
    'an update on a revision that never was is a conflict': [
      post('configmaps', configMap('a')),
      put('configmaps/a', configMap('a', at('1')), stale('a', 'configmaps')),
    ],
    'a conflict in a named group names it': [
      post('deployments', workload('a')),
      keepResourceVersion(),
      patch('deployments/a', labelled),
      put(
        'deployments/a',
        { ...workload('a'), metadata: { name: 'a', resourceVersion: '{rv}' } },
        stale('a', 'deployments.apps'),
      ),
    ],
    'an update without a revision is taken': [
      post('configmaps', configMap('a')),
      patch('configmaps/a', labelled),
      put('configmaps/a', configMap('a', { data: { x: 'y' } })),
      absent('metadata.labels'),
    ],
    'a budget is not updated without a revision': [
      post('poddisruptionbudgets', budget('a')),
      put(
        'poddisruptionbudgets/a',
        budget('a'),
        invalid([
          'metadata.resourceVersion',
          'FieldValueInvalid',
        ]),
      ),
    ],
    'a lease is not updated without a revision': [
      post('leases', lease('a')),
      put('leases/a', lease('a'), invalid(['metadata.resourceVersion', 'FieldValueInvalid'])),
    ],
    'a custom resource is not updated without a revision': [
      post('boats', boat('a', { spec: { length: 3 } })),
      put(
        'boats/a',
        boat('a', { spec: { length: 4 } }),
        invalid([
          'metadata.resourceVersion',
          'FieldValueInvalid',
        ]),
      ),
    ],
    'a merge patch with an older revision is a conflict': [
      post('configmaps', configMap('a')),
      keepResourceVersion(),
      patch('configmaps/a', labelled),
      patch('configmaps/a', merge(at('{rv}')), stale('a', 'configmaps')),
    ],
    'a merge patch with the newest revision is taken': [
      post('configmaps', configMap('a')),
      keepResourceVersion(),
      patch('configmaps/a', merge({ ...at('{rv}'), data: { x: 'y' } }), ok({ data: { x: 'y' } })),
    ],
    'a patch of a node with an older revision is a conflict': [
      post('nodes', node('{ns}')),
      keepResourceVersion(),
      patch('nodes/{ns}', labelled),
      patch(
        'nodes/{ns}',
        merge({ ...at('{rv}'), spec: { unschedulable: true } }),
        stale('{ns}', 'nodes'),
      ),
    ],
    'an update with another UID is a conflict': [
      post('configmaps', configMap('a')),
      put('configmaps/a', configMap('a', { metadata: { uid: 'other' } }), refused(409, 'Conflict')),
    ],
    'an update keeps the creation timestamp': [
      post('configmaps', configMap('a')),
      keep({ time: 'metadata.creationTimestamp', uid: 'metadata.uid' }),
      put(
        'configmaps/a',
        configMap('a', { data: { a: 'b' } }),
        ok({
          metadata: { creationTimestamp: '{time}', uid: '{uid}' },
        }),
      ),
    ],
    'an object that was made again has another UID and a later revision': [
      post('configmaps', configMap('a')),
      keep({ uid: 'metadata.uid', rv: 'metadata.resourceVersion' }),
      put('configmaps/a', configMap('a', { metadata: { uid: '{uid}' } })),
    ],
    'a Deployment begins with generation 1': [
      post('deployments', workload('a'), made({ metadata: { generation: 1 } })),
    ],
    'a changed spec counts as a generation': [
      post('deployments', workload('a')),
      patch('deployments/a', merge({ spec: { replicas: 2 } }), generation(2)),
    ],
    'a spec that is the same counts as none': [
      post('deployments', workload('a')),
      patch('deployments/a', merge({ spec: { replicas: 1 } }), generation(1)),
    ],
    'a label counts as no generation': [
      post('deployments', workload('a')),
      patch('deployments/a', labelled, generation(1)),
    ],
    'a status counts as no generation': [
      post('deployments', workload('a')),
      patch('deployments/a/status', merge({ status: { replicas: 1 } }), generation(1)),
    ],
    "a client's generation is ignored": [
      post(
        'deployments',
        { ...workload('a'), metadata: { name: 'a', generation: 9 } },
        made({
          metadata: { generation: 1 },
        }),
      ),
      patch('deployments/a', merge({ metadata: { generation: 12 } }), generation(1)),
    ],
    'a scale counts as a generation': [
      post('deployments', workload('a')),
      patch('deployments/a/scale', merge({ spec: { replicas: 3 } })),
      get('deployments/a', generation(2)),
    ],
    'a budget counts generations of its spec': [
      post('poddisruptionbudgets', budget('a'), made({ metadata: { generation: 1 } })),
      patch('poddisruptionbudgets/a', merge({ spec: { minAvailable: 2 } }), generation(2)),
      patch('poddisruptionbudgets/a/status', merge({ status: { expectedPods: 2 } }), generation(2)),
    ],
    'a configmap has no generation': [
      post('configmaps', configMap('a')),
      absent('metadata.generation'),
    ],
    'a node has no generation': [
      post('nodes', node('{ns}')),
      patch('nodes/{ns}', merge({ spec: { unschedulable: true } })),
      absent('metadata.generation'),
    ],
    'a pod begins with generation 1': [
      post('pods', pod('a'), made({ metadata: { generation: 1 } })),
    ],
    'a custom resource with a status counts its spec alone': [
      post('boats', boat('a', { spec: { length: 3 } }), made({ metadata: { generation: 1 } })),
      patch('boats/a', merge({ spec: { length: 4 } }), generation(2)),
      patch('boats/a', labelled, generation(2)),
      patch('boats/a/status', merge({ status: { afloat: true } }), generation(2)),
    ],
    'a custom resource without a status counts everything but metadata': [
      post(
        'buoys',
        buoy('a', { status: { colour: 'red' } }),
        made({ metadata: { generation: 1 } }),
      ),
      patch('buoys/a', merge({ status: { colour: 'green' } }), generation(2)),
      patch('buoys/a', labelled, generation(2)),
    ],
    'the newest of two updates on one revision loses': [
      post('configmaps', configMap('a')),
      keepResourceVersion(),
      put('configmaps/a', configMap('a', { ...at('{rv}'), data: { by: 'one' } })),
      put(
        'configmaps/a',
        configMap('a', { ...at('{rv}'), data: { by: 'two' } }),
        stale('a', 'configmaps'),
      ),
      get('configmaps/a', ok({ data: { by: 'one' } })),
    ],
  },
};
