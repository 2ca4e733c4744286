/** Contract: server-side apply of one object: what it takes, creates, refuses and removes. */
import {
  applies,
  conflictsWith,
  type Fields,
  managed,
  managersInOrder,
  untyped,
  updates,
} from '../apply-steps.ts';
import { boat, configMap } from '../objects.ts';
import {
  absent,
  config,
  containing,
  exactly,
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
  refused,
  type Step,
  unmoved,
} from '../steps.ts';
import type { Area } from '../suite.ts';

const a = (data?: object, metadata: object = {}) =>
  configMap('a', { metadata, ...(data === undefined ? {} : { data }) });

const ofData = (...keys: readonly string[]): Fields => ({
  'f:data': Object.fromEntries(keys.map((key) => [`f:${key}`, {}])),
});
const OWN_DATA: Fields = { 'f:data': { '.': {}, 'f:x': {}, 'f:y': {} } };

/** A configmap that another manager has made, with x=1 and y=2. */
const OTHERS: Step = post('configmaps?fieldManager=other', a({ x: '1', y: '2' }));

const CREATE = 'configmaps/a';

/** Creation, conflicts, force and removal. */
export const apply: Area = {
  title: 'Apply',
  cases: {
    'an object that is absent is created': [
      applies(CREATE, a({ x: '1' }), { wanted: made({ data: { x: '1' } }) }),
      managed({ 'me Apply': ofData('x') }),
    ],
    'a create by apply has all its fields owned by the applier, and defaults by nobody': [
      applies('boats/a', boat('a', { spec: { length: 3 } }), {
        wanted: made({ spec: { length: 3, kind: 'sail', lights: { port: 'red' } } }),
      }),
      managed({ 'me Apply': { 'f:spec': { 'f:length': {} } } }),
    ],
    'a create by apply with a uid is a conflict': [
      applies(CREATE, a({}, { uid: 'abc' }), {
        wanted: refused(409, 'Conflict', {
          message: containing(
            'uid mismatch: the provided object specified uid abc, and no existing object was found',
          ),
        }),
      }),
    ],
    'a create by apply needs a name': [
      applies(CREATE, { apiVersion: 'v1', kind: 'ConfigMap' }, {
        wanted: refused(400, 'BadRequest', {
          message:
            'the name of the object (a based on URL) was undeterminable: name must be provided',
        }),
      }),
    ],
    'a create by apply into no namespace is not found': [
      applies('/api/v1/namespaces/{ns}-nowhere/configmaps/a', a({ x: '1' }), {
        wanted: refused(404, 'NotFound'),
      }),
    ],
    'an invalid custom resource is refused': [
      applies('boats/a', boat('a', { spec: {} }), {
        wanted: invalid(['spec.length', 'FieldValueRequired']),
      }),
    ],
    'a manager is required': [
      patch(CREATE, config(a({ x: '1' })), invalid(['fieldManager', 'FieldValueRequired'])),
    ],
    'a manager has at most 128 bytes': [
      applies(CREATE, a({}), {
        as: 'x'.repeat(129),
        wanted: invalid(['fieldManager', 'FieldValueTooLong']),
      }),
    ],
    'a manager is printable': [
      applies(CREATE, a({}), {
        as: 'a%0Ab',
        wanted: invalid(['fieldManager', 'FieldValueInvalid']),
      }),
    ],
    'force is for applies only': [
      OTHERS,
      patch('configmaps/a?force=true', merge({}), invalid(['force', 'FieldValueForbidden'])),
    ],
    'a value of another manager is a conflict': [
      OTHERS,
      applies(CREATE, a({ x: '9' }), {
        wanted: conflictsWith(
          [['"other" using v1', '.data.x']],
          'Apply failed with 1 conflict: conflict with "other" using v1: .data.x',
        ),
      }),
      get(CREATE),
      exactly('data.x', '1'),
    ],
    'all conflicts are named, by manager': [
      OTHERS,
      applies(CREATE, a({ z: '3' }), { as: 'third' }),
      applies(CREATE, a({ x: '9', y: '8', z: '7' }), {
        wanted: conflictsWith(
          [
            ['"other" using v1', '.data.x'],
            ['"other" using v1', '.data.y'],
            ['"third"', '.data.z'],
          ],
          'Apply failed with 3 conflicts: conflicts with "other" using v1:\n' +
            '- .data.x\n- .data.y\nconflicts with "third":\n- .data.z',
        ),
      }),
    ],
    'the same value is shared by its managers': [
      OTHERS,
      applies(CREATE, a({ x: '1' })),
      managed({ 'me Apply': ofData('x'), 'other Update': OWN_DATA }),
    ],
    'a shared field is a conflict for whoever changes it alone': [
      applies(CREATE, a({ x: '1' }), { wanted: 201 }),
      applies(CREATE, a({ x: '1' }), { as: 'second' }),
      applies(CREATE, a({ x: '2' }), { wanted: conflictsWith([['"second"', '.data.x']]) }),
    ],
    'force takes the field over': [
      OTHERS,
      applies(CREATE, a({ x: '9' }), { force: true, wanted: ok({ data: { x: '9', y: '2' } }) }),
      managed({
        'me Apply': ofData('x'),
        'other Update': { 'f:data': { '.': {}, 'f:y': {} } },
      }),
    ],
    'an update takes a field from its applier': [
      applies(CREATE, a({ x: '1', y: '1' }), { wanted: 201 }),
      updates(CREATE, 'other', { data: { x: '2' } }),
      managed({ 'me Apply': ofData('y'), 'other Update': ofData('x') }),
    ],
    'the same name is another manager when it updates': [
      applies(CREATE, a({ x: '1' }), { wanted: 201 }),
      updates(CREATE, 'me', { data: { x: '2' } }),
      applies(CREATE, a({ x: '3' }), { wanted: conflictsWith([['"me" using v1', '.data.x']]) }),
    ],
    'a field that is no longer applied is removed': [
      applies(CREATE, a({ x: '1', y: '2' }), { wanted: 201 }),
      applies(CREATE, a({ y: '2' })),
      exactly('data', { y: '2' }),
      managed({ 'me Apply': ofData('y') }),
    ],
    'a field that is no longer applied stays while another owns it': [
      OTHERS,
      applies(CREATE, a({ x: '1' })),
      applies(CREATE, a()),
      exactly('data', { x: '1', y: '2' }),
      managed({ 'other Update': OWN_DATA }),
    ],
    'the last of its appliers removes a field': [
      applies(CREATE, a({ x: '1' }), { wanted: 201 }),
      applies(CREATE, a({ x: '1' }), { as: 'second' }),
      applies(CREATE, a()),
      exactly('data', { x: '1' }),
      applies(CREATE, a(), { as: 'second' }),
      absent('data', 'metadata.managedFields'),
    ],
    'a default comes back when its field is no longer applied': [
      applies('boats/a', boat('a', { spec: { length: 3, kind: 'row' } }), { wanted: 201 }),
      applies('boats/a', boat('a', { spec: { length: 3 } })),
      exactly('spec.kind', 'sail'),
    ],
    'an apply that changes nothing writes nothing': [
      applies(CREATE, a({ x: '1' }), { wanted: 201 }),
      keepResourceVersion(),
      applies(CREATE, a({ x: '1' })),
      unmoved(),
    ],
    'a new owner of the same value is written': [
      OTHERS,
      keepResourceVersion(),
      applies(CREATE, a({ x: '1' })),
      newer(),
    ],
    'a dry run answers and writes nothing': [
      OTHERS,
      keepResourceVersion(),
      applies(CREATE, a({ z: '3' }), { more: '&dryRun=All' }),
      exactly('data', { x: '1', y: '2', z: '3' }),
      get(CREATE),
      exactly('data', { x: '1', y: '2' }),
      unmoved(),
    ],
    'a dry run creates nothing': [
      applies(CREATE, a({ z: '3' }), { more: '&dryRun=All', wanted: 201 }),
      get(CREATE, 404),
    ],
    'a dry run is refused by the same conflicts': [
      OTHERS,
      applies(CREATE, a({ x: '3' }), {
        more: '&dryRun=All',
        wanted: conflictsWith([['"other" using v1', '.data.x']]),
      }),
    ],
    'a uid of another object is refused': [
      OTHERS,
      applies(CREATE, a({}, { uid: 'abc' }), {
        wanted: invalid(['metadata.uid', 'FieldValueInvalid']),
      }),
    ],
    'the uid of the object is accepted': [
      OTHERS,
      keep({ uid: 'metadata.uid' }),
      applies(CREATE, a({ z: '3' }, { uid: '{uid}' })),
    ],
    'an old resource version is a conflict': [
      OTHERS,
      applies(CREATE, a({}, { resourceVersion: '1' }), { wanted: refused(409, 'Conflict') }),
    ],
    'the current resource version is accepted, and not owned': [
      OTHERS,
      keepResourceVersion(),
      applies(CREATE, a({ z: '3' }, { resourceVersion: '{rv}' })),
      managed({ 'me Apply': ofData('z'), 'other Update': OWN_DATA }),
    ],
    'another name is refused': [
      OTHERS,
      applies(CREATE, configMap('b'), { wanted: refused(400, 'BadRequest') }),
    ],
    'another namespace is refused': [
      OTHERS,
      applies(CREATE, a({}, { namespace: 'elsewhere' }), { wanted: refused(400, 'BadRequest') }),
    ],
    'another kind is refused': [
      OTHERS,
      applies(CREATE, { ...a({}), kind: 'Secret' }, {
        wanted: refused(400, 'BadRequest', { message: 'invalid object type: /v1, Kind=Secret' }),
      }),
    ],
    'managers cannot be applied': [
      applies(CREATE, a({}, { managedFields: [{ manager: 'x' }] }), {
        wanted: refused(400, 'BadRequest', { message: 'metadata.managedFields must be nil' }),
      }),
    ],
    'an unknown field is refused': [
      applies(CREATE, { ...a({ z: '1' }), foo: 'bar' }, {
        wanted: untyped('(/a; /v1, Kind=ConfigMap): .foo: field not declared in schema'),
      }),
    ],
    'a value of a wrong type is refused': [
      applies(CREATE, a({ z: 1 }), { wanted: untyped('.data.z: expected string') }),
    ],
    'an unknown field of a custom resource is refused': [
      applies('boats/a', boat('a', { spec: { length: 3, wings: 2 } }), {
        wanted: untyped('.spec.wings: field not declared in schema'),
      }),
    ],
    'a body that is no object is a bad request': [
      applies(CREATE, '[]', { wanted: refused(400, 'BadRequest') }),
    ],
    'a collection cannot be applied to': [
      applies('configmaps', a({}), { wanted: refused(405, 'MethodNotAllowed') }),
    ],
    'labels, annotations and finalizers have owners of their own': [
      applies(CREATE, a(undefined, { labels: { l: '1' } }), { wanted: 201 }),
      applies(CREATE, a(undefined, { labels: { m: '2' }, finalizers: ['x.y/z'] }), {
        as: 'second',
      }),
      exactly('metadata.labels', { l: '1', m: '2' }),
      managed({
        'me Apply': { 'f:metadata': { 'f:labels': { 'f:l': {} } } },
        'second Apply': {
          'f:metadata': { 'f:finalizers': { 'v:"x.y/z"': {} }, 'f:labels': { 'f:m': {} } },
        },
      }),
    ],
    'an empty map is owned itself': [
      applies(CREATE, a({ x: '1' }, { labels: { l: '1' } }), { wanted: 201 }),
      applies(CREATE, a({ x: '1' }, { labels: {} })),
      absent('metadata.labels'),
      managed({ 'me Apply': { ...ofData('x'), 'f:metadata': { 'f:labels': {} } } }),
    ],
    'an object without managers is owned by before-first-apply': [
      OTHERS,
      updates(CREATE, 'other', { metadata: { managedFields: [{}] } }),
      absent('metadata.managedFields'),
      applies(CREATE, a({ x: '2' }), {
        wanted: conflictsWith([['"before-first-apply" using v1', '.data.x']]),
      }),
      applies(CREATE, a({ x: '2' }), { force: true }),
      managed({
        'me Apply': ofData('x'),
        'before-first-apply Update': { 'f:data': { '.': {}, 'f:y': {} } },
      }),
    ],
    'an applier whose entry was removed removes nothing': [
      applies(CREATE, a({ x: '1', y: '2' }), { wanted: 201 }),
      patch(
        'configmaps/a?fieldManager=mender',
        jsonPatch([{
          op: 'replace',
          path: '/metadata/managedFields',
          value: [{
            manager: 'new',
            operation: 'Apply',
            apiVersion: 'v1',
            time: '2026-01-01T00:00:00Z',
            fieldsType: 'FieldsV1',
            fieldsV1: ofData('x'),
          }],
        }]),
      ),
      managed({ 'new Apply': ofData('x') }),
      applies(CREATE, a({ y: '2' })),
      exactly('data', { x: '1', y: '2' }),
    ],
    'kubectl takes over what it applied on the client': [
      post(
        'configmaps?fieldManager=kubectl-client-side-apply',
        a({ x: '1', y: '2' }, {
          annotations: {
            'kubectl.kubernetes.io/last-applied-configuration':
              '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},' +
              '"data":{"x":"1","y":"2"}}',
          },
        }),
      ),
      applies(CREATE, a({ x: '2' }), {
        as: 'somebody',
        wanted: conflictsWith([['"kubectl-client-side-apply" using v1', '.data.x']]),
      }),
      applies(CREATE, a({ x: '2' }), { as: 'kubectl' }),
      exactly('data', { x: '2', y: '2' }),
      exactly('metadata.annotations', {
        'kubectl.kubernetes.io/last-applied-configuration':
          '{"apiVersion":"v1","data":{"x":"2"},"kind":"ConfigMap","metadata":{"name":"a"}}\n',
      }),
    ],
    'appliers come before updaters': [
      OTHERS,
      applies(CREATE, a({ z: '1' }), { as: 'zed' }),
      managersInOrder('zed Apply', 'other Update'),
    ],
  },
};
