/** Contract: merge patches, JSON patches and strategic merge patches. */
import { boat, configMap, node, owned, owner, pod, workload } from '../objects.ts';
import {
  absent,
  exactly,
  get,
  jsonPatch,
  keep,
  merge,
  ok,
  patch,
  post,
  refused,
  type Step,
  strategic,
} from '../steps.ts';
import type { Area } from '../suite.ts';

const DATA = { x: '1', y: '2' };

/** A configmap with data after a patch. */
const becomes = (change: unknown, data: unknown): readonly Step[] => [
  post('configmaps', configMap('a', { data: DATA })),
  patch('configmaps/a', change),
  get('configmaps/a'),
  exactly('data', data),
];

const refuses = (change: unknown, status: number): readonly Step[] => [
  post('configmaps', configMap('a', { data: DATA })),
  patch('configmaps/a', change, status),
  get('configmaps/a'),
  exactly('data', DATA),
];

const TEMPLATE = 'spec.template.spec';
const containers = (list: readonly object[], more: object = {}) =>
  strategic({ spec: { template: { spec: { containers: list, ...more } } } });

const main = (more: object) => ({ name: 'main', image: 'none', ...more });
const withMain = (more: object) =>
  workload('a', {
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [main(more)] } },
  });

const TAINT = { key: 'a', value: 'b', effect: 'NoSchedule' };
const condition = (type: string, status: string) => ({
  type,
  status,
  reason: 'Said',
  message: 'm',
  lastHeartbeatTime: '2026-01-01T00:00:00Z',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

/** Effects of each kind of patch. */
export const patches: Area = {
  title: 'Patches',
  cases: {
    'merge: a field is set': becomes(merge({ data: { x: '9' } }), { x: '9', y: '2' }),
    'merge: a field is added': becomes(merge({ data: { z: '3' } }), { ...DATA, z: '3' }),
    'merge: null takes a field away': becomes(merge({ data: { x: null } }), { y: '2' }),
    'merge: null for an absent field does nothing': becomes(merge({ data: { q: null } }), DATA),
    'merge: null takes an object away': [
      ...becomes(merge({ data: null }), undefined),
    ],
    'merge: an empty patch changes nothing': becomes(merge({}), DATA),
    'merge: a list is replaced whole': [
      post('nodes', node('{ns}', { spec: { taints: [TAINT] } })),
      patch('nodes/{ns}', merge({ spec: { taints: [{ key: 'c', effect: 'NoExecute' }] } })),
      exactly('spec.taints', [{ key: 'c', effect: 'NoExecute' }]),
    ],
    'merge: labels and annotations go in one patch with the spec': [
      post('nodes', node('{ns}')),
      patch(
        'nodes/{ns}',
        merge({
          metadata: { annotations: { 'example.com/owner': 'me' } },
          spec: { unschedulable: true },
        }),
        ok({
          metadata: { annotations: { 'example.com/owner': 'me' } },
          spec: { unschedulable: true },
        }),
      ),
    ],
    'merge: false is kept out of a node that takes pods': [
      post('nodes', node('{ns}', { spec: { unschedulable: true } })),
      patch('nodes/{ns}', merge({ spec: { unschedulable: false } })),
      absent('spec.unschedulable'),
    ],
    'merge: a body that is no object is a bad request': refuses(merge('[]'), 400),
    'merge: a body that is no JSON is a bad request': refuses(merge('{"data":'), 400),
    'merge: a custom resource': [
      post('boats', boat('a', { spec: { length: 3, crew: ['x'] } })),
      patch(
        'boats/a',
        merge({ spec: { crew: ['y', 'z'] } }),
        ok({ spec: { length: 3, crew: ['y', 'z'] } }),
      ),
    ],
    'merge: the answer is the object after it': [
      post('configmaps', configMap('a')),
      patch(
        'configmaps/a',
        merge({ data: { x: 'y' } }),
        ok({ kind: 'ConfigMap', data: { x: 'y' } }),
      ),
    ],
    'JSON: add': becomes(jsonPatch([{ op: 'add', path: '/data/z', value: '3' }]), {
      ...DATA,
      z: '3',
    }),
    'JSON: add replaces an existing value': becomes(
      jsonPatch([{ op: 'add', path: '/data/x', value: '9' }]),
      { x: '9', y: '2' },
    ),
    'JSON: replace': becomes(
      jsonPatch([{ op: 'replace', path: '/data/x', value: '9' }]),
      { x: '9', y: '2' },
    ),
    'JSON: remove': becomes(jsonPatch([{ op: 'remove', path: '/data/x' }]), { y: '2' }),
    'JSON: move': becomes(
      jsonPatch([{ op: 'move', from: '/data/x', path: '/data/z' }]),
      { y: '2', z: '1' },
    ),
    'JSON: copy': becomes(
      jsonPatch([{ op: 'copy', from: '/data/x', path: '/data/z' }]),
      { ...DATA, z: '1' },
    ),
    'JSON: a passing test applies the rest': becomes(
      jsonPatch([
        { op: 'test', path: '/data/x', value: '1' },
        { op: 'replace', path: '/data/x', value: '9' },
      ]),
      { x: '9', y: '2' },
    ),
    'JSON: a test that fails lets nothing happen': refuses(
      jsonPatch([
        { op: 'replace', path: '/data/x', value: '9' },
        { op: 'test', path: '/data/y', value: 'other' },
      ]),
      422,
    ),
    'JSON: removing an absent value is refused': refuses(
      jsonPatch([{ op: 'remove', path: '/data/q' }]),
      422,
    ),
    'JSON: replacing an absent value adds it': becomes(
      jsonPatch([{ op: 'replace', path: '/data/q', value: '3' }]),
      { ...DATA, q: '3' },
    ),
    'JSON: a parent that is not there is not made': refuses(
      jsonPatch([{ op: 'add', path: '/binaryData/q', value: 'eA==' }]),
      422,
    ),
    'JSON: an operation that is none is refused': refuses(
      jsonPatch([{ op: 'mend', path: '/data/x' }]),
      422,
    ),
    'JSON: a body that is no list is a bad request': refuses(jsonPatch({ op: 'add' }), 400),
    'JSON: slashes and tildes in keys are escaped': [
      post('nodes', node('{ns}')),
      patch(
        'nodes/{ns}',
        jsonPatch([
          { op: 'add', path: '/metadata/labels', value: {} },
          { op: 'add', path: '/metadata/labels/example.com~1a', value: 'b' },
        ]),
        ok({ metadata: { labels: { 'example.com/a': 'b' } } }),
      ),
    ],
    'JSON: an entry is added at the end of a list': [
      post('nodes', node('{ns}', { spec: { taints: [TAINT] } })),
      patch(
        'nodes/{ns}',
        jsonPatch([
          { op: 'add', path: '/spec/taints/-', value: { key: 'c', effect: 'NoSchedule' } },
        ]),
      ),
      get('nodes/{ns}', ok({ spec: { taints: [{ key: 'a' }, {}, { key: 'c' }] } })),
    ],
    'JSON: an entry is removed from a list': [
      post('boats', boat('a', { spec: { length: 1, crew: ['x', 'y', 'z'] } })),
      patch('boats/a', jsonPatch([{ op: 'remove', path: '/spec/crew/1' }])),
      exactly('spec.crew', ['x', 'z']),
    ],
    'JSON: a resourceVersion is tested': [
      post('configmaps', configMap('a', { data: DATA })),
      patch(
        'configmaps/a',
        jsonPatch([
          { op: 'test', path: '/metadata/resourceVersion', value: '1' },
        ]),
        refused(422, 'Invalid'),
      ),
    ],
    'strategic: labels are merged': [
      post('configmaps', configMap('a', { metadata: { labels: { a: 'b' } } })),
      patch('configmaps/a', strategic({ metadata: { labels: { c: 'd' } } })),
      exactly('metadata.labels', { a: 'b', c: 'd' }),
    ],
    'strategic: null takes a field away': becomes(strategic({ data: { x: null } }), { y: '2' }),
    'strategic: a container is merged by its name': [
      post('deployments', withMain({ command: ['run'] })),
      patch(
        'deployments/a',
        containers([{ name: 'main', image: 'other' }]),
        ok({
          spec: { template: { spec: { containers: [{ image: 'other', command: ['run'] }] } } },
        }),
      ),
    ],
    'strategic: a container of another name is added': [
      post('deployments', workload('a')),
      patch('deployments/a', containers([{ name: 'side', image: 'other' }])),
      get(
        'deployments/a',
        ok({
          spec: { template: { spec: { containers: [{ name: 'side' }, { name: 'main' }] } } },
        }),
      ),
    ],
    'strategic: a container is deleted by a directive': [
      post('deployments', workload('a')),
      patch('deployments/a', containers([{ name: 'side', image: 'other' }])),
      patch(
        'deployments/a',
        containers([{ name: 'main', $patch: 'delete' }]),
        ok({
          spec: { template: { spec: { containers: [{ name: 'side' }] } } },
        }),
      ),
    ],
    'strategic: a list is replaced by a directive': [
      post('deployments', workload('a')),
      patch('deployments/a', containers([{ name: 'new', image: 'n' }, { $patch: 'replace' }])),
      get(
        'deployments/a',
        ok({
          spec: { template: { spec: { containers: [{ name: 'new', image: 'n' }] } } },
        }),
      ),
    ],
    'strategic: a list without a key is replaced': [
      post('deployments', withMain({ args: ['a', 'b'] })),
      patch('deployments/a', containers([{ name: 'main', args: ['c'] }])),
      exactly(`${TEMPLATE}.containers.0.args`, ['c']),
    ],
    'strategic: variables of a container are merged by name': [
      post(
        'deployments',
        withMain({ env: [{ name: 'A', value: '1' }, { name: 'B', value: '2' }] }),
      ),
      patch('deployments/a', containers([{ name: 'main', env: [{ name: 'B', value: '3' }] }])),
      exactly(`${TEMPLATE}.containers.0.env`, [
        { name: 'A', value: '1' },
        { name: 'B', value: '3' },
      ]),
    ],
    'strategic: ports of a container are merged by number': [
      post('deployments', withMain({ ports: [{ containerPort: 80, name: 'http' }] })),
      patch(
        'deployments/a',
        containers([
          { name: 'main', ports: [{ containerPort: 80, name: 'web' }] },
        ]),
      ),
      exactly(`${TEMPLATE}.containers.0.ports`, [
        { containerPort: 80, name: 'web', protocol: 'TCP' },
      ]),
    ],
    'strategic: a volume gets another source': [
      post('deployments', workload('a')),
      patch('deployments/a', containers([], { volumes: [{ name: 'v', emptyDir: {} }] })),
      patch(
        'deployments/a',
        containers([], {
          volumes: [{ $retainKeys: ['name', 'hostPath'], name: 'v', hostPath: { path: '/a' } }],
        }),
      ),
      get(
        'deployments/a',
        ok({
          spec: { template: { spec: { volumes: [{ name: 'v', hostPath: { path: '/a' } }] } } },
        }),
      ),
      absent(`${TEMPLATE}.volumes.0.emptyDir`),
    ],
    'strategic: a map is replaced by a directive': [
      post('configmaps', configMap('a', { data: DATA })),
      patch('configmaps/a', strategic({ data: { $patch: 'replace', z: '3' } })),
      exactly('data', { z: '3' }),
    ],
    'strategic: conditions of a node are merged by their kind': [
      post('nodes', { ...node('{ns}'), status: { conditions: [condition('Ready', 'False')] } }),
      patch(
        'nodes/{ns}/status',
        strategic({
          status: { conditions: [condition('DiskPressure', 'False')] },
        }),
      ),
      patch(
        'nodes/{ns}/status',
        strategic({ status: { conditions: [condition('Ready', 'True')] } }),
      ),
      get(
        'nodes/{ns}/status',
        ok({
          status: {
            conditions: [
              { type: 'DiskPressure', status: 'False' },
              { type: 'Ready', status: 'True' },
            ],
          },
        }),
      ),
    ],
    'strategic: taints of a node are replaced': [
      post('nodes', node('{ns}', { spec: { taints: [TAINT] } })),
      patch('nodes/{ns}', strategic({ spec: { taints: [{ key: 'c', effect: 'NoSchedule' }] } })),
      exactly('spec.taints', [{ key: 'c', effect: 'NoSchedule' }]),
    ],
    'strategic: finalizers are added': [
      post('configmaps', configMap('a', { metadata: { finalizers: ['example.com/a'] } })),
      patch('configmaps/a', strategic({ metadata: { finalizers: ['example.com/b'] } })),
      get('configmaps/a', ok({ metadata: { finalizers: ['example.com/b', 'example.com/a'] } })),
    ],
    'strategic: a finalizer is taken away by a directive': [
      post(
        'configmaps',
        configMap('a', {
          metadata: { finalizers: ['example.com/a', 'example.com/b'] },
        }),
      ),
      patch(
        'configmaps/a',
        strategic({
          metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] },
        }),
      ),
      exactly('metadata.finalizers', ['example.com/b']),
    ],
    'strategic: owners are merged by their UID': [
      post('configmaps', configMap('owner')),
      keep({ uid: 'metadata.uid' }),
      post('configmaps', owned('a', owner('owner', '{uid}'))),
      patch(
        'configmaps/a',
        strategic({
          metadata: { ownerReferences: [owner('owner', '{uid}', { blockOwnerDeletion: true })] },
        }),
      ),
      exactly('metadata.ownerReferences', [
        owner('owner', '{uid}', { blockOwnerDeletion: true }),
      ]),
    ],
    'strategic: the order of a list is set': [
      post('deployments', workload('a')),
      patch(
        'deployments/a',
        strategic({
          spec: {
            template: {
              spec: {
                '$setElementOrder/containers': [{ name: 'main' }, { name: 'side' }],
                containers: [{ name: 'side', image: 'other' }],
              },
            },
          },
        }),
        ok({
          spec: { template: { spec: { containers: [{ name: 'main' }, { name: 'side' }] } } },
        }),
      ),
    ],
    'strategic: a custom resource has none': [
      post('boats', boat('a', { spec: { length: 3 } })),
      patch('boats/a', strategic({ spec: { length: 4 } }), refused(415, 'UnsupportedMediaType')),
    ],
    'strategic: a pod is annotated': [
      post('pods', pod('a')),
      patch(
        'pods/a',
        strategic({ metadata: { annotations: { a: 'b' } } }),
        ok({
          metadata: { annotations: { a: 'b' } },
        }),
      ),
    ],
  },
};
