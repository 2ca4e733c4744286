/** Contract: refused requests, with status, reason and details. */
import { boat, configMap, lease, node, pod } from '../objects.ts';
import {
  containing,
  del,
  get,
  getAs,
  invalid,
  jsonPatch,
  merge,
  patch,
  post,
  put,
  refused,
} from '../steps.ts';
import type { Area } from '../suite.ts';

const notFound = (name: string, kind: string, group?: string) =>
  refused(404, 'NotFound', {
    message: `${kind}${group === undefined ? '' : `.${group}`} "${name}" not found`,
    details: { name, kind, ...(group === undefined ? {} : { group }) },
  });

/** Status codes, reasons and details of refusals. */
export const refusals: Area = {
  title: 'Refusals',
  cases: {
    'an object that is not there is not found': [get('configmaps/a', notFound('a', 'configmaps'))],
    'an object of a named group is not found with its group': [
      get('deployments/a', notFound('a', 'deployments', 'apps')),
    ],
    'a cluster-wide object is not found': [get('nodes/{ns}-none', refused(404, 'NotFound'))],
    'an object of a namespace that is not there is not found': [
      get('/api/v1/namespaces/{ns}-none/configmaps/a', notFound('a', 'configmaps')),
    ],
    'a collection of a namespace that is not there is empty': [
      get('/api/v1/namespaces/{ns}-none/configmaps', { status: 200, body: { items: [] } }),
    ],
    'a resource that is not served is not found': [
      get(
        '/api/v1/nothings',
        refused(404, 'NotFound', {
          message: 'the server could not find the requested resource',
        }),
      ),
    ],
    'a group that is not served is not found': [get('/apis/none.example.com/v1/nothings', 404)],
    'a subresource that is not served is not found': [
      post('configmaps', configMap('a')),
      get('configmaps/a/nothing', 404),
    ],
    'an object that is there already is not made again': [
      post('configmaps', configMap('a')),
      post(
        'configmaps',
        configMap('a'),
        refused(409, 'AlreadyExists', {
          message: 'configmaps "a" already exists',
          details: { name: 'a', kind: 'configmaps' },
        }),
      ),
    ],
    'an object of a named group that is there already is not made again': [
      post('leases', lease('a')),
      post(
        'leases',
        lease('a'),
        refused(409, 'AlreadyExists', {
          message: 'leases.coordination.k8s.io "a" already exists',
          details: { name: 'a', group: 'coordination.k8s.io', kind: 'leases' },
        }),
      ),
    ],
    'an update of an absent object is not found': [
      put('configmaps/a', configMap('a'), notFound('a', 'configmaps')),
    ],
    'a patch of an absent object is not found': [
      patch('configmaps/a', merge({ data: {} }), notFound('a', 'configmaps')),
    ],
    'a deletion of an absent object is not found': [
      del('configmaps/a', undefined, notFound('a', 'configmaps')),
    ],
    'an update under another name is refused': [
      post('configmaps', configMap('a')),
      put(
        'configmaps/a',
        configMap('b'),
        refused(400, 'BadRequest', {
          message: 'the name of the object (b) does not match the name on the URL (a)',
        }),
      ),
    ],
    'an object of another namespace is refused': [
      post(
        'configmaps',
        configMap('a', { metadata: { namespace: 'default' } }),
        refused(
          400,
          'BadRequest',
          { message: containing('the namespace of the provided object does not match') },
        ),
      ),
    ],
    'an object in a namespace that is not there is refused': [
      post(
        '/api/v1/namespaces/{ns}-none/configmaps',
        configMap('a'),
        notFound(
          '{ns}-none',
          'namespaces',
        ),
      ),
    ],
    'an object without a name is invalid': [
      post(
        'configmaps',
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} },
        invalid([
          'metadata.name',
          'FieldValueRequired',
        ]),
      ),
    ],
    'a name with capitals is invalid': [
      post('configmaps', configMap('A'), invalid(['metadata.name', 'FieldValueInvalid'])),
    ],
    'a pod whose name is too long is invalid': [
      post('pods', pod('a'.repeat(254)), invalid(['metadata.name', 'FieldValueInvalid'])),
    ],
    'a label value with a blank is invalid': [
      post(
        'configmaps',
        configMap('a', { metadata: { labels: { a: 'b c' } } }),
        invalid([
          'metadata.labels',
          'FieldValueInvalid',
        ]),
      ),
    ],
    'a label key of two slashes is invalid': [
      post(
        'configmaps',
        configMap('a', { metadata: { labels: { 'a/b/c': '' } } }),
        invalid([
          'metadata.labels',
          'FieldValueInvalid',
        ]),
      ),
    ],
    'an annotation key whose name part has 64 characters is invalid': [
      post(
        'nodes',
        node('{ns}', { metadata: { annotations: { [`a.b/${'x'.repeat(64)}`]: '' } } }),
        {
          status: 422,
          body: { reason: 'Invalid' },
        },
      ),
    ],
    'an annotation key whose name part has 63 characters is taken': [
      post('nodes', node('{ns}', { metadata: { annotations: { [`a.b/${'x'.repeat(63)}`]: '' } } })),
    ],
    'annotations of more than 256 KiB are invalid': [
      post(
        'configmaps',
        configMap('a', { metadata: { annotations: { a: 'x'.repeat(262_145) } } }),
        {
          status: 422,
          body: { reason: 'Invalid' },
        },
      ),
    ],
    'a creation with a resourceVersion is refused': [
      post('configmaps', configMap('a', { metadata: { resourceVersion: '1' } }), {
        status: 500,
        body: { message: containing('resourceVersion should not be set on objects to be created') },
      }),
    ],
    'a body that is not JSON is a bad request': [
      post('configmaps', '{"kind":', refused(400, 'BadRequest')),
    ],
    'a body of another kind is a bad request': [
      post('configmaps', pod('a'), refused(400, 'BadRequest')),
    ],
    'a body of another version is a bad request': [
      post('configmaps', { ...configMap('a'), apiVersion: 'apps/v1' }, refused(400, 'BadRequest')),
    ],
    'a body without a kind is taken as that of the path': [
      post('configmaps', { metadata: { name: 'a' }, data: { a: 'b' } }),
      get('configmaps/a', { status: 200, body: { kind: 'ConfigMap', data: { a: 'b' } } }),
    ],
    'a body of an unknown media type is refused': [
      post(
        'configmaps',
        { body: 'a', headers: { 'content-type': 'text/plain' } },
        refused(
          415,
          'UnsupportedMediaType',
        ),
      ),
    ],
    'a patch of an unknown media type is refused': [
      post('configmaps', configMap('a')),
      patch('configmaps/a', {
        body: {},
        headers: { 'content-type': 'application/json' },
      }, refused(415, 'UnsupportedMediaType')),
    ],
    'an answer in an unknown media type is refused': [
      getAs('text/csv', 'configmaps', refused(406, 'NotAcceptable')),
    ],
    'a new object at the path of one is no method': [
      post('configmaps/a', configMap('a'), refused(405, 'MethodNotAllowed')),
    ],
    'an update of a collection is no method': [
      put('configmaps', configMap('a'), refused(405, 'MethodNotAllowed')),
    ],
    'a deletion of a status is no method': [
      post('pods', pod('a')),
      del('pods/a/status', undefined, refused(405, 'MethodNotAllowed')),
    ],
    'a deletion of all namespaces at once is no method': [
      del('namespaces', undefined, refused(405, 'MethodNotAllowed')),
    ],
    'a pod without containers is invalid': [
      post('pods', { ...pod('a'), spec: {} }, invalid(['spec.containers', 'FieldValueRequired'])),
    ],
    'a patch that makes an object invalid is refused': [
      post('configmaps', configMap('a')),
      patch(
        'configmaps/a',
        merge({ metadata: { labels: { a: 'b c' } } }),
        invalid([
          'metadata.labels',
          'FieldValueInvalid',
        ]),
      ),
      get('configmaps/a'),
    ],
    'the spec of a pod cannot be changed': [
      post('pods', pod('a')),
      patch('pods/a', merge({ spec: { nodeName: 'b' } }), invalid(['spec', 'FieldValueForbidden'])),
    ],
    'the selector of a ReplicaSet cannot be changed': [
      post('replicasets', {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: { name: 'a' },
        spec: {
          selector: { matchLabels: { a: 'b' } },
          template: {
            metadata: { labels: { a: 'b', c: 'd' } },
            spec: { containers: [{ name: 'm', image: 'n' }] },
          },
        },
      }),
      patch(
        'replicasets/a',
        merge({ spec: { selector: { matchLabels: { c: 'd' } } } }),
        invalid([
          'spec.selector',
          'FieldValueInvalid',
        ]),
      ),
    ],
    'an immutable configmap keeps its data': [
      post('configmaps', configMap('a', { immutable: true, data: { a: 'b' } })),
      patch('configmaps/a', merge({ data: { a: 'c' } }), invalid(['data', 'FieldValueForbidden'])),
    ],
    'the provider id of a node is written once': [
      post('nodes', node('{ns}', { spec: { providerID: 'a' } })),
      patch('nodes/{ns}', merge({ spec: { providerID: 'b' } }), {
        status: 422,
        body: { reason: 'Invalid' },
      }),
    ],
    'the name of an object cannot be patched': [
      post('configmaps', configMap('a')),
      patch('configmaps/a', merge({ metadata: { name: 'b' } }), refused(400, 'BadRequest')),
    ],
    'the UID of an object cannot be patched': [
      post('configmaps', configMap('a')),
      patch(
        'configmaps/a',
        merge({ metadata: { uid: 'other' } }),
        invalid(['metadata.uid', 'FieldValueInvalid']),
      ),
    ],
    'a JSON patch of an absent object is not found': [
      patch('configmaps/a', jsonPatch([]), notFound('a', 'configmaps')),
    ],
    'a custom resource that is not defined is not found': [
      get('boats/none', 404),
      post('/apis/none.tidegate.dev/v1/boats', boat('a'), 404),
    ],
  },
};
