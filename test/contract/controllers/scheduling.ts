/** Contract of the simulated controllers: scheduling, and the status of nodes. */
import { expect } from 'vitest';
import {
  absent,
  all,
  del,
  exactly,
  get,
  includes,
  like,
  merge,
  ok,
  patch,
  type Step,
  until,
} from '../steps.ts';
import { moment } from '../time-steps.ts';
import type { Area } from '../suite.ts';
import { homePod, joined } from './nodes.ts';

const goesTo = (name: string, node: string): Step =>
  until(get(`pods/${name}`, ok({ spec: { nodeName: `{ns}-${node}` } })));

/** The scheduler considered the pod and found no node. */
const waits = (name: string): Step =>
  all(
    until(all(
      get(`pods/${name}`, ok({ status: { phase: 'Pending' } })),
      includes('status.conditions', [
        expect.objectContaining({ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }),
      ]),
    )),
    moment,
    get(`pods/${name}`),
    absent('spec.nodeName'),
  );

const TAINT = { key: 'example.com/dedicated', value: 'x', effect: 'NoSchedule' };
const CORDON_TAINT = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
const asking = (requests: object) => ({
  containers: [{ name: 'main', image: 'none', resources: { requests } }],
});
const owning = (limits: object) => ({
  containers: [{ name: 'main', image: 'none', resources: { limits } }],
});
const affinity = (key: string, operator: string, values: readonly string[]) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key, operator, values }] }],
      },
    },
  },
});

/** The scheduler, and the life of nodes. */
export const controllerScheduling: Area = {
  title: 'Simulated scheduler',
  cases: {
    'a pod goes to a node that it may be on': [joined('a'), homePod('p'), goesTo('p', 'a')],
    'a pod waits for a node that joins': [
      homePod('p'),
      waits('p'),
      joined('a'),
      goesTo('p', 'a'),
    ],
    'a pod does not go to a node without its labels': [
      joined('a'),
      homePod('p', { nodeSelector: { disk: 'fast' } }),
      waits('p'),
      joined('b', { labels: { disk: 'fast' } }),
      goesTo('p', 'b'),
    ],
    'a label that a node gets lets a pod in': [
      joined('a'),
      homePod('p', { nodeSelector: { disk: 'fast' } }),
      waits('p'),
      patch('nodes/{ns}-a', merge({ metadata: { labels: { disk: 'fast' } } })),
      goesTo('p', 'a'),
    ],
    'a pod does not go to a node that takes no pods': [
      joined('a', { spec: { unschedulable: true } }),
      homePod('p'),
      waits('p'),
      patch('nodes/{ns}-a', merge({ spec: { unschedulable: false } })),
      goesTo('p', 'a'),
    ],
    'a cordoned node has a taint, and an uncordoned one has not': [
      joined('a'),
      patch('nodes/{ns}-a', merge({ spec: { unschedulable: true } })),
      until(all(
        get('nodes/{ns}-a'),
        includes('spec.taints', [expect.objectContaining(CORDON_TAINT)]),
      )),
      patch('nodes/{ns}-a', merge({ spec: { unschedulable: null } })),
      until(all(get('nodes/{ns}-a'), absent('spec.taints'))),
    ],
    'a cordon keeps the taints that are there': [
      joined('a', { spec: { taints: [TAINT] } }),
      patch('nodes/{ns}-a', merge({ spec: { unschedulable: true } })),
      until(all(
        get('nodes/{ns}-a'),
        includes('spec.taints', [TAINT, expect.objectContaining(CORDON_TAINT)]),
      )),
    ],
    'a pod goes past a node that takes no pods': [
      joined('a', { spec: { unschedulable: true } }),
      joined('b'),
      homePod('p'),
      goesTo('p', 'b'),
    ],
    'a pod that tolerates it goes to a node that takes no pods': [
      joined('a', { spec: { unschedulable: true } }),
      homePod('p', {
        tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }],
      }),
      goesTo('p', 'a'),
    ],
    'a pod does not go to a tainted node': [
      joined('a', { spec: { taints: [TAINT] } }),
      homePod('p'),
      waits('p'),
    ],
    'a pod that tolerates the taint goes there': [
      joined('a', { spec: { taints: [TAINT] } }),
      homePod('p', { tolerations: [{ ...TAINT, operator: 'Equal' }] }),
      goesTo('p', 'a'),
    ],
    'a pod that tolerates another value does not': [
      joined('a', { spec: { taints: [TAINT] } }),
      homePod('p', { tolerations: [{ ...TAINT, operator: 'Equal', value: 'y' }] }),
      waits('p'),
    ],
    'a pod that tolerates everything goes there': [
      joined('a', { spec: { taints: [TAINT] } }),
      homePod('p', { tolerations: [{ operator: 'Exists' }] }),
      goesTo('p', 'a'),
    ],
    'a pod that requests too much stays pending': [
      joined('a'),
      homePod('p', asking({ cpu: '5' })),
      waits('p'),
    ],
    'a pod that requests an unknown resource stays pending': [
      joined('a'),
      homePod('p', owning({ 'example.com/gpu': '1' })),
      waits('p'),
    ],
    'a pod stays pending until another has gone': [
      joined('a'),
      homePod('large', asking({ cpu: '3' })),
      goesTo('large', 'a'),
      homePod('p', asking({ cpu: 1500 + 'm' })),
      waits('p'),
      del('pods/large'),
      goesTo('p', 'a'),
    ],
    'a pod goes where there is room': [
      joined('a'),
      homePod('large', asking({ memory: '7Gi' })),
      goesTo('large', 'a'),
      joined('b'),
      homePod('p', asking({ memory: '2Gi' })),
      goesTo('p', 'b'),
    ],
    'a pod goes where its affinity leads': [
      joined('a', { labels: { zone: 'x' } }),
      joined('b', { labels: { zone: 'y' } }),
      homePod('p', affinity('zone', 'In', ['y'])),
      goesTo('p', 'b'),
    ],
    'a pod goes where its affinity does not forbid it': [
      joined('a', { labels: { zone: 'x' } }),
      joined('b', { labels: { zone: 'y' } }),
      homePod('p', affinity('zone', 'NotIn', ['y'])),
      goesTo('p', 'a'),
    ],
    'a pod with an affinity to nothing waits': [
      joined('a'),
      homePod('p', affinity('zone', 'Exists', [])),
      waits('p'),
    ],
    'a node that is ready loses the taint that it joined with': [
      joined('a'),
      until(all(get('nodes/{ns}-a'), absent('spec.taints'))),
    ],
    'a node has a lease that it renews': [
      joined('a'),
      until(get(
        '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{ns}-a',
        ok({
          spec: { holderIdentity: like(/./), renewTime: like(/Z$/) },
        }),
      )),
    ],
    'a node keeps the size that it was made with': [
      joined('a'),
      get('nodes/{ns}-a'),
      exactly('status.allocatable.cpu', '4'),
    ],
  },
};
