/** Contract: the shapes of objects, lists and deletion responses. */
import { budget, configMap, namespace, node, pod } from '../objects.ts';
import { absent, del, get, getAs, keep, like, made, names, ok, post } from '../steps.ts';
import type { Area } from '../suite.ts';

const UID = like(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const TIME = like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
const RESOURCE_VERSION = like(/^[1-9]\d*$/);

const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Shapes of objects, lists and deletion responses. */
export const shapes: Area = {
  title: 'Shapes',
  cases: {
    'a new object has a UID, a time, a namespace and a revision': [
      post(
        'configmaps',
        configMap('a'),
        made({
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: {
            name: 'a',
            namespace: '{ns}',
            uid: UID,
            creationTimestamp: TIME,
            resourceVersion: RESOURCE_VERSION,
          },
        }),
      ),
    ],
    'an object is read as it was answered when it was made': [
      post('configmaps', configMap('a', { data: { x: 'y' } })),
      keep({ rv: 'metadata.resourceVersion', uid: 'metadata.uid' }),
      get(
        'configmaps/a',
        ok({
          kind: 'ConfigMap',
          apiVersion: 'v1',
          data: { x: 'y' },
          metadata: { uid: '{uid}', resourceVersion: '{rv}' },
        }),
      ),
    ],
    'a cluster-wide object has no namespace': [
      post('nodes', node('{ns}')),
      absent('metadata.namespace'),
    ],
    'UID, time and deletion are not taken from a new object': [
      post(
        'configmaps',
        configMap('a', {
          metadata: {
            uid: 'mine',
            creationTimestamp: '2001-01-01T00:00:00Z',
            deletionTimestamp: '2001-01-01T00:00:00Z',
            selfLink: '/mine',
          },
        }),
        made({ metadata: { uid: UID, creationTimestamp: like(/^20[2-9]/) } }),
      ),
      absent('metadata.deletionTimestamp', 'metadata.deletionGracePeriodSeconds'),
    ],
    'fields that are not of its kind are dropped': [
      post('configmaps', { ...configMap('a'), other: 1, metadata: { name: 'a', more: 'b' } }),
      absent('other', 'metadata.more'),
    ],
    'unknown fields are refused on request': [
      post('configmaps?fieldValidation=Strict', { ...configMap('a'), other: 1 }, 400),
    ],
    'unknown fields cause warnings on request': [
      post('configmaps?fieldValidation=Warn', { ...configMap('a'), other: 1 }, 201),
      absent('other'),
    ],
    'a list has its kind and its resourceVersion': [
      get(
        'configmaps',
        ok({
          kind: 'ConfigMapList',
          apiVersion: 'v1',
          metadata: { resourceVersion: RESOURCE_VERSION },
          items: [],
        }),
      ),
      absent('metadata.continue', 'metadata.remainingItemCount'),
    ],
    'list items have neither kind nor apiVersion': [
      post('configmaps', configMap('a')),
      get('configmaps'),
      names('a'),
      absent('items.0.kind', 'items.0.apiVersion'),
    ],
    'a list of a named group has its apiVersion': [
      get('deployments', ok({ kind: 'DeploymentList', apiVersion: 'apps/v1' })),
    ],
    'a list is in the order of its names': [
      post('configmaps', configMap('b')),
      post('configmaps', configMap('c')),
      post('configmaps', configMap('a')),
      post('configmaps', configMap('a.b')),
      post('configmaps', configMap('a-b')),
      get('configmaps'),
      names('a', 'a-b', 'a.b', 'b', 'c'),
    ],
    'a list over all namespaces is in the order of its keys: a dash comes before the end': [
      post('namespaces', namespace('{ns}-z')),
      post(
        '/api/v1/namespaces/{ns}-z/configmaps',
        configMap('a', { metadata: { labels: { c: '{ns}' } } }),
      ),
      post('configmaps', configMap('b', { metadata: { labels: { c: '{ns}' } } })),
      get('all:configmaps?labelSelector=c={ns}'),
      names('a', 'b'),
    ],
    'a deletion answers what was deleted': [
      post('configmaps', configMap('a')),
      keep({ uid: 'metadata.uid' }),
      del(
        'configmaps/a',
        undefined,
        ok({
          kind: 'Status',
          apiVersion: 'v1',
          status: 'Success',
          details: { name: 'a', kind: 'configmaps', uid: '{uid}' },
        }),
      ),
    ],
    'a deletion in a named group answers the group': [
      post('poddisruptionbudgets', budget('a')),
      del(
        'poddisruptionbudgets/a',
        undefined,
        ok({
          status: 'Success',
          details: { name: 'a', group: 'policy', kind: 'poddisruptionbudgets' },
        }),
      ),
    ],
    'a deleted pod is answered as a pod': [
      post('pods', pod('a')),
      del('pods/a', undefined, ok({ kind: 'Pod', metadata: { name: 'a' } })),
    ],
    'serves metadata only on request': [
      post('configmaps', configMap('a', { data: { x: 'y' } })),
      getAs(
        METADATA_ONLY,
        'configmaps/a',
        ok({
          kind: 'PartialObjectMetadata',
          apiVersion: 'meta.k8s.io/v1',
          metadata: { name: 'a' },
        }),
      ),
      absent('data'),
    ],
    'serves metadata-only lists on request': [
      post('configmaps', configMap('a', { data: { x: 'y' } })),
      getAs(
        METADATA_LIST,
        'configmaps',
        ok({
          kind: 'PartialObjectMetadataList',
          apiVersion: 'meta.k8s.io/v1',
          items: [{ metadata: { name: 'a' } }],
        }),
      ),
      absent('items.0.data'),
    ],
  },
};
