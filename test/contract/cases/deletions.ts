/** Contract: preconditions, grace, finalizers and collections. */
import { boat, configMap, namespace, pod } from '../objects.ts';
import {
  absent,
  containing,
  del,
  exactly,
  get,
  invalid,
  keep,
  keepResourceVersion,
  like,
  merge,
  names,
  ok,
  patch,
  post,
  refused,
  type Step,
  unmoved,
  until,
} from '../steps.ts';
import type { Area } from '../suite.ts';

const GONE: Step = get('configmaps/a', refused(404, 'NotFound'));
const HELD = { metadata: { finalizers: ['example.com/hold'] } };
const TERMINATING = ok({ metadata: { deletionTimestamp: like(/Z$/) } });
const THREE: readonly Step[] = ['a', 'b', 'c'].map((name) => post('configmaps', configMap(name)));

/** How objects go. */
export const deletions: Area = {
  title: 'Deletions',
  cases: {
    'a deleted object is gone': [post('configmaps', configMap('a')), del('configmaps/a'), GONE],
    'a deleted object can be recreated with a new UID': [
      post('configmaps', configMap('a')),
      keep({ uid: 'metadata.uid' }),
      del('configmaps/a'),
      post('configmaps', configMap('a')),
      del('configmaps/a', { preconditions: { uid: '{uid}' } }, refused(409, 'Conflict')),
    ],
    'a matching UID precondition permits deletion': [
      post('configmaps', configMap('a')),
      keep({ uid: 'metadata.uid' }),
      del('configmaps/a', { preconditions: { uid: '{uid}' } }),
      GONE,
    ],
    'another UID is a conflict': [
      post('configmaps', configMap('a')),
      del(
        'configmaps/a',
        { preconditions: { uid: 'other' } },
        refused(409, 'Conflict', {
          message: containing(
            'the UID in the precondition (other) does not match the UID in record',
          ),
          details: { name: 'a' },
        }),
      ),
      get('configmaps/a'),
    ],
    'a matching resourceVersion precondition permits deletion': [
      post('configmaps', configMap('a')),
      keepResourceVersion(),
      del('configmaps/a', { preconditions: { resourceVersion: '{rv}' } }),
      GONE,
    ],
    'another revision is a conflict': [
      post('configmaps', configMap('a')),
      del(
        'configmaps/a',
        { preconditions: { resourceVersion: '1' } },
        refused(409, 'Conflict', {
          message: containing('the ResourceVersion in the precondition (1) does not match'),
        }),
      ),
      get('configmaps/a'),
    ],
    'options may say their kind': [
      post('configmaps', configMap('a')),
      del('configmaps/a', { kind: 'DeleteOptions', apiVersion: 'v1' }),
      GONE,
    ],
    'options of another kind are a bad request': [
      post('configmaps', configMap('a')),
      del('configmaps/a', { kind: 'ConfigMap', apiVersion: 'v1' }, 400),
      get('configmaps/a'),
    ],
    'an object with a finalizer stays, terminating': [
      post('configmaps', configMap('a', HELD)),
      del(
        'configmaps/a',
        undefined,
        ok({
          kind: 'ConfigMap',
          metadata: { deletionTimestamp: like(/Z$/), deletionGracePeriodSeconds: 0 },
        }),
      ),
      get('configmaps/a', TERMINATING),
    ],
    'removing the last finalizer deletes the object': [
      post('configmaps', configMap('a', HELD)),
      del('configmaps/a'),
      patch('configmaps/a', merge({ metadata: { finalizers: [] } })),
      GONE,
    ],
    'one of two finalizers still holds it': [
      post(
        'configmaps',
        configMap('a', { metadata: { finalizers: ['example.com/x', 'example.com/y'] } }),
      ),
      del('configmaps/a'),
      patch('configmaps/a', merge({ metadata: { finalizers: ['example.com/y'] } })),
      get('configmaps/a', TERMINATING),
      patch('configmaps/a', merge({ metadata: { finalizers: null } })),
      GONE,
    ],
    'a second deletion of a terminating object changes nothing': [
      post('configmaps', configMap('a', HELD)),
      del('configmaps/a'),
      get('configmaps/a'),
      keep({ rv: 'metadata.resourceVersion', time: 'metadata.deletionTimestamp' }),
      del('configmaps/a'),
      get('configmaps/a', ok({ metadata: { deletionTimestamp: '{time}' } })),
      unmoved(),
    ],
    'a terminating object gets no further finalizer': [
      post('configmaps', configMap('a', HELD)),
      del('configmaps/a'),
      patch(
        'configmaps/a',
        merge({
          metadata: { finalizers: ['example.com/hold', 'example.com/more'] },
        }),
        invalid(['metadata.finalizers', 'FieldValueForbidden']),
      ),
    ],
    'a terminating object can be changed otherwise': [
      post('configmaps', configMap('a', HELD)),
      del('configmaps/a'),
      patch('configmaps/a', merge({ data: { x: 'y' } }), TERMINATING),
    ],
    'a terminating object does not come back': [
      post('configmaps', configMap('a', HELD)),
      del('configmaps/a'),
      patch('configmaps/a', merge({ metadata: { deletionTimestamp: null } })),
      get('configmaps/a', TERMINATING),
    ],
    'a terminating object is in the way of another': [
      post('configmaps', configMap('a', HELD)),
      del('configmaps/a'),
      post(
        'configmaps',
        configMap('a'),
        refused(409, 'AlreadyExists', {
          message: containing('object is being deleted'),
        }),
      ),
    ],
    'a finalizer that has no group is refused': [
      post(
        'configmaps',
        configMap('a', { metadata: { finalizers: ['hold'] } }),
        invalid([
          'metadata.finalizers[0]',
          'FieldValueInvalid',
        ]),
      ),
    ],
    'a custom resource with a finalizer stays until it is taken away': [
      post('boats', boat('a', { ...HELD, spec: { length: 1 } })),
      del('boats/a'),
      get('boats/a', ok({ metadata: { deletionTimestamp: like(/Z$/), generation: 2 } })),
      patch('boats/a', merge({ metadata: { finalizers: null } })),
      get('boats/a', refused(404, 'NotFound')),
    ],
    'a pod on a node has its grace': [
      post('pods', pod('a', { nodeName: 'x' })),
      del(
        'pods/a',
        undefined,
        ok({
          metadata: { deletionTimestamp: like(/Z$/), deletionGracePeriodSeconds: 30 },
        }),
      ),
      get('pods/a', TERMINATING),
    ],
    'a pod without a node has none': [
      post('pods', pod('a')),
      del('pods/a'),
      get('pods/a', refused(404, 'NotFound')),
    ],
    'a finished pod has none': [
      post('pods', pod('a', { nodeName: 'x' })),
      patch('pods/a/status', merge({ status: { phase: 'Succeeded' } })),
      del('pods/a'),
      get('pods/a', refused(404, 'NotFound')),
    ],
    'the grace of a pod is that of its spec': [
      post('pods', pod('a', { nodeName: 'x', terminationGracePeriodSeconds: 5 })),
      del('pods/a', undefined, ok({ metadata: { deletionGracePeriodSeconds: 5 } })),
    ],
    'a grace of 0 takes a pod away at once': [
      post('pods', pod('a', { nodeName: 'x' })),
      del('pods/a', { gracePeriodSeconds: 0 }),
      get('pods/a', refused(404, 'NotFound')),
    ],
    'a grace period may be in the query': [
      post('pods', pod('a', { nodeName: 'x' })),
      del(
        'pods/a?gracePeriodSeconds=3',
        undefined,
        ok({
          metadata: { deletionGracePeriodSeconds: 3 },
        }),
      ),
    ],
    'a grace is made shorter by a second deletion': [
      post('pods', pod('a', { nodeName: 'x' })),
      del('pods/a'),
      del('pods/a', { gracePeriodSeconds: 4 }),
      get('pods/a', ok({ metadata: { deletionGracePeriodSeconds: 4 } })),
    ],
    'a grace is not made longer': [
      post('pods', pod('a', { nodeName: 'x' })),
      del('pods/a', { gracePeriodSeconds: 4 }),
      del('pods/a', { gracePeriodSeconds: 40 }),
      get('pods/a', ok({ metadata: { deletionGracePeriodSeconds: 4 } })),
    ],
    'the kubelet takes a terminating pod away with a grace of 0': [
      post('pods', pod('a', { nodeName: 'x' })),
      keep({ uid: 'metadata.uid' }),
      del('pods/a'),
      del('pods/a', { gracePeriodSeconds: 0, preconditions: { uid: '{uid}' } }),
      get('pods/a', refused(404, 'NotFound')),
    ],
    'a terminating pod counts a generation': [
      post('pods', pod('a', { nodeName: 'x' })),
      del('pods/a', undefined, ok({ metadata: { generation: 2 } })),
    ],
    'a pod with a finalizer outlives its grace': [
      post('pods', pod('a', { nodeName: 'x' }, { finalizers: ['example.com/x'] })),
      del('pods/a'),
      del('pods/a', { gracePeriodSeconds: 0 }),
      get('pods/a', ok({ metadata: { deletionGracePeriodSeconds: 0 } })),
      patch('pods/a', merge({ metadata: { finalizers: null } })),
      get('pods/a', refused(404, 'NotFound')),
    ],
    'a propagation that is none is refused': [
      post('configmaps', configMap('a')),
      del('configmaps/a', { propagationPolicy: 'Sideways' }, {
        status: 422,
        body: { reason: 'Invalid' },
      }),
    ],
    'two propagations are refused': [
      post('configmaps', configMap('a')),
      del('configmaps/a', { propagationPolicy: 'Orphan', orphanDependents: true }, {
        status: 422,
        body: { reason: 'Invalid' },
      }),
    ],
    'a collection is deleted whole': [
      ...THREE,
      del('configmaps', undefined, ok({ kind: 'ConfigMapList' })),
      get('configmaps'),
      names(),
    ],
    'a collection is deleted in its namespace alone': [
      post('/api/v1/namespaces/default/configmaps', configMap('{ns}')),
      ...THREE,
      del('configmaps'),
      get('/api/v1/namespaces/default/configmaps/{ns}'),
    ],
    'what has a finalizer stays when its collection is deleted': [
      ...THREE,
      patch('configmaps/b', merge(HELD)),
      del('configmaps'),
      get('configmaps'),
      names('b'),
    ],
    'a dry run deletes nothing': [
      post('configmaps', configMap('a')),
      del('configmaps/a?dryRun=All'),
      get('configmaps/a'),
      absent('metadata.deletionTimestamp'),
    ],
    'a dry run in the options deletes nothing': [
      post('configmaps', configMap('a')),
      del('configmaps/a', { dryRun: ['All'] }),
      get('configmaps/a'),
    ],
    'a dry run deletes no collection': [
      ...THREE,
      del('configmaps?dryRun=All'),
      get('configmaps'),
      names('a', 'b', 'c'),
    ],
    'a dry run in the options deletes no collection': [
      ...THREE,
      del('configmaps', { dryRun: ['All'] }),
      get('configmaps'),
      names('a', 'b', 'c'),
    ],
    'a deleted namespace is terminating while something holds it': [
      post('namespaces', namespace('{ns}-z')),
      post('/api/v1/namespaces/{ns}-z/configmaps', configMap('a', HELD)),
      del(
        'namespaces/{ns}-z',
        undefined,
        ok({ kind: 'Namespace', status: { phase: 'Terminating' } }),
      ),
      get('namespaces/{ns}-z', TERMINATING),
    ],
    'nothing is made in a terminating namespace': [
      post('namespaces', namespace('{ns}-z')),
      post('/api/v1/namespaces/{ns}-z/configmaps', configMap('a', HELD)),
      del('namespaces/{ns}-z'),
      post(
        '/api/v1/namespaces/{ns}-z/configmaps',
        configMap('b'),
        refused(403, 'Forbidden', {
          details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
        }),
      ),
    ],
    'a namespace goes with all that is in it': [
      post('namespaces', namespace('{ns}-z')),
      post('/api/v1/namespaces/{ns}-z/configmaps', configMap('a')),
      post('/api/v1/namespaces/{ns}-z/pods', pod('a')),
      del('namespaces/{ns}-z'),
      until(get('namespaces/{ns}-z', refused(404, 'NotFound'))),
      get('/api/v1/namespaces/{ns}-z/configmaps'),
      names(),
    ],
    'the namespaces of the cluster are not deleted': [
      del('namespaces/default', undefined, refused(403, 'Forbidden')),
    ],
    'the finalizers that an object is made with are kept in order': [
      post('configmaps', configMap('a', { metadata: { finalizers: ['b.com/x', 'a.com/x'] } })),
      get('configmaps/a'),
      exactly('metadata.finalizers', ['b.com/x', 'a.com/x']),
    ],
  },
};
