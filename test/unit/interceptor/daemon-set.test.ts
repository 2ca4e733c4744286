/** The interceptor of pods of DaemonSets, in the role interceptors on an embedded cluster. */
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { type JsonRecord, recordAt, textAt, timeAt, valueAt } from '../../../src/domain/json.ts';
import { serveInterceptors, serveMaintenance } from '../../support/interceptors/connections.ts';
import {
  conditionsOf,
  embeddedCluster,
  PODS,
  reportOf,
} from '../../support/interceptors/embedded-cluster.ts';
import { surgeDeployment } from '../../support/interceptors/surged-deployment.ts';

const NAME = 'daemonset.tidegate.dev';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const MAINTENANCES = '/apis/lifecycle.tidegate.dev/v1alpha1/nodemaintenances';
const DEFINITION: unknown = parse(readFileSync(
  new URL(
    '../../../charts/tidegate/files/crds/nodemaintenances.lifecycle.tidegate.dev.yaml',
    import.meta.url,
  ),
  'utf8',
));
const GRACE_SECONDS = 45;
const MINUTE = 60_000;

const AGENT: JsonRecord = {
  metadata: { name: 'agent' },
  spec: {
    selector: { matchLabels: { app: 'agent' } },
    template: {
      metadata: {
        labels: { app: 'agent' },
        annotations: { 'lifecycle.tidegate.dev/eviction-interceptors': NAME },
      },
      spec: {
        containers: [{ name: 'c', image: 'i' }],
        terminationGracePeriodSeconds: GRACE_SECONDS,
      },
    },
  },
};

/** A cluster with a DaemonSet whose pods register the interceptor, which runs. */
const daemonSite = async () => {
  const cluster = await embeddedCluster();
  cluster.create(CRDS, DEFINITION);
  cluster.create(DAEMON_SETS, AGENT);
  onTestFinished(serveInterceptors(cluster.cluster.handle, cluster.time));
  onTestFinished(
    serveMaintenance(cluster.cluster.handle, cluster.time, { record: () => {}, via: 'auto' }),
  );
  const podsOf = (app: string): readonly unknown[] =>
    cluster.list(PODS).filter((pod) => textAt(pod, 'metadata', 'labels', 'app') === app);
  await cluster.until(
    () =>
      podsOf('agent').length === 2 &&
      podsOf('agent').every((pod) => textAt(pod, 'status', 'phase') === 'Running'),
    'the pods run',
  );
  const [pod] = podsOf('agent');
  const node = textAt(pod, 'spec', 'nodeName') ?? '';
  const podPath = `${PODS}/${textAt(pod, 'metadata', 'name')}`;
  const maintain = (name: string, spec: object): void =>
    cluster.create(MAINTENANCES, {
      apiVersion: 'lifecycle.tidegate.dev/v1alpha1',
      kind: 'NodeMaintenance',
      metadata: { name },
      spec: {
        nodeSelector: {
          nodeSelectorTerms: [{
            matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }],
          }],
        },
        reason: 'New kernel',
        stage: 'Drain',
        ...spec,
      },
    });
  return { cluster, pod, node, podPath, podsOf, maintain };
};

const isDeleted = (pod: unknown): boolean =>
  textAt(pod, 'metadata', 'deletionTimestamp') !== undefined;

