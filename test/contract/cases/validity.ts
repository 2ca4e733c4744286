/** Contract: what built-in objects must be like. */
import {
  budget,
  configMap,
  coreEvent,
  lease,
  namespace,
  node,
  pod,
  service,
  workload,
} from '../objects.ts';
import {
  containing,
  del,
  get,
  invalid,
  merge,
  ok,
  patch,
  post,
  refused,
  type Step,
  strategic,
} from '../steps.ts';
import type { Area } from '../suite.ts';

type Causes = readonly (readonly [field: string, reason: string])[];

const MAIN = { name: 'main', image: 'none' };
const refuses = (resource: string, object: unknown, ...causes: Causes): readonly Step[] => [
  post(resource, object, invalid(...causes)),
];

const podRefused = (spec: object, ...causes: Causes): readonly Step[] =>
  refuses('pods', pod('a', { ...spec }), ...causes);
const mainRefused = (more: object, ...causes: Causes): readonly Step[] =>
  podRefused({ containers: [{ ...MAIN, ...more }] }, ...causes);
const workloadRefused = (spec: object, ...causes: Causes): readonly Step[] =>
  refuses('deployments', workload('a', { ...spec }), ...causes);
const budgetRefused = (spec: object, ...causes: Causes): readonly Step[] =>
  refuses('poddisruptionbudgets', budget('a', { ...spec }), ...causes);

const template = (labels: object, spec: object = {}) => ({
  template: { metadata: { labels }, spec: { containers: [MAIN], ...spec } },
});

const claim = (spec: object) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'a' },
  spec,
});

