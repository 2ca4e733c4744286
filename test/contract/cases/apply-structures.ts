/** Contract: server-side apply of lists, maps, statuses and scales. */
import { applies, conflictsWith, managed, untyped, updates } from '../apply-steps.ts';
import { boat, budget, buoy, node, pod, service, workload } from '../objects.ts';
import {
  absent,
  exactly,
  get,
  invalid,
  keepResourceVersion,
  made,
  merge,
  ok,
  patch,
  post,
  refused,
  type Step,
  unmoved,
} from '../steps.ts';
import type { Area } from '../suite.ts';

const boatOf = (spec: object, more: object = {}) =>
  boat('a', { spec: { length: 3, ...spec }, ...more });
const BOAT = 'boats/a';
const OTHERS: Step = post('boats?fieldManager=other', boatOf({}));

const status = (fields: object, more: object = {}) => boat('a', { status: fields, ...more });

const LENGTH = { 'f:spec': { 'f:length': {} } };

const withContainers = (...list: readonly object[]) =>
  workload('a', {
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: list } },
  });
const container = (name: string, more: object = {}) => ({ name, image: 'none', ...more });

const containerNames = (...wanted: readonly string[]): readonly Step[] => [
  get('deployments/a'),
  ...wanted.map((name, index) => exactly(`spec.template.spec.containers.${index}.name`, name)),
  absent(`spec.template.spec.containers.${wanted.length}`),
];

const ports = (...list: readonly object[]) => service('a', { spec: { ports: list } });

const scale = (replicas: number, name = 'a') => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name },
  spec: { replicas },
});

const WITHOUT_REPLICAS = {
  ...workload('a'),
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [container('main')] },
    },
  },
};

const tainted = (spec: object) => node('{ns}', { spec });

