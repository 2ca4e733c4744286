/** Contract: decoding of fields: unknown ones, wrong types, quantities, empty values. */
import { boat, configMap, node, pod, workload } from '../objects.ts';
import {
  absent,
  containing,
  exactly,
  get,
  header,
  made,
  merge,
  ok,
  patch,
  post,
  put,
  refused,
  type Step,
} from '../steps.ts';
import type { Area } from '../suite.ts';

const container = (more: object) => ({ containers: [{ name: 'main', image: 'none', ...more }] });
const asking = (requests: object) => container({ resources: { requests } });

/** A quantity, and its canonical form. */
const reads = (written: unknown, read: string): readonly Step[] => [
  post('pods', pod('a', asking({ memory: written }))),
  exactly('spec.containers.0.resources.requests', { memory: read }),
];

const wrong = (spec: object): readonly Step[] => [
  post('pods', pod('a', { ...spec }), refused(400, 'BadRequest')),
  get('pods/a', 404),
];

/** Decoding of client input. */
export const fields: Area = {
  title: 'Fields',
  cases: {
    'an unknown field deep inside is dropped': [
      post('pods', pod('a', container({ colour: 'red' }))),
      absent('spec.containers.0.colour'),
    ],
    'an unknown field is warned of': [
      post('pods', pod('a', { colour: 'red' })),
      header('warning', containing('unknown field')),
      absent('spec.colour'),
    ],
    'an unknown field causes no warning with fieldValidation=Ignore': [
      post('pods?fieldValidation=Ignore', pod('a', { colour: 'red' })),
      header('warning', undefined),
      absent('spec.colour'),
    ],
    'an unknown field deep inside is refused on request, by its path': [
      post(
        'pods?fieldValidation=Strict',
        pod('a', container({ colour: 'red' })),
        refused(
          400,
          'BadRequest',
          { message: containing('unknown field "spec.containers[0].colour"') },
        ),
      ),
    ],
    'an unknown field in an update is refused on request': [
      post('configmaps', configMap('a')),
      put('configmaps/a?fieldValidation=Strict', { ...configMap('a'), colour: 'red' }, 400),
    ],
    'an unknown field in a patch is dropped': [
      post('deployments', workload('a')),
      patch(
        'deployments/a',
        merge({ spec: { colour: 'red', replicas: 2 } }),
        ok({
          spec: { replicas: 2 },
        }),
      ),
      absent('spec.colour'),
    ],
    'a number where text belongs is refused': wrong({ nodeName: 5 }),
    'text where a number belongs is refused': wrong({ terminationGracePeriodSeconds: 'soon' }),
    'text where yes or no belongs is refused': wrong({ hostNetwork: 'yes' }),
    'an object where a list belongs is refused': wrong({ tolerations: {} }),
    'a list where an object belongs is refused': wrong({ nodeSelector: ['a'] }),
    'a fraction where a whole number belongs is refused': wrong({
      terminationGracePeriodSeconds: 1.5,
    }),
    'a number among labels is refused': [
      post('configmaps', configMap('a', { metadata: { labels: { a: 1 } } }), 400),
    ],
    'a number among data is refused': [post('configmaps', configMap('a', { data: { a: 1 } }), 400)],
    'replicas that are text are refused': [
      post('deployments', workload('a', { replicas: '2' }), 400),
    ],
    'a quantity is written in its shortest form': reads('1024Mi', '1Gi'),
    'a quantity that is a number becomes text': reads(1024, '1024'),
    'a quantity in thousandths becomes whole': reads('2000m', '2'),
    'a quantity with a fraction becomes thousandths': reads('0.5', '500m'),
    'a quantity with a fraction and a unit is written without': reads('1.5Gi', '1536Mi'),
    'a quantity with an exponent keeps it': reads('1e3', '1e3'),
    'a malformed quantity is refused': wrong(asking({ memory: 'much' })),
    'a quantity of another unit is refused': wrong(asking({ memory: '1Q' })),
    'the capacity of a node is read as quantities': [
      post(
        'nodes',
        { ...node('{ns}'), status: { capacity: { cpu: 4, memory: '2048Ki' } } },
        made({
          status: { capacity: { cpu: '4', memory: '2Mi' } },
        }),
      ),
    ],
    'half a surrogate pair is stored as U+FFFD': [
      post('configmaps', configMap('a', { data: { a: 'cut \ud83d' } })),
      get('configmaps/a'),
      exactly('data.a', 'cut \ufffd'),
      post('boats', boat('a', { spec: { length: 3, berth: { pier: 'cut \ud83d' } } })),
      get('boats/a'),
      exactly('spec.berth.pier', 'cut \ufffd'),
    ],
    'null is nothing': [
      post('pods', pod('a', { nodeName: null, volumes: null })),
      absent('spec.nodeName', 'spec.volumes'),
    ],
    'an empty text is nothing': [
      post('pods', pod('a', { nodeName: '', hostname: '' })),
      absent('spec.nodeName', 'spec.hostname'),
    ],
    'an empty list is nothing': [
      post('pods', pod('a', { volumes: [], imagePullSecrets: [] })),
      absent('spec.volumes', 'spec.imagePullSecrets'),
    ],
    'no is nothing where it is the default': [
      post('pods', pod('a', { hostNetwork: false, hostPID: false })),
      absent('spec.hostNetwork', 'spec.hostPID'),
    ],
    'no is kept where it may also be unsaid': [
      post('configmaps', configMap('a', { immutable: false }), made({ immutable: false })),
    ],
    'nought is kept where it may also be unsaid': [
      post('deployments', workload('a', { replicas: 0 }), made({ spec: { replicas: 0 } })),
    ],
    'data without entries is nothing': [
      post('configmaps', configMap('a', { data: {} })),
      absent('data'),
    ],
    'labels without entries are nothing': [
      post('configmaps', configMap('a', { metadata: { labels: {}, annotations: {} } })),
      absent('metadata.labels', 'metadata.annotations'),
    ],
    'a label and an annotation of null are kept as empty ones': [
      post(
        'configmaps',
        configMap('a', { metadata: { labels: { a: null }, annotations: { b: null } } }),
        made({ metadata: { labels: { a: '' }, annotations: { b: '' } } }),
      ),
    ],
    'the last label that is taken away takes the labels along': [
      post('configmaps', configMap('a', { metadata: { labels: { a: 'b' } } })),
      patch('configmaps/a', merge({ metadata: { labels: { a: null } } })),
      absent('metadata.labels'),
    ],
    'an empty value of a label is kept': [
      post(
        'configmaps',
        configMap('a', { metadata: { labels: { a: '' } } }),
        made({
          metadata: { labels: { a: '' } },
        }),
      ),
    ],
  },
};