/** Rules of built-in kinds. */
export const validity: Area = {
  title: 'Validity',
  cases: {
    'pods: a container has a name': podRefused({ containers: [{ image: 'none' }] }, [
      'spec.containers[0].name',
      'FieldValueRequired',
    ]),
    'pods: the name of a container is a label': mainRefused({ name: 'A b' }, [
      'spec.containers[0].name',
      'FieldValueInvalid',
    ]),
    'pods: two containers have two names': podRefused({ containers: [MAIN, MAIN] }, [
      'spec.containers[1].name',
      'FieldValueDuplicate',
    ]),
    'pods: a container has an image': podRefused({ containers: [{ name: 'main' }] }, [
      'spec.containers[0].image',
      'FieldValueRequired',
    ]),
    'pods: a restart policy is one of three': podRefused({ restartPolicy: 'Sometimes' }, [
      'spec.restartPolicy',
      'FieldValueNotSupported',
    ]),
    'pods: requests are not above limits': mainRefused({
      resources: { requests: { cpu: '2' }, limits: { cpu: '1' } },
    }, ['spec.containers[0].resources.requests', 'FieldValueInvalid']),
    'pods: requests are not below nothing': mainRefused({
      resources: { requests: { cpu: '-1' } },
    }, ['spec.containers[0].resources.requests[cpu]', 'FieldValueInvalid']),
    'pods: what cannot be overcommitted has a limit': mainRefused({
      resources: { requests: { 'example.com/gpu': '1' } },
    }, ['spec.containers[0].resources.limits', 'FieldValueRequired']),
    'pods: a toleration of a value has a key': podRefused({
      tolerations: [{ operator: 'Equal', value: 'x', effect: 'NoSchedule' }],
    }, ['spec.tolerations[0].operator', 'FieldValueInvalid']),
    'pods: a toleration has an operator that is known': podRefused({
      tolerations: [{ key: 'a', operator: 'Maybe', effect: 'NoSchedule' }],
    }, ['spec.tolerations[0].operator', 'FieldValueNotSupported']),
    'pods: a toleration has an effect that is known': podRefused({
      tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSleep' }],
    }, ['spec.tolerations[0].effect', 'FieldValueNotSupported']),
    'pods: a mount names a volume': mainRefused({
      volumeMounts: [{ name: 'none', mountPath: '/a' }],
    }, ['spec.containers[0].volumeMounts[0].name', 'FieldValueNotFound']),
    'pods: two volumes have two names': podRefused({
      volumes: [{ name: 'v', emptyDir: {} }, { name: 'v', emptyDir: {} }],
    }, ['spec.volumes[1].name', 'FieldValueDuplicate']),
    'pods: the value of a node selector is one of a label': podRefused({
      nodeSelector: { a: 'b c' },
    }, ['spec.nodeSelector', 'FieldValueInvalid']),
    'pods: the image may change': [
      post('pods', pod('a')),
      patch(
        'pods/a',
        strategic({ spec: { containers: [{ name: 'main', image: 'other' }] } }),
        ok({
          spec: { containers: [{ image: 'other' }] },
        }),
      ),
    ],
    'pods: containers may not be added': [
      post('pods', pod('a')),
      patch('pods/a', strategic({ spec: { containers: [{ name: 'side', image: 'x' }] } }), {
        status: 422,
        body: { reason: 'Invalid' },
      }),
    ],
    'pods: tolerations may be added': [
      post('pods', pod('a')),
      patch('pods/a', {
        body: [{
          op: 'add',
          path: '/spec/tolerations/-',
          value: { key: 'a', operator: 'Exists', effect: 'NoSchedule' },
        }],
        headers: { 'content-type': 'application/json-patch+json' },
      }),
    ],
    'pods: tolerations may not be taken away': [
      post('pods', pod('a', { tolerations: [{ key: 'a', operator: 'Exists' }] })),
      patch('pods/a', merge({ spec: { tolerations: [] } }), {
        status: 422,
        body: { reason: 'Invalid' },
      }),
    ],
    'pods: removed not-ready tolerations are added again': [
      post('pods', pod('a')),
      patch(
        'pods/a',
        merge({ spec: { tolerations: [] } }),
        ok({
          spec: { tolerations: [{ tolerationSeconds: 300 }, { tolerationSeconds: 300 }] },
        }),
      ),
    ],
    'Deployments: the template has the labels of the selector': workloadRefused(
      template({ app: 'other' }),
      ['spec.template.metadata.labels', 'FieldValueInvalid'],
    ),
    'Deployments: there is a selector': workloadRefused({ selector: undefined }, [
      'spec.selector',
      'FieldValueRequired',
    ]),
    'Deployments: the selector is not empty': workloadRefused({ selector: {} }, [
      'spec.selector',
      'FieldValueInvalid',
    ]),
    'Deployments: replicas are not below nothing': workloadRefused({ replicas: -1 }, [
      'spec.replicas',
      'FieldValueInvalid',
    ]),
    'Deployments: pods are always restarted': workloadRefused(
      template({ app: 'web' }, { restartPolicy: 'Never' }),
      ['spec.template.spec.restartPolicy', 'FieldValueNotSupported'],
    ),
    'Deployments: something may be unavailable or too many': workloadRefused({
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } },
    }, ['spec.strategy.rollingUpdate.maxUnavailable', 'FieldValueInvalid']),
    'Deployments: the selector does not change': [
      post('deployments', workload('a')),
      patch(
        'deployments/a',
        merge({
          spec: {
            selector: { matchLabels: { app: 'job' } },
            template: { metadata: { labels: { app: 'job' } } },
          },
        }),
        invalid(['spec.selector', 'FieldValueInvalid']),
      ),
    ],
    'StatefulSets: the service does not change': [
      post('statefulsets', workload('a', { serviceName: 'a' }, 'StatefulSet')),
      patch(
        'statefulsets/a',
        merge({ spec: { serviceName: 'b' } }),
        invalid([
          'spec',
          'FieldValueForbidden',
        ]),
      ),
    ],
    'StatefulSets: the replicas do': [
      post('statefulsets', workload('a', { serviceName: 'a' }, 'StatefulSet')),
      patch('statefulsets/a', merge({ spec: { replicas: 3 } })),
    ],
    'budgets: either least or most': budgetRefused({ maxUnavailable: 1 }, [
      'spec',
      'FieldValueInvalid',
    ]),
    'budgets: not less than nothing': budgetRefused({ minAvailable: -1 }, [
      'spec.minAvailable',
      'FieldValueInvalid',
    ]),
    'budgets: not more than all': budgetRefused({ minAvailable: '150%' }, [
      'spec.minAvailable',
      'FieldValueInvalid',
    ]),
    'budgets: an amount is a number or a percentage': budgetRefused({ minAvailable: 'some' }, [
      'spec.minAvailable',
      'FieldValueInvalid',
    ]),
    'budgets: a policy is one of two': budgetRefused({ unhealthyPodEvictionPolicy: 'Never' }, [
      'spec.unhealthyPodEvictionPolicy',
      'FieldValueNotSupported',
    ]),
    'budgets: an expression has an operator that is known': budgetRefused({
      selector: { matchExpressions: [{ key: 'a', operator: 'Near' }] },
    }, ['spec.selector.matchExpressions[0].operator', 'FieldValueInvalid']),
    'budgets: an expression of a set has values': budgetRefused({
      selector: { matchExpressions: [{ key: 'a', operator: 'In' }] },
    }, ['spec.selector.matchExpressions[0].values', 'FieldValueRequired']),
    'leases: a duration is more than nothing': refuses(
      'leases',
      lease('a', { spec: { leaseDurationSeconds: 0 } }),
      ['spec.leaseDurationSeconds', 'FieldValueInvalid'],
    ),
    'nodes: a taint has an effect that is known': refuses(
      'nodes',
      node('{ns}', { spec: { taints: [{ key: 'a', effect: 'NoSleep' }] } }),
      ['metadata.taints[0].effect', 'FieldValueNotSupported'],
    ),
    'nodes: two taints differ in key or effect': refuses(
      'nodes',
      node('{ns}', {
        spec: {
          taints: [
            { key: 'a', value: 'x', effect: 'NoSchedule' },
            { key: 'a', value: 'y', effect: 'NoSchedule' },
          ],
        },
      }),
      ['metadata.taints[1]', 'FieldValueDuplicate'],
    ),
    'services: a port is one': refuses(
      'services',
      service('a', { spec: { ports: [{ port: 0 }] } }),
      [
        'spec.ports[0].port',
        'FieldValueInvalid',
      ],
    ),
    'services: there is a port': refuses('services', service('a', { spec: {} }), [
      'spec.ports',
      'FieldValueRequired',
    ]),
    'services: a name begins with a letter or a digit': [
      post(
        'services',
        service('-a', { spec: { ports: [{ port: 80 }] } }),
        invalid([
          'metadata.name',
          'FieldValueInvalid',
        ]),
      ),
    ],
    'configmaps: a key is a name of a file': refuses(
      'configmaps',
      configMap('a', { data: { 'a b': 'c' } }),
      ['data[a b]', 'FieldValueInvalid'],
    ),
    'configmaps: at most a mebibyte': [
      post(
        'configmaps',
        configMap('a', { data: { a: 'x'.repeat(1_048_577) } }),
        refused(
          422,
          'Invalid',
          { message: containing('Too long') },
        ),
      ),
    ],
    'namespaces: a name has no dots': refuses('namespaces', namespace('a.b'), [
      'metadata.name',
      'FieldValueInvalid',
    ]),
    'events: are in the namespace of their object': [
      post(
        'events',
        coreEvent('a', {
          involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
        }),
        invalid(['involvedObject.namespace', 'FieldValueInvalid']),
      ),
    ],
    'priority classes: at most a billion': refuses('priorityclasses', {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: '{ns}' },
      value: 1_000_000_001,
    }, ['value', 'FieldValueForbidden']),
    'priority classes: a value does not change': [
      post('priorityclasses', {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: '{ns}' },
        value: 5,
      }),
      patch('priorityclasses/{ns}', merge({ value: 6 }), {
        status: 422,
        body: { reason: 'Invalid' },
      }),
      del('priorityclasses/{ns}'),
    ],
    'volume claims: there is a way to access': refuses(
      'persistentvolumeclaims',
      claim({ resources: { requests: { storage: '1Gi' } } }),
      ['spec.accessModes', 'FieldValueRequired'],
    ),
    'volume claims: there is a size': refuses(
      'persistentvolumeclaims',
      claim({ accessModes: ['ReadWriteOnce'] }),
      ['spec.resources[storage]', 'FieldValueRequired'],
    ),
    'volumes: there is a size': [
      post('persistentvolumes', {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: '{ns}' },
        spec: { accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } },
      }, invalid(['spec.capacity', 'FieldValueRequired'])),
    ],
    'volume attachments: an attacher is required': [
      post('volumeattachments', {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'VolumeAttachment',
        metadata: { name: '{ns}' },
        spec: { nodeName: 'n', source: { persistentVolumeName: 'v' } },
      }, invalid(['spec.attacher', 'FieldValueRequired'])),
      get('volumeattachments/{ns}', 404),
    ],
  },
};
