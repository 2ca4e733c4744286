/** Contract: bodies in protobuf, and answers for clients that ask for protobuf first. */
import { boat, configMap, pod } from '../objects.ts';
import { envelope, inProtobuf, message, metadata } from '../protobuf.ts';
import {
  absent,
  containing,
  del,
  exactly,
  get,
  getAs,
  header,
  made,
  ok,
  patch,
  post,
  put,
  refused,
} from '../steps.ts';
import type { Area } from '../suite.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const ENTRY = message([1, 'a'], [2, 'b']);
const CONFIG_MAP = message([1, metadata('a')], [2, ENTRY]);

const SECONDS = 1_700_000_000;
const MICRO_TIME = message([1, SECONDS], [2, 123_456_000]);

/** A Lease whose pointers lead to zero and to nothing. */
const LEASE = message(
  [1, metadata('a')],
  [2, message([1, 'me'], [2, 15], [3, MICRO_TIME], [5, 0])],
);

const TOLERATION = message([1, 'gone'], [2, 'Exists'], [3, ''], [4, '']);
const REQUESTS = message([2, message([1, 'cpu'], [2, message([1, '1500m'])])]);
const PROBE = message([
  1,
  message([2, message([1, '/'], [2, message([1, 1], [2, 0], [3, 'web'])])]),
]);
const CONTAINER = message([1, 'main'], [2, 'none'], [8, REQUESTS], [10, PROBE]);
const VOLUME = message([1, 'own'], [2, message([2, message([1, ''])])]);

const POD = message(
  [1, metadata('a')],
  [2, message([1, VOLUME], [2, CONTAINER], [16, ''], [22, TOLERATION])],
  [3, message()],
);

const EVICTION = message([1, metadata('a')]);

/** Options with the precondition that the object has this UID. */
const options = (uid: string): Uint8Array =>
  envelope('v1', 'DeleteOptions', message([2, message([1, uid])]));

/** Request bodies of Go clients, and what these clients accept. */
export const protobuf: Area = {
  title: 'Protobuf',
  cases: {
    'an object in protobuf is created': [
      post(
        'configmaps',
        inProtobuf(envelope('v1', 'ConfigMap', CONFIG_MAP)),
        made({
          kind: 'ConfigMap',
          metadata: { name: 'a', namespace: '{ns}' },
          data: { a: 'b' },
        }),
      ),
      get('configmaps/a', ok({ data: { a: 'b' } })),
    ],
    'an object in protobuf replaces one': [
      post('configmaps', configMap('a', { data: { old: 'old' } })),
      put('configmaps/a', inProtobuf(envelope('v1', 'ConfigMap', CONFIG_MAP))),
      get('configmaps/a', ok({ data: { a: 'b' } })),
      absent('data.old'),
    ],
    'a zero behind a pointer counts, and no pointer is no field': [
      post(
        'leases',
        inProtobuf(envelope('coordination.k8s.io/v1', 'Lease', LEASE)),
        made({
          spec: {
            holderIdentity: 'me',
            leaseDurationSeconds: 15,
            acquireTime: '2023-11-14T22:13:20.123456Z',
            leaseTransitions: 0,
          },
        }),
      ),
      absent('spec.renewTime'),
    ],
    'nested messages of a pod have the fields of its JSON': [
      post('pods', inProtobuf(envelope('v1', 'Pod', POD)), 201),
      get(
        'pods/a',
        ok({
          spec: {
            volumes: [{ name: 'own', emptyDir: {} }],
            containers: [{
              name: 'main',
              resources: { requests: { cpu: '1500m' } },
              livenessProbe: { httpGet: { path: '/', port: 'web' } },
            }],
          },
        }),
      ),
      exactly('spec.tolerations.0', { key: 'gone', operator: 'Exists' }),
      absent('spec.hostname'),
    ],
    'an envelope without a type is taken as of the kind of the path': [
      post('configmaps', inProtobuf(envelope('', '', CONFIG_MAP))),
      get('configmaps/a', ok({ data: { a: 'b' } })),
    ],
    'an object of another kind is a bad request': [
      post('configmaps', inProtobuf(envelope('v1', 'Pod', POD)), refused(400, 'BadRequest')),
    ],
    'an object of a kind that is not registered is a bad request': [
      post(
        'configmaps',
        inProtobuf(envelope('v1', 'Nothing', CONFIG_MAP)),
        refused(400, 'BadRequest', { message: containing('no kind "Nothing" is registered') }),
      ),
    ],
    'protobuf without the prefix is a bad request': [
      post(
        'configmaps',
        inProtobuf(CONFIG_MAP),
        refused(400, 'BadRequest', {
          message: containing('does not appear to be a protobuf message'),
        }),
      ),
    ],
    'a truncated message is a bad request': [
      post(
        'configmaps',
        inProtobuf(envelope('v1', 'ConfigMap', CONFIG_MAP.slice(0, -1))),
        refused(400, 'BadRequest'),
      ),
    ],
    'a patch has no protobuf form': [
      post('configmaps', configMap('a')),
      patch('configmaps/a', inProtobuf(CONFIG_MAP), refused(415, 'UnsupportedMediaType')),
    ],
    'the options of a deletion count in protobuf': [
      post('configmaps', configMap('a')),
      del('configmaps/a', inProtobuf(options('another')), refused(409, 'Conflict')),
      del('configmaps/a', inProtobuf(envelope('v1', 'DeleteOptions', message()))),
      get('configmaps/a', 404),
    ],
    'so they do for a custom resource': [
      post('boats', boat('a', { spec: { length: 4 } })),
      del('boats/a', inProtobuf(options('another')), refused(409, 'Conflict')),
      del('boats/a', inProtobuf(envelope('v1', 'DeleteOptions', message()))),
      get('boats/a', 404),
    ],
    'an eviction in protobuf evicts': [
      post('pods', pod('a')),
      post('pods/a/eviction', inProtobuf(envelope('policy/v1', 'Eviction', EVICTION))),
      get('pods/a', 404),
    ],
    'a custom resource in protobuf only is not acceptable': [
      getAs(PROTOBUF, 'boats', 406),
    ],
    'a custom resource is answered in JSON when that is accepted as well': [
      getAs(`${PROTOBUF},application/json`, 'boats'),
      header('content-type', 'application/json'),
      getAs(`${PROTOBUF}, */*`, 'boats'),
      header('content-type', 'application/json'),
    ],
  },
};