test('NM-45: deletes its pod when a maintenance has reached it, and reports until when', async () => {
  const { cluster, pod, podPath, maintain } = await daemonSite();
  const uid = textAt(pod, 'metadata', 'uid') ?? '';
  const path = cluster.request(pod);
  await cluster.until(
    () => reportOf(cluster.get(path), NAME) !== undefined,
    'the interceptor is active',
  );
  maintain('kernel', {});
  await cluster.until(() => isDeleted(cluster.get(podPath)), 'the pod is deleted');
  const deletedMs = cluster.time.now();
  expect(valueAt(cluster.get(podPath), 'metadata', 'deletionGracePeriodSeconds'))
    .toBe(GRACE_SECONDS);
  await cluster.time.advance(1500);
  const report = reportOf(cluster.get(path), NAME);
  expect(textAt(report, 'message'))
    .toBe('DaemonSet "agent" ends the pod for NodeMaintenance "kernel" (New kernel)');
  expect(textAt(report, 'heartbeatTime')).toBeDefined();
  const finishMs = timeAt(report, 'expectedFinishTime') ?? 0;
  expect(Math.abs(finishMs - deletedMs - GRACE_SECONDS * 1000)).toBeLessThanOrEqual(1500);
  await cluster.until(() => conditionsOf(cluster.get(path)).includes('Evicted'), 'it has left');
  expect(textAt(reportOf(cluster.get(path), NAME), 'completionTime')).toBeUndefined();
  expect(textAt(cluster.get(podPath), 'metadata', 'uid')).not.toBe(uid);
});

test('NM-45: deletes its pod when the maintenances are followed again', async () => {
  // Its verdict was of a cache that was behind, and no object changed when the watch delivered.
  const { cluster: { cluster, ...site }, pod, podPath, maintain } = await daemonSite();
  const refused = { kind: 'refuse', status: 500 } as const;
  const showPod = cluster.faults.set({ trouble: refused, methods: ['GET'], path: podPath });
  maintain('kernel', {});
  await site.time.advance(20_000);
  const followAgain = cluster.faults.set({ trouble: refused, path: 'nodemaintenances' });
  cluster.watches.drop({ resource: 'nodemaintenances.lifecycle.tidegate.dev' });
  showPod();
  await site.time.advance(2 * MINUTE);
  expect(site.get(podPath)['metadata']).toEqual(recordAt(pod, 'metadata'));
  followAgain();
  await site.until(() => isDeleted(site.get(podPath)), 'the pod is deleted', 3 * MINUTE);
});

test('NM-44: without a maintenance in Drain it does nothing, and does not complete', async () => {
  const { cluster, pod, podPath, maintain } = await daemonSite();
  const path = cluster.request(pod);
  maintain('planned', { stage: 'Cordon' });
  maintain('others', { podTypes: ['Default'] });
  await cluster.time.advance(30 * MINUTE);
  const request = cluster.get(path);
  expect(isDeleted(cluster.get(podPath))).toBe(false);
  expect(valueAt(request, 'status', 'activeInterceptors')).toEqual([NAME]);
  expect(textAt(reportOf(request, NAME), 'message')).toContain(
    'Waits: no NodeMaintenance in Drain',
  );
  expect(textAt(reportOf(request, NAME), 'completionTime')).toBeUndefined();
  expect(conditionsOf(request)).toEqual([]);
});

test('NM-45: the drain of a maintenance asks it for the pods that register it', async () => {
  const { cluster, pod, podPath, maintain } = await daemonSite();
  maintain('kernel', { gracePeriodSeconds: 20 });
  await cluster.until(() => isDeleted(cluster.get(podPath)), 'the pod is deleted');
  expect(valueAt(cluster.get(podPath), 'metadata', 'deletionGracePeriodSeconds')).toBe(20);
  const path = `/apis/lifecycle.tidegate.dev/v1alpha1/namespaces/default/evictionrequests/${
    textAt(pod, 'metadata', 'uid')
  }`;
  await cluster.time.advance(1500);
  expect(textAt(reportOf(cluster.get(path), NAME), 'message')).toContain('"kernel"');
});

test('gives up a pod that is of no DaemonSet, so that the next interceptor acts', async () => {
  const { cluster, podsOf } = await daemonSite();
  cluster.create(DEPLOYMENTS, surgeDeployment(1, {}, NAME));
  await cluster.until(() => podsOf('web').length === 1, 'its pod');
  const path = cluster.request(podsOf('web')[0]);
  await cluster.until(() => conditionsOf(cluster.get(path)).includes('Evicted'), 'it has left');
  expect(textAt(reportOf(cluster.get(path), NAME), 'message'))
    .toBe('Gave up: the pod belongs to no DaemonSet');
});
