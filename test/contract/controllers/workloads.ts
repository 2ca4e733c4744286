/** Contract of the players: what workloads make of themselves. */
import { expect } from 'vitest';
import {
  absent,
  all,
  del,
  get,
  includes,
  keep,
  like,
  merge,
  names,
  ok,
  patch,
  post,
  type Step,
  until,
} from '../steps.ts';
import type { Area } from '../suite.ts';
import { atHome, homeWorkload, joined, pods, ready, running } from './nodes.ts';

const OF_REPLICA_SET = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name: like(/^web-/),
  controller: true,
  blockOwnerDeletion: true,
};

const set = (name: string, replicas: number): Step =>
  post('statefulsets', homeWorkload(name, { replicas, serviceName: name }, 'StatefulSet'));

const daemons = (more: Readonly<Record<string, unknown>> = {}): Step =>
  post('daemonsets', {
    ...homeWorkload('agent', { replicas: undefined }, 'DaemonSet'),
    ...more,
  });

const IMAGE = merge({
  spec: { template: { spec: { containers: [{ name: 'main', image: 'other' }] } } },
});

const deletionCost = (cost: string) =>
  merge({ metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } } });

const hasCondition = (path: string, type: string, status: string): Step =>
  until(all(
    get(path),
    includes('status.conditions', [expect.objectContaining({ type, status })]),
  ));

