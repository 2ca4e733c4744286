/** Contract: which fields the managers of creates, updates and patches own. */
import { type Fields, managed, updates } from '../apply-steps.ts';
import { boat, buoy, configMap, node, pod, service, workload } from '../objects.ts';
import {
  absent,
  exactly,
  get,
  invalid,
  jsonPatch,
  keepResourceVersion,
  merge,
  patch,
  post,
  put,
  type Step,
  strategic,
  unmoved,
} from '../steps.ts';
import type { Area } from '../suite.ts';

const a = (data?: object, metadata: object = {}) =>
  configMap('a', { metadata, ...(data === undefined ? {} : { data }) });

const data = (...keys: readonly string[]): Fields => ({
  'f:data': Object.fromEntries(keys.map((key) => [key === '.' ? '.' : `f:${key}`, {}])),
});

const MADE: Step = post('configmaps?fieldManager=maker', a({ x: '1', y: '2' }));

const agent = (name: string, body: unknown) => ({
  body,
  headers: { 'content-type': 'application/merge-patch+json', 'user-agent': name },
});

/** A set of one entry that a client writes itself. */
const entry = (manager: string, more: object = {}) => ({
  manager,
  operation: 'Apply',
  apiVersion: 'v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': { 'f:x': {} } },
  ...more,
});

const replaced = (entries: unknown) =>
  jsonPatch([{ op: 'replace', path: '/metadata/managedFields', value: entries }]);

const CONTAINER: Fields = {
  '.': {},
  'f:image': {},
  'f:imagePullPolicy': {},
  'f:name': {},
  'f:resources': {},
  'f:terminationMessagePath': {},
  'f:terminationMessagePolicy': {},
};

const POD_SPEC: Fields = {
  'f:containers': { 'k:{"name":"main"}': CONTAINER },
  'f:dnsPolicy': {},
  'f:restartPolicy': {},
  'f:schedulerName': {},
  'f:securityContext': {},
  'f:terminationGracePeriodSeconds': {},
};

