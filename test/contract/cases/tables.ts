/** Contract: tables, as kubectl prints them. */
import { expect } from 'vitest';
import { FERRIES, served } from '../definitions.ts';
import { boat, budget, configMap, node, pod, workload } from '../objects.ts';
import {
  absent,
  all,
  exactly,
  get,
  getAs,
  includes,
  like,
  merge,
  ok,
  patch,
  post,
  type Step,
} from '../steps.ts';
import type { Area } from '../suite.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const AGE = like(/^(?:<unknown>|\d+[smhd](?:\d+[smhd])?)$/);

/** A table whose columns of priority 0, and the cells of whose first row, are among these. */
const printed = (path: string, columns: readonly string[], cells: readonly unknown[]): Step =>
  all(
    getAs(
      TABLE,
      path,
      ok({
        kind: 'Table',
        apiVersion: 'meta.k8s.io/v1',
        columnDefinitions: expect.arrayContaining(
          columns.map((name) => expect.objectContaining({ name, priority: 0 })),
        ),
        rows: [{ object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' } }],
      }),
    ),
    includes('rows.0.cells', cells),
  );

/** Columns in their order, those of `-o wide` included. */
const columns = (path: string, ...wanted: readonly string[]): Step =>
  getAs(TABLE, path, ok({ columnDefinitions: wanted.map((name) => ({ name })) }));

/** Tables of frequently listed kinds. */
export const tables: Area = {
  title: 'Tables',
  cases: {
    'pods: a pending one': [
      post('pods', pod('a')),
      printed('pods', ['Name', 'Ready', 'Status', 'Restarts', 'Age'], ['a', '0/1', 'Pending', '0']),
      columns(
        'pods',
        'Name',
        'Ready',
        'Status',
        'Restarts',
        'Age',
        'IP',
        'Node',
        'Nominated Node',
        'Readiness Gates',
      ),
    ],
    'pods: a running one': [
      post('pods', pod('a', { nodeName: 'x' })),
      patch(
        'pods/a/status',
        merge({
          status: {
            phase: 'Running',
            podIP: '10.1.1.1',
            containerStatuses: [{
              name: 'main',
              image: 'none',
              imageID: '',
              ready: true,
              restartCount: 2,
              state: { running: {} },
              lastState: {},
            }],
          },
        }),
      ),
      printed('pods', ['Name'], ['a', '1/1', 'Running', '2', AGE, '10.1.1.1', 'x', '<none>']),
    ],
    'pods: one that leaves': [
      post('pods', pod('a', { nodeName: 'x' })),
      patch('pods/a/status', merge({ status: { phase: 'Running' } })),
      post('pods/a/eviction', { metadata: { name: 'a' } }),
      printed('pods', ['Name'], ['a', 'Terminating']),
    ],
    'pods: a finished one': [
      post('pods', pod('a', { nodeName: 'x' })),
      patch('pods/a/status', merge({ status: { phase: 'Succeeded' } })),
      printed('pods', ['Name'], ['a', '0/1', 'Succeeded']),
    ],
    'pods: an evicted one shows its reason': [
      post('pods', pod('a', { nodeName: 'x' })),
      patch('pods/a/status', merge({ status: { phase: 'Failed', reason: 'Evicted' } })),
      printed('pods', ['Name'], ['a', 'Evicted']),
    ],
    'nodes: one that is ready': [
      post('nodes', {
        ...node('{ns}', {
          metadata: { labels: { of: '{ns}', 'node-role.kubernetes.io/worker': '' } },
        }),
        status: {
          conditions: [{ type: 'Ready', status: 'True' }],
          nodeInfo: { kubeletVersion: 'v1.36.0' },
        },
      }),
      printed('nodes?labelSelector=of={ns}', ['Name', 'Status', 'Roles', 'Age', 'Version'], [
        '{ns}',
        'Ready',
        'worker',
        'v1.36.0',
      ]),
    ],
    'nodes: one that is not ready and takes no pods': [
      post('nodes', {
        ...node('{ns}', { metadata: { labels: { of: '{ns}' } }, spec: { unschedulable: true } }),
        status: { conditions: [{ type: 'Ready', status: 'False' }] },
      }),
      printed('nodes?labelSelector=of={ns}', ['Name'], [
        '{ns}',
        'NotReady,SchedulingDisabled',
        '<none>',
      ]),
    ],
    'nodes: one that nothing is known of': [
      post('nodes', node('{ns}', { metadata: { labels: { of: '{ns}' } } })),
      printed('nodes?labelSelector=of={ns}', ['Name'], ['{ns}', 'Unknown']),
      columns(
        'nodes?labelSelector=of={ns}',
        'Name',
        'Status',
        'Roles',
        'Age',
        'Version',
        'Internal-IP',
        'External-IP',
        'OS-Image',
        'Kernel-Version',
        'Container-Runtime',
      ),
    ],
    'Deployments': [
      post('deployments', workload('a', { replicas: 3 })),
      patch(
        'deployments/a/status',
        merge({
          status: { replicas: 3, readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1 },
        }),
      ),
      printed('deployments', ['Name', 'Ready', 'Up-to-date', 'Available', 'Age'], [
        'a',
        '2/3',
        3,
        1,
      ]),
      columns(
        'deployments',
        'Name',
        'Ready',
        'Up-to-date',
        'Available',
        'Age',
        'Containers',
        'Images',
        'Selector',
      ),
    ],
    'ReplicaSets': [
      post('replicasets', workload('a', { replicas: 3 }, 'ReplicaSet')),
      printed('replicasets', ['Name', 'Desired', 'Current', 'Ready', 'Age'], ['a', 3, 0]),
    ],
    'StatefulSets': [
      post('statefulsets', workload('a', { replicas: 2, serviceName: 'a' }, 'StatefulSet')),
      printed('statefulsets', ['Name', 'Ready', 'Age'], ['a', '0/2']),
    ],
    'DaemonSets': [
      post('daemonsets', workload('a', { replicas: undefined }, 'DaemonSet')),
      printed('daemonsets', [
        'Name',
        'Desired',
        'Current',
        'Ready',
        'Up-to-date',
        'Available',
        'Node Selector',
        'Age',
      ], ['a', 0, '<none>']),
    ],
    'budgets by what must stay': [
      post('poddisruptionbudgets', budget('a', { minAvailable: '50%' })),
      printed('poddisruptionbudgets', [
        'Name',
        'Min Available',
        'Max Unavailable',
        'Allowed Disruptions',
        'Age',
      ], ['a', '50%', 'N/A', 0]),
    ],
    'budgets by what may go': [
      post('poddisruptionbudgets', budget('a', { minAvailable: undefined, maxUnavailable: 1 })),
      printed('poddisruptionbudgets', ['Name'], ['a', 'N/A', '1', 0]),
    ],
    'configmaps': [
      post('configmaps', configMap('a', { data: { x: 'y', z: '' } })),
      printed('configmaps', ['Name', 'Data', 'Age'], ['a', 2]),
    ],
    'namespaces': [
      printed('namespaces?fieldSelector=metadata.name={ns}', ['Name', 'Status', 'Age'], [
        '{ns}',
        'Active',
      ]),
    ],
    'custom resources by the columns of their definition': [
      post('boats', boat('a', { spec: { length: 12, flag: 'DE' } })),
      patch('boats/a/status', merge({ status: { afloat: true } })),
      printed('boats', ['Name', 'Length', 'Afloat', 'Age'], ['a', 12, true, 'DE']),
      columns('boats', 'Name', 'Length', 'Afloat', 'Flag', 'Age'),
    ],
    'custom resources by labels with dots, by references of a kind, and numbers as text': [
      post('customresourcedefinitions', FERRIES),
      ...served('ferries'),
      post('/apis/contract.tidegate.dev/v1/namespaces/{ns}/ferries', {
        apiVersion: 'contract.tidegate.dev/v1',
        kind: 'Ferry',
        metadata: {
          name: 'a',
          // Its owners do not exist: without it the object may be gone before it is printed.
          finalizers: ['example.com/hold'],
          ownerReferences: [
            { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u1' },
            { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u2' },
          ],
        },
        spec: { labels: { 'topology.kubernetes.io/zone': 'z1' }, seats: 12 },
      }),
      getAs(
        TABLE,
        '/apis/contract.tidegate.dev/v1/namespaces/{ns}/ferries',
        ok({
          columnDefinitions: [
            { name: 'Name', priority: 0 },
            { name: 'Owner', priority: 0 },
            { name: 'Zone', priority: 1 },
            { name: 'Seats', priority: 1 },
          ],
          rows: [{ cells: ['a', 'p', 'z1', '12'] }],
        }),
      ),
      patch(
        '/apis/contract.tidegate.dev/v1/namespaces/{ns}/ferries/a',
        merge({ metadata: { finalizers: null } }),
      ),
    ],
    'custom resources without columns': [
      post('buoys', {
        apiVersion: 'contract.tidegate.dev/v1',
        kind: 'Buoy',
        metadata: { name: 'a' },
      }),
      printed('buoys', ['Name', 'Age'], ['a']),
    ],
    'one object is a table of one row': [
      post('configmaps', configMap('a')),
      getAs(TABLE, 'configmaps/a', ok({ kind: 'Table', rows: [{ cells: ['a', 0, AGE] }] })),
    ],
    'an empty table has columns': [
      columns('configmaps', 'Name', 'Data', 'Age'),
      exactly('rows', []),
    ],
    'a table includes whole objects on request': [
      post('configmaps', configMap('a', { data: { x: 'y' } })),
      getAs(
        TABLE,
        'configmaps?includeObject=Object',
        ok({
          rows: [{ object: { kind: 'ConfigMap', data: { x: 'y' } } }],
        }),
      ),
    ],
    'a table omits objects on request': [
      post('configmaps', configMap('a')),
      getAs(TABLE, 'configmaps?includeObject=None', ok({ rows: [{}] })),
      absent('rows.0.object'),
    ],
    'a table is of one revision, in pages': [
      post('configmaps', configMap('a')),
      post('configmaps', configMap('b')),
      getAs(
        TABLE,
        'configmaps?limit=1',
        ok({
          metadata: { resourceVersion: like(/^\d+$/), continue: like(/./), remainingItemCount: 1 },
          rows: [{}],
        }),
      ),
    ],
    'events: what happened to what': [
      post('events', {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'a' },
        involvedObject: { kind: 'Pod', name: 'p', namespace: '{ns}' },
        reason: 'Told',
        message: 'words',
        type: 'Normal',
      }),
      printed('events', ['Last Seen', 'Type', 'Reason', 'Object', 'Message'], [
        'Normal',
        'Told',
        'pod/p',
        'words',
      ]),
    ],
    'without a Table request the response is a list': [get('pods', ok({ kind: 'PodList' }))],
  },
};