/** Deployments, StatefulSets and DaemonSets as their controllers keep them. */
export const controllerWorkloads: Area = {
  title: 'Simulated workload controllers',
  cases: {
    'a Deployment makes a ReplicaSet of its name and template': [
      ...running(2),
      get(
        'replicasets',
        ok({
          items: [{
            metadata: {
              name: like(/^web-[a-z0-9]+$/),
              labels: { app: 'web', 'pod-template-hash': like(/./) },
              ownerReferences: [{ kind: 'Deployment', name: 'web', controller: true }],
            },
            spec: { replicas: 2, selector: { matchLabels: { 'pod-template-hash': like(/./) } } },
          }],
        }),
      ),
    ],
    'a ReplicaSet makes pods of its name and template': [
      ...running(2),
      get(
        'pods',
        ok({
          items: Array.from({ length: 2 }, () => ({
            metadata: {
              name: like(/^web-[a-z0-9]+-[a-z0-9]{5}$/),
              generateName: like(/^web-[a-z0-9]+-$/),
              labels: { app: 'web', 'pod-template-hash': like(/./) },
              ownerReferences: [OF_REPLICA_SET],
            },
            spec: { nodeName: '{ns}-a' },
          })),
        }),
      ),
    ],
    'a Deployment counts its pods': [
      ...running(2),
      until(get(
        'deployments/web',
        ok({
          status: {
            observedGeneration: 1,
            replicas: 2,
            updatedReplicas: 2,
            readyReplicas: 2,
            availableReplicas: 2,
          },
        }),
      )),
      hasCondition('deployments/web', 'Available', 'True'),
      hasCondition('deployments/web', 'Progressing', 'True'),
    ],
    'a Deployment that cannot run is not available': [
      post('deployments', homeWorkload('web', { replicas: 2 })),
      hasCondition('deployments/web', 'Available', 'False'),
    ],
    'a running pod reports it': [
      ...running(1),
      get(
        'pods',
        ok({
          items: [{
            status: {
              phase: 'Running',
              startTime: like(/Z$/),
              containerStatuses: [{ name: 'main', ready: true, restartCount: 0 }],
            },
          }],
        }),
      ),
      includes('items.0.status.conditions', [
        expect.objectContaining({ type: 'PodScheduled', status: 'True' }),
        expect.objectContaining({ type: 'Ready', status: 'True' }),
      ]),
    ],
    'more pods when it is scaled up': [
      ...running(1),
      patch('deployments/web/scale', merge({ spec: { replicas: 4 } })),
      ready(4),
      pods(4),
    ],
    'fewer pods when it is scaled down': [
      ...running(3),
      patch('deployments/web/scale', merge({ spec: { replicas: 1 } })),
      pods(1),
      ready(1),
    ],
    'the pods of the lowest deletion cost leave first when it is scaled down': [
      ...running(3),
      get('pods'),
      keep({ first: 'items.0.metadata.name', kept: 'items.1.metadata.name' }),
      keep({ last: 'items.2.metadata.name' }),
      patch('pods/{first}', deletionCost('-2147483648')),
      patch('pods/{last}', deletionCost('-1')),
      patch('deployments/web/scale', merge({ spec: { replicas: 1 } })),
      pods(1),
      get('pods', ok({ items: [{ metadata: { name: '{kept}' } }] })),
    ],
    'no pods when it is scaled to nothing': [
      ...running(2),
      patch('deployments/web/scale', merge({ spec: { replicas: 0 } })),
      pods(0),
    ],
    'a pod that is deleted is replaced by another': [
      ...running(1),
      get('pods'),
      keep({ first: 'items.0.metadata.name' }),
      del('pods/{first}'),
      until(get('pods/{first}', 404)),
      pods(1),
      ready(1),
    ],
    'a pod that failed is replaced by another': [
      ...running(1),
      get('pods'),
      keep({ first: 'items.0.metadata.name' }),
      patch('pods/{first}/status', merge({ status: { phase: 'Failed' } })),
      pods(1, '?fieldSelector=status.phase=Running'),
    ],
    'a pod whose labels no longer match is released and replaced': [
      ...running(1),
      get('pods'),
      keep({ first: 'items.0.metadata.name' }),
      patch('pods/{first}', merge({ metadata: { labels: { app: 'free' } } })),
      pods(1, '?labelSelector=app=web'),
      until(all(get('pods/{first}'), absent('metadata.ownerReferences'))),
    ],
    'another template is rolled out in another ReplicaSet': [
      ...running(2),
      patch('deployments/web', IMAGE),
      until(get(
        'deployments/web',
        ok({
          status: { observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2 },
        }),
      )),
      get('replicasets', ok({ items: [{}, {}] })),
      pods(2),
      get(
        'pods',
        ok({
          items: Array.from({ length: 2 }, () => ({ spec: { containers: [{ image: 'other' }] } })),
        }),
      ),
    ],
    'a Deployment takes all that it made along': [
      ...running(2),
      del('deployments/web', { propagationPolicy: 'Background' }),
      until(all(get('replicasets'), names())),
      until(all(get('pods'), names())),
    ],
    'a StatefulSet numbers its pods': [
      joined('a'),
      set('db', 3),
      until(get('statefulsets/db', ok({ status: { readyReplicas: 3, replicas: 3 } }))),
      get('pods'),
      names('db-0', 'db-1', 'db-2'),
    ],
    'a StatefulSet takes the last pods away first': [
      joined('a'),
      set('db', 3),
      until(get('statefulsets/db', ok({ status: { readyReplicas: 3 } }))),
      patch('statefulsets/db/scale', merge({ spec: { replicas: 1 } })),
      pods(1),
      get('pods'),
      names('db-0'),
    ],
    'a StatefulSet makes a pod of the same name again': [
      joined('a'),
      set('db', 1),
      until(get('statefulsets/db', ok({ status: { readyReplicas: 1 } }))),
      get('pods/db-0'),
      keep({ uid: 'metadata.uid' }),
      del('pods/db-0', { preconditions: { uid: '{uid}' } }),
      until(get('pods?fieldSelector=metadata.name=db-0,status.phase=Pending')),
      until(get('statefulsets/db', ok({ status: { readyReplicas: 1 } }))),
      until(del('pods/db-0?dryRun=All', { preconditions: { uid: '{uid}' } }, 409)),
    ],
    'a DaemonSet has a pod on every node that it may be on': [
      joined('a'),
      joined('b'),
      daemons(),
      until(get(
        'daemonsets/agent',
        ok({
          status: { desiredNumberScheduled: 2, currentNumberScheduled: 2, numberReady: 2 },
        }),
      )),
      get('pods?fieldSelector=spec.nodeName={ns}-a', ok({ items: [{}] })),
      get('pods?fieldSelector=spec.nodeName={ns}-b', ok({ items: [{}] })),
    ],
    'a DaemonSet comes to a node that joins': [
      joined('a'),
      daemons(),
      until(get('daemonsets/agent', ok({ status: { numberReady: 1 } }))),
      joined('b'),
      until(get('daemonsets/agent', ok({ status: { numberReady: 2 } }))),
    ],
    'a DaemonSet comes to a node that takes no pods': [
      joined('a', { spec: { unschedulable: true } }),
      daemons(),
      until(get('daemonsets/agent', ok({ status: { numberReady: 1 } }))),
    ],
    'a pod of a DaemonSet is recreated on a cordoned node': [
      joined('a'),
      daemons(),
      until(get('daemonsets/agent', ok({ status: { numberReady: 1 } }))),
      patch('nodes/{ns}-a', merge({ spec: { unschedulable: true } })),
      get('pods'),
      keep({ first: 'items.0.metadata.name' }),
      del('pods/{first}'),
      until(get('pods/{first}', 404)),
      pods(1),
      until(get('daemonsets/agent', ok({ status: { numberReady: 1 } }))),
    ],
    'a deleted pod terminates after its grace period': [
      ...running(1),
      get('pods'),
      keep({ first: 'items.0.metadata.name' }),
      del('pods/{first}', undefined, ok({ metadata: { deletionGracePeriodSeconds: 1 } })),
      until(get('pods/{first}', 404)),
    ],
    'a pod with a finalizer does not go': [
      joined('a'),
      post(
        'deployments',
        homeWorkload('web', {
          template: {
            metadata: { labels: { app: 'web' }, finalizers: ['example.com/hold'] },
            spec: atHome({ containers: [{ name: 'main', image: 'none' }] }),
          },
        }),
      ),
      ready(1),
      get('pods'),
      keep({ first: 'items.0.metadata.name' }),
      del('pods/{first}', { gracePeriodSeconds: 1 }),
      pods(2),
      get('pods/{first}', ok({ metadata: { deletionTimestamp: like(/Z$/) } })),
      patch('pods/{first}', merge({ metadata: { finalizers: null } })),
      until(get('pods/{first}', 404)),
    ],
  },
};