/** How configurations merge into lists and maps, and what subresources do. */
export const applyStructures: Area = {
  title: 'Apply to structures',
  cases: {
    'items of a list are merged by their key': [
      applies(BOAT, boatOf({ cargo: [{ name: 'a', tons: 2 }] }), { wanted: 201 }),
      applies(BOAT, boatOf({ cargo: [{ name: 'a', fragile: true }, { name: 'b' }] }), {
        as: 'second',
      }),
      exactly('spec.cargo', [{ name: 'a', tons: 2, fragile: true }, { name: 'b', tons: 1 }]),
      managed({
        'me Apply': {
          'f:spec': {
            'f:cargo': { 'k:{"name":"a"}': { '.': {}, 'f:name': {}, 'f:tons': {} } },
            'f:length': {},
          },
        },
        'second Apply': {
          'f:spec': {
            'f:cargo': {
              'k:{"name":"a"}': { '.': {}, 'f:fragile': {}, 'f:name': {} },
              'k:{"name":"b"}': { '.': {}, 'f:name': {} },
            },
            'f:length': {},
          },
        },
      }),
    ],
    'an item that is no longer applied is removed': [
      applies(BOAT, boatOf({ cargo: [{ name: 'a' }, { name: 'b' }] }), { wanted: 201 }),
      applies(BOAT, boatOf({ cargo: [{ name: 'b' }] })),
      exactly('spec.cargo', [{ name: 'b', tons: 1 }]),
    ],
    'an item stays while another applies it, without what the first applied alone': [
      applies(BOAT, boatOf({ cargo: [{ name: 'a', fragile: true }] }), { wanted: 201 }),
      applies(BOAT, boatOf({ cargo: [{ name: 'a', tons: 2 }] }), { as: 'second', force: true }),
      applies(BOAT, boatOf({})),
      exactly('spec.cargo', [{ name: 'a', tons: 2 }]),
    ],
    'a field of an item is a conflict': [
      applies(BOAT, boatOf({ cargo: [{ name: 'a', tons: 2 }] }), { wanted: 201 }),
      applies(BOAT, boatOf({ cargo: [{ name: 'a', tons: 3 }] }), {
        as: 'second',
        wanted: conflictsWith([['"me"', '.spec.cargo[name="a"].tons']]),
      }),
    ],
    'an item without its key is refused': [
      applies(BOAT, boatOf({ cargo: [{ tons: 2 }] }), {
        wanted: untyped(
          '.spec.cargo: element 0: associative list with keys has an element that omits all key ' +
            'fields ["name"]',
        ),
      }),
    ],
    'an item that comes twice is refused': [
      applies(BOAT, boatOf({ cargo: [{ name: 'a' }, { name: 'a' }] }), {
        wanted: untyped('.spec.cargo: duplicate entries for key [name="a"]'),
      }),
    ],
    'a list without keys is applied as a whole': [
      applies(BOAT, boatOf({ crew: ['x'] }), { wanted: 201 }),
      applies(BOAT, boatOf({ crew: ['x', 'y'] }), {
        as: 'second',
        wanted: conflictsWith([['"me"', '.spec.crew']]),
      }),
      applies(BOAT, boatOf({ crew: ['x', 'y'] }), { as: 'second', force: true }),
      exactly('spec.crew', ['x', 'y']),
      managed({
        'me Apply': LENGTH,
        'second Apply': { 'f:spec': { 'f:crew': {}, 'f:length': {} } },
      }),
    ],
    'finalizers are a set': [
      applies(BOAT, boatOf({}, { metadata: { finalizers: ['x.y/a'] } }), { wanted: 201 }),
      applies(BOAT, boatOf({}, { metadata: { finalizers: ['x.y/b'] } }), { as: 'second' }),
      exactly('metadata.finalizers', ['x.y/a', 'x.y/b']),
      applies(BOAT, boatOf({})),
      exactly('metadata.finalizers', ['x.y/b']),
      applies(BOAT, boatOf({}), { as: 'second' }),
      absent('metadata.finalizers'),
    ],
    'a map of texts is merged by key': [
      applies(BOAT, boatOf({ berth: { k: 'v' } }), { wanted: 201 }),
      applies(BOAT, boatOf({ berth: { l: 'w' } }), { as: 'second' }),
      exactly('spec.berth', { k: 'v', l: 'w' }),
      applies(BOAT, boatOf({})),
      exactly('spec.berth', { l: 'w' }),
    ],
    'what no schema describes merges by key, and its lists as a whole': [
      applies('buoys/a', buoy('a', { spec: { m: { n: 1 }, l: [{ name: 'x' }] } }), { wanted: 201 }),
      applies('buoys/a', buoy('a', { spec: { m: { o: 1 } } }), { as: 'second' }),
      exactly('spec.m', { n: 1, o: 1 }),
      applies('buoys/a', buoy('a', { spec: { l: [{ name: 'y' }] } }), {
        as: 'third',
        wanted: conflictsWith([['"me"', '.spec.l']]),
      }),
      get('buoys/a'),
      managed({
        'me Apply': { 'f:spec': { '.': {}, 'f:l': {}, 'f:m': { '.': {}, 'f:n': {} } } },
        'second Apply': { 'f:spec': { '.': {}, 'f:m': { '.': {}, 'f:o': {} } } },
      }),
    ],
    'a map that is emptied while another owns it is refused': [
      post('boats?fieldManager=other', boatOf({ berth: { k: 'v' } })),
      applies(BOAT, boatOf({ berth: { l: 'w' } })),
      updates(BOAT, 'other', { spec: { berth: { k: null } } }),
      applies(BOAT, boatOf({}), {
        wanted: invalid(['spec.berth', 'FieldValueTypeInvalid']),
      }),
    ],
    'containers keep their order, and new ones come where they are applied': [
      applies('deployments/a', withContainers(container('one'), container('two')), {
        wanted: 201,
      }),
      applies(
        'deployments/a',
        withContainers(container('side'), container('two'), container('last')),
        { as: 'second' },
      ),
      ...containerNames('one', 'side', 'two', 'last'),
    ],
    'an applier reorders what it applies': [
      applies('deployments/a', withContainers(container('one'), container('two')), {
        wanted: 201,
      }),
      applies('deployments/a', withContainers(container('two'), container('one'))),
      ...containerNames('two', 'one'),
    ],
    'a default of a key stands in for it': [
      applies('services/a', ports({ port: 80 }), { wanted: 201 }),
      applies('services/a', ports({ port: 80, protocol: 'TCP', name: 'a' }), { as: 'second' }),
      exactly('spec.ports', [{ name: 'a', protocol: 'TCP', port: 80, targetPort: 80 }]),
    ],
    'a selector is applied as a whole': [
      applies('poddisruptionbudgets/a', budget('a'), { wanted: 201 }),
      applies(
        'poddisruptionbudgets/a',
        budget('a', { selector: { matchLabels: { app: 'other' } } }),
        { as: 'second', wanted: conflictsWith([['"me"', '.spec.selector']]) },
      ),
    ],
    'a number and a text are the same field': [
      applies('poddisruptionbudgets/a', budget('a'), { wanted: 201 }),
      applies('poddisruptionbudgets/a', budget('a', { minAvailable: '50%' })),
      exactly('spec.minAvailable', '50%'),
    ],
    'taints are applied as a whole, and removed as a whole': [
      applies('nodes/{ns}', tainted({ taints: [{ key: 'a', effect: 'NoSchedule' }] }), {
        wanted: 201,
      }),
      applies('nodes/{ns}', tainted({})),
      absent('spec.taints'),
    ],
    'a quantity in another form changes nothing': [
      post(
        'pods?fieldManager=other',
        pod('a', {
          containers: [{ ...container('main'), resources: { requests: { cpu: '1' } } }],
        }),
      ),
      applies(
        'pods/a',
        pod('a', {
          containers: [{ ...container('main'), resources: { requests: { cpu: '1000m' } } }],
        }),
        { force: true },
      ),
      keepResourceVersion(),
      applies(
        'pods/a',
        pod('a', {
          containers: [{ ...container('main'), resources: { requests: { cpu: '1000m' } } }],
        }),
      ),
      exactly('spec.containers.0.resources.requests.cpu', '1'),
      unmoved(),
    ],
    'a status is applied through its subresource, with an entry of its own': [
      OTHERS,
      applies(`${BOAT}/status`, status({ afloat: true })),
      exactly('status', { afloat: true }),
      applies(BOAT, boatOf({})),
      managed({
        'me Apply': LENGTH,
        'me Apply status': { 'f:status': { 'f:afloat': {} } },
        'other Update': {
          'f:spec': {
            '.': {},
            'f:kind': {},
            'f:length': {},
            'f:lights': { '.': {}, 'f:port': {}, 'f:starboard': {} },
          },
        },
      }),
    ],
    'an apply of a status ignores everything else': [
      OTHERS,
      applies(
        `${BOAT}/status`,
        status({ rowers: 2 }, { spec: { length: 9 }, metadata: { labels: { l: '1' } } }),
        { wanted: ok({ spec: { length: 3 }, status: { rowers: 2 } }) },
      ),
      absent('metadata.labels'),
    ],
    'an apply of the object ignores the status': [
      applies(BOAT, boatOf({}, { status: { afloat: true } }), { wanted: 201 }),
      absent('status'),
      managed({ 'me Apply': LENGTH }),
      applies(BOAT, boatOf({}, { status: { afloat: true } })),
      absent('status'),
    ],
    'a status of another manager is a conflict': [
      OTHERS,
      updates(`${BOAT}/status`, 'keeper', { status: { afloat: true, rowers: 1 } }),
      applies(`${BOAT}/status`, status({ afloat: false }), {
        wanted: conflictsWith([[
          '"keeper" with subresource "status" using contract.tidegate.dev/v1',
          '.status.afloat',
        ]]),
      }),
      applies(`${BOAT}/status`, status({ afloat: false }), { force: true }),
      exactly('status', { afloat: false, rowers: 1 }),
    ],
    'a status that is no longer applied is removed': [
      OTHERS,
      applies(`${BOAT}/status`, status({ afloat: true, rowers: 2 })),
      applies(`${BOAT}/status`, status({ afloat: true })),
      exactly('status', { afloat: true }),
    ],
    'an apply of a status creates nothing': [
      applies(`${BOAT}/status`, status({ afloat: true }), { wanted: refused(404, 'NotFound') }),
    ],
    "conditions of a pod's status are applied by type": [
      post('pods', pod('a')),
      updates('pods/a/status', 'kubelet', {
        status: { conditions: [{ type: 'Ready', status: 'True' }] },
      }),
      applies('pods/a/status', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'a' },
        status: { conditions: [{ type: 'Mine', status: 'True' }] },
      }),
      exactly('status.conditions.0.type', 'Ready'),
      exactly('status.conditions.1.type', 'Mine'),
      applies('pods/a/status', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'a' },
        status: { conditions: [{ type: 'Ready', status: 'False' }] },
      }, {
        wanted: conflictsWith([[
          '"kubelet" with subresource "status" using v1',
          '.status.conditions[type="Ready"].status',
        ]]),
      }),
    ],
    'replicas that were scaled are a conflict, until they are no longer applied': [
      applies('deployments/a', workload('a', { replicas: 2 }), { wanted: made({}) }),
      patch('deployments/a/scale?fieldManager=scaler', merge({ spec: { replicas: 5 } })),
      applies('deployments/a', workload('a', { replicas: 2 }), {
        wanted: conflictsWith([[
          '"scaler" with subresource "scale" using apps/v1',
          '.spec.replicas',
        ]]),
      }),
      applies('deployments/a', WITHOUT_REPLICAS),
      exactly('spec.replicas', 5),
    ],
    'a scale is applied': [
      applies('deployments/a', workload('a', { replicas: 2 }), { wanted: 201 }),
      applies('deployments/a/scale', scale(4), {
        as: 'scaler',
        wanted: conflictsWith([['"me"', '.spec.replicas']]),
      }),
      applies('deployments/a/scale', scale(4), {
        as: 'scaler',
        force: true,
        wanted: ok({ kind: 'Scale', spec: { replicas: 4 } }),
      }),
      get('deployments/a', ok({ spec: { replicas: 4 } })),
      exactly('metadata.managedFields.0.manager', 'scaler'),
      exactly('metadata.managedFields.0.subresource', 'scale'),
    ],
  },
};