/** Updates and the entries that they leave. */
export const managedFields: Area = {
  title: 'Managed fields',
  cases: {
    'a create owns what it sends, and each map that it makes': [
      post('configmaps?fieldManager=maker', a({ x: '1' }, { labels: { l: '1' } })),
      managed({
        'maker Update': { ...data('.', 'x'), 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } } },
      }),
    ],
    'the identity of an object has no owner': [
      post('configmaps?fieldManager=maker', a()),
      absent('metadata.managedFields'),
    ],
    'without a manager it is the beginning of the user agent': [
      MADE,
      patch('configmaps/a', agent('kubectl/v1.36 (linux)', { data: { z: '1' } })),
      managed({ 'kubectl Update': data('z'), 'maker Update': data('.', 'x', 'y') }),
    ],
    'a manager with unprintable characters is refused for creates and updates': [
      post('configmaps?fieldManager=a%0Ab', a(), invalid(['fieldManager', 'FieldValueInvalid'])),
      MADE,
      put('configmaps/a?fieldManager=a%0Ab', a(), invalid(['fieldManager', 'FieldValueInvalid'])),
    ],
    'a create owns defaults of a pod': [
      post('pods?fieldManager=maker', pod('a')),
      managed({
        'maker Update': {
          'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
          'f:spec': { ...POD_SPEC, 'f:enableServiceLinks': {} },
        },
      }),
    ],
    'a create owns defaults of a Deployment': [
      post('deployments?fieldManager=maker', workload('a')),
      managed({
        'maker Update': {
          'f:spec': {
            'f:progressDeadlineSeconds': {},
            'f:replicas': {},
            'f:revisionHistoryLimit': {},
            'f:selector': {},
            'f:strategy': {
              'f:rollingUpdate': { '.': {}, 'f:maxSurge': {}, 'f:maxUnavailable': {} },
              'f:type': {},
            },
            'f:template': {
              'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
              'f:spec': POD_SPEC,
            },
          },
        },
      }),
    ],
    'a create owns defaults of a custom resource': [
      post('boats?fieldManager=maker', boat('a', { spec: { length: 3, berth: { k: 'v' } } })),
      managed({
        'maker Update': {
          'f:spec': {
            '.': {},
            'f:berth': { '.': {}, 'f:k': {} },
            'f:kind': {},
            'f:length': {},
            'f:lights': { '.': {}, 'f:port': {}, 'f:starboard': {} },
          },
        },
      }),
    ],
    'a status in a create has no owner': [
      post(
        'nodes?fieldManager=maker',
        node('{ns}', {
          metadata: { labels: { l: '1' } },
          spec: { providerID: 'here://a' },
          status: { capacity: { cpu: '1' } },
        }),
      ),
      managed({
        'maker Update': {
          'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } },
          'f:spec': { 'f:providerID': {} },
        },
      }),
    ],
    'a merge patch owns what it changes': [
      MADE,
      updates('configmaps/a', 'other', { data: { x: '1', y: '3', z: '4' } }),
      managed({ 'maker Update': data('.', 'x'), 'other Update': data('y', 'z') }),
    ],
    'a JSON patch owns what it changes': [
      MADE,
      patch(
        'configmaps/a?fieldManager=other',
        jsonPatch([{ op: 'add', path: '/data/y', value: '3' }]),
      ),
      managed({ 'maker Update': data('.', 'x'), 'other Update': data('y') }),
    ],
    'a strategic merge patch owns what it changes': [
      MADE,
      patch('configmaps/a?fieldManager=other', strategic({ data: { y: '3' } })),
      managed({ 'maker Update': data('.', 'x'), 'other Update': data('y') }),
    ],
    'a PUT owns what it changes, and takes away what it leaves out': [
      MADE,
      put('configmaps/a?fieldManager=other', a({ x: '2' })),
      managed({ 'maker Update': { 'f:data': {} }, 'other Update': data('x') }),
    ],
    'an update that removes a field takes it from its owner, and owns nothing': [
      MADE,
      updates('configmaps/a', 'other', { data: { y: null } }),
      managed({ 'maker Update': data('.', 'x') }),
    ],
    'a map that is emptied stays with its owner': [
      post('configmaps?fieldManager=maker', a({ x: '1' })),
      updates('configmaps/a', 'other', { data: { x: null, y: '1' } }),
      managed({ 'maker Update': { 'f:data': {} }, 'other Update': data('y') }),
    ],
    'an update that changes nothing owns nothing, and writes nothing': [
      MADE,
      keepResourceVersion(),
      updates('configmaps/a', 'other', { data: { x: '1' } }),
      managed({ 'maker Update': data('.', 'x', 'y') }),
      unmoved(),
    ],
    'a manager keeps one entry for its updates': [
      MADE,
      updates('configmaps/a', 'maker', { data: { z: '1' } }),
      managed({ 'maker Update': data('.', 'x', 'y', 'z') }),
    ],
    'a status has an entry of its own': [
      post('boats?fieldManager=maker', boat('a', { spec: { length: 3, kind: 'row', lights: {} } })),
      updates('boats/a/status', 'maker', {
        metadata: { labels: { l: '1' } },
        spec: { length: 4 },
        status: { afloat: true },
      }),
      managed({
        'maker Update': {
          'f:spec': {
            '.': {},
            'f:kind': {},
            'f:length': {},
            'f:lights': { '.': {}, 'f:starboard': {} },
          },
        },
        'maker Update status': { 'f:status': { '.': {}, 'f:afloat': {} } },
      }),
    ],
    "a pod's status may come with labels, but not with a spec": [
      post('pods?fieldManager=maker', pod('a', {}, { labels: null })),
      updates('pods/a/status', 'kubelet', {
        metadata: { labels: { b: '2' } },
        spec: { priority: 3 },
        status: { phase: 'Running' },
      }),
      managed({
        'kubelet Update status': {
          'f:metadata': { 'f:labels': { '.': {}, 'f:b': {} } },
          'f:status': { 'f:phase': {} },
        },
        'maker Update': { 'f:spec': { ...POD_SPEC, 'f:enableServiceLinks': {} } },
      }),
    ],
    'a status through the main resource has no owner': [
      post('boats?fieldManager=maker', boat('a', { spec: { length: 3, kind: 'row', lights: {} } })),
      updates('boats/a', 'other', { status: { afloat: true } }),
      managed({
        'maker Update': {
          'f:spec': {
            '.': {},
            'f:kind': {},
            'f:length': {},
            'f:lights': { '.': {}, 'f:starboard': {} },
          },
        },
      }),
    ],
    'a binding has no owner': [
      post('pods?fieldManager=maker', pod('b', {}, { labels: null })),
      post('pods/b/binding', {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: 'b' },
        target: { kind: 'Node', name: 'somewhere' },
      }),
      get('pods/b'),
      managed({ 'maker Update': { 'f:spec': { ...POD_SPEC, 'f:enableServiceLinks': {} } } }),
    ],
    'items of a list have owners by their keys': [
      post('services?fieldManager=maker', service('a', { spec: { ports: [{ port: 80 }] } })),
      patch(
        'services/a?fieldManager=other',
        strategic({ spec: { ports: [{ port: 81, name: 'b' }, { port: 80, name: 'a' }] } }),
      ),
      managed({
        'maker Update': {
          'f:spec': {
            'f:internalTrafficPolicy': {},
            'f:ports': {
              '.': {},
              'k:{"port":80,"protocol":"TCP"}': {
                '.': {},
                'f:port': {},
                'f:protocol': {},
                'f:targetPort': {},
              },
            },
            'f:sessionAffinity': {},
            'f:type': {},
          },
        },
        'other Update': {
          'f:spec': {
            'f:ports': {
              'k:{"port":80,"protocol":"TCP"}': { 'f:name': {} },
              'k:{"port":81,"protocol":"TCP"}': {
                '.': {},
                'f:name': {},
                'f:port': {},
                'f:protocol': {},
                'f:targetPort': {},
              },
            },
          },
        },
      }),
    ],
    'a list without keys has one owner': [
      post(
        'boats?fieldManager=maker',
        boat('a', {
          spec: { length: 3, kind: 'row', lights: {}, crew: ['x'] },
        }),
      ),
      updates('boats/a', 'other', { spec: { crew: ['x', 'y'] } }),
      managed({
        'maker Update': {
          'f:spec': {
            '.': {},
            'f:kind': {},
            'f:length': {},
            'f:lights': { '.': {}, 'f:starboard': {} },
          },
        },
        'other Update': { 'f:spec': { 'f:crew': {} } },
      }),
    ],
    'what no schema describes has owners by its keys': [
      post('buoys?fieldManager=maker', buoy('a', { spec: { m: { n: 1 }, l: [1], e: {}, s: 1 } })),
      updates('buoys/a', 'other', { spec: { m: { o: 2 }, s: { t: 1 } } }),
      managed({
        'maker Update': {
          'f:spec': { '.': {}, 'f:e': {}, 'f:l': {}, 'f:m': { '.': {}, 'f:n': {} } },
        },
        'other Update': { 'f:spec': { 'f:m': { 'f:o': {} }, 'f:s': { '.': {}, 'f:t': {} } } },
      }),
    ],
    'owner references are owned one by one, each as a whole': [
      post(
        'configmaps?fieldManager=maker',
        a(undefined, {
          ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u-1' }],
        }),
      ),
      managed({
        'maker Update': {
          'f:metadata': { 'f:ownerReferences': { '.': {}, 'k:{"uid":"u-1"}': {} } },
        },
      }),
    ],
    'at most ten updaters are told apart': [
      post('configmaps?fieldManager=m00', a({ k00: '1' })),
      ...['01', '02', '03', '04', '05', '06', '07', '08', '09', '10'].map((one) =>
        updates('configmaps/a', `m${one}`, { data: { [`k${one}`]: '1' } })
      ),
      managed({
        'ancient-changes Update': data('.', 'k00', 'k01'),
        ...Object.fromEntries(
          ['02', '03', '04', '05', '06', '07', '08', '09', '10']
            .map((one) => [`m${one} Update`, data(`k${one}`)]),
        ),
      }),
    ],
    'an empty entry takes all managers away, and updates bring none back': [
      MADE,
      patch('configmaps/a', merge({ metadata: { managedFields: [{}] } })),
      absent('metadata.managedFields'),
      updates('configmaps/a', 'other', { data: { x: '5' } }),
      absent('metadata.managedFields'),
    ],
    'an empty list takes all managers away': [
      MADE,
      patch('configmaps/a', merge({ metadata: { managedFields: [] } })),
      absent('metadata.managedFields'),
    ],
    'managers can be written': [
      MADE,
      patch('configmaps/a', replaced([entry('new')])),
      exactly('metadata.managedFields', [entry('new')]),
    ],
    'managers that cannot be read change nothing': [
      MADE,
      patch('configmaps/a', replaced([entry('new', { operation: 'Take' })])),
      managed({ 'maker Update': data('.', 'x', 'y') }),
      patch('configmaps/a', replaced([entry('new', { fieldsV1: { data: { 'f:x': {} } } })])),
      managed({ 'maker Update': data('.', 'x', 'y') }),
    ],
    'managers that a PUT leaves out are kept': [
      MADE,
      put('configmaps/a?fieldManager=other', a({ x: '1', y: '2' })),
      managed({ 'maker Update': data('.', 'x', 'y') }),
    ],
    'managers that a create sends are kept beside its own': [
      post('configmaps?fieldManager=maker', a({ z: '1' }, { managedFields: [entry('new')] })),
      managed({ 'new Apply': data('x'), 'maker Update': data('.', 'z') }),
    ],
    'lists and metadata show the managers': [
      MADE,
      get('configmaps?fieldSelector=metadata.name=a'),
      exactly('items.0.metadata.managedFields.0.manager', 'maker'),
    ],
    'a scale is owned through its subresource': [
      post('deployments?fieldManager=maker', workload('a')),
      patch('deployments/a/scale?fieldManager=scaler', merge({ spec: { replicas: 5 } })),
      absent('metadata.managedFields'),
      get('deployments/a'),
      exactly('metadata.managedFields.0.manager', 'scaler'),
      exactly('metadata.managedFields.0.fieldsV1', { 'f:spec': { 'f:replicas': {} } }),
      exactly('metadata.managedFields.0.subresource', 'scale'),
      exactly('metadata.managedFields.1.manager', 'maker'),
    ],
  },
};
