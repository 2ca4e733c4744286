/** Contract: label selectors and field selectors. */
import { boat, configMap, coreEvent, node, pod, secret } from '../objects.ts';
import { del, get, merge, names, patch, post, refused, type Step } from '../steps.ts';
import type { Area } from '../suite.ts';

const labelled = (name: string, labels: Readonly<Record<string, string>>) =>
  post('configmaps', configMap(name, { metadata: { labels: { ...labels, of: '{ns}' } } }));

/** Four configmaps: in two tiers, one without, one without labels. */
const FOUR: readonly Step[] = [
  labelled('a', { tier: 'front', app: 'web' }),
  labelled('b', { tier: 'back', app: 'web' }),
  labelled('c', { app: 'job' }),
  post('configmaps', configMap('d')),
];

/** Which of the four objects a label selector selects. */
const chooses = (selector: string, ...wanted: readonly string[]): readonly Step[] => [
  ...FOUR,
  get(`configmaps?labelSelector=${encodeURIComponent(selector)}`),
  names(...wanted),
];

const PODS: readonly Step[] = [
  post('pods', pod('a', { nodeName: 'x' })),
  post('pods', pod('b', { nodeName: 'y' })),
  post('pods', pod('c')),
  patch('pods/b/status', merge({ status: { phase: 'Running' } })),
];

/** Which of the three pods a field selector selects. */
const picks = (selector: string, ...wanted: readonly string[]): readonly Step[] => [
  ...PODS,
  get(`pods?fieldSelector=${encodeURIComponent(selector)}`),
  names(...wanted),
];

const refuses = (query: string, message?: unknown): readonly Step[] => [
  get(query, refused(400, 'BadRequest', message === undefined ? {} : { message })),
];

/** Selection by labels and by fields. */
export const selectors: Area = {
  title: 'Selectors',
  cases: {
    'a label that equals': chooses('tier=front', 'a'),
    'a label that equals, written twice': chooses('tier==front', 'a'),
    'a label that does not equal, or is not there': chooses('tier!=front', 'b', 'c', 'd'),
    'a label of several': chooses('tier in (front,back)', 'a', 'b'),
    'a label of none of several, or not there': chooses('tier notin (front)', 'b', 'c', 'd'),
    'a label that is there': chooses('tier', 'a', 'b'),
    'a label that is not there': chooses('!tier', 'c', 'd'),
    'two demands at once': chooses('app=web,tier!=front', 'b'),
    'demands with blanks': chooses(' app = web , tier in ( front , x ) ', 'a'),
    'an empty value': chooses('tier='),
    'an empty value in a set': chooses('tier in (,front)', 'a'),
    'a label that no object has': chooses('none=x'),
    'an empty selector chooses all': chooses('', 'a', 'b', 'c', 'd'),
    'a selector without a value list is refused': refuses('configmaps?labelSelector=a+in'),
    'a selector with a bad value is refused': refuses('configmaps?labelSelector=a%3Db+c'),
    'a selector with a bad key is refused': refuses('configmaps?labelSelector=-a%3Db'),
    'a selector that ends in a comma is refused': refuses('configmaps?labelSelector=a%3Db,'),
    'labels are chosen over all namespaces': [
      ...FOUR,
      get('all:configmaps?labelSelector=of={ns},app=web'),
      names('a', 'b'),
    ],
    'labels that changed are chosen by what they are now': [
      ...FOUR,
      patch('configmaps/a', merge({ metadata: { labels: { tier: 'back' } } })),
      get('configmaps?labelSelector=tier=back'),
      names('a', 'b'),
    ],
    'fields: a name': picks('metadata.name=b', 'b'),
    'fields: not a name': picks('metadata.name!=b', 'a', 'c'),
    'fields: a namespace': picks('metadata.namespace=none'),
    'fields: a node of pods': picks('spec.nodeName=x', 'a'),
    'fields: no node of pods': picks('spec.nodeName=', 'c'),
    'fields: a phase of pods': picks('status.phase=Running', 'b'),
    'fields: not a phase of pods': picks('status.phase!=Running', 'a', 'c'),
    'fields: a restart policy of pods': picks('spec.restartPolicy=Always', 'a', 'b', 'c'),
    'fields: two at once': picks('spec.nodeName!=,status.phase=Pending', 'a'),
    'fields and labels at once': [
      ...PODS,
      patch('pods/a', merge({ metadata: { labels: { app: 'job' } } })),
      get('pods?fieldSelector=spec.nodeName!=&labelSelector=app=web'),
      names('b'),
    ],
    'fields: pods of a node over all namespaces': [
      post('pods', pod('a', { nodeName: '{ns}' })),
      post('pods', pod('b')),
      get('all:pods?fieldSelector=spec.nodeName={ns}'),
      names('a'),
    ],
    'fields that pods cannot be chosen by are refused': refuses(
      'pods?fieldSelector=spec.hostname=a',
    ),
    'fields that configmaps cannot be chosen by are refused': refuses(
      'configmaps?fieldSelector=data.a=b',
    ),
    'a field selector that is none is refused': refuses('pods?fieldSelector=status.phase'),
    'fields: a type of secrets': [
      post('secrets', secret('a', { type: 'example.com/x' })),
      post('secrets', secret('b')),
      get('secrets?fieldSelector=type=Opaque'),
      names('b'),
    ],
    'fields: nodes that take no pods': [
      post('nodes', node('{ns}-a', { spec: { unschedulable: true } })),
      post('nodes', node('{ns}-b')),
      get('nodes?fieldSelector=spec.unschedulable=true,metadata.name={ns}-a'),
      names('{ns}-a'),
      get('nodes?fieldSelector=spec.unschedulable=true,metadata.name={ns}-b'),
      names(),
    ],
    'fields: events about an object': [
      ...['p', 'q'].map((name) =>
        post(
          'events',
          coreEvent(name, {
            involvedObject: { kind: 'Pod', name, namespace: '{ns}', uid: `uid-${name}` },
            reason: `Why${name}`,
            type: name === 'p' ? 'Normal' : 'Warning',
          }),
        )
      ),
      get('events?fieldSelector=involvedObject.name=p'),
      names('p'),
      get('events?fieldSelector=involvedObject.uid=uid-q,involvedObject.kind=Pod'),
      names('q'),
      get('events?fieldSelector=reason=Whyq'),
      names('q'),
      get('events?fieldSelector=type!=Normal'),
      names('q'),
    ],
    'fields: a custom resource by its name': [
      post('boats', boat('a', { spec: { length: 1 } })),
      post('boats', boat('b', { spec: { length: 2 } })),
      get('boats?fieldSelector=metadata.name=b'),
      names('b'),
    ],
    'fields: a custom resource by a field that its definition names': [
      post('boats', boat('a', { spec: { length: 1, kind: 'sail' } })),
      post('boats', boat('b', { spec: { length: 2, kind: 'motor' } })),
      get('boats?fieldSelector=spec.kind=motor'),
      names('b'),
    ],
    'fields: a custom resource by any other field is refused': refuses(
      'boats?fieldSelector=spec.length=1',
    ),
    'only selected objects are deleted': [
      ...FOUR,
      del('configmaps?labelSelector=app=web'),
      get('configmaps'),
      names('c', 'd'),
    ],
    'only what fields choose is deleted': [
      ...FOUR,
      del('configmaps?fieldSelector=metadata.name=c'),
      get('configmaps'),
      names('a', 'b', 'd'),
    ],
  },
};
