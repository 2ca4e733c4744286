/** Pods of DaemonSets under a maintenance, beside the DaemonSet controller of Kubernetes. */
import { readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { isConditionTrue } from '../../src/domain/condition.ts';
import { type JsonRecord, listOrEmptyAt, textAt, valueAt } from '../../src/domain/json.ts';
import { INTERCEPTORS_ANNOTATION } from '../../src/domain/eviction-requests/interceptor-list.ts';
import { annotationsOf } from '../../src/domain/object-meta.ts';
import { type ClusterClient, nameOf, uidOf } from '../support/api/cluster-client.ts';
import { connectCluster } from '../support/api/cluster-connection.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { spareNodes } from '../support/drains/reclaims.ts';
import { daemonSet, DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import {
  maintenanceOf,
  MAINTENANCES,
  ofNode,
  OWN_NODE,
} from '../support/node-maintenance/maintenance-policies.ts';
import { serveMaintenances } from '../support/node-maintenance/served-maintenances.ts';

const BED = { controllers: true, scheduler: true, kwok: true, podDeleteMs: 0, own: true };
const POLICY = new URL(
  '../../charts/tidegate/files/policies/nodemaintenances-daemonsets.yaml',
  import.meta.url,
);
const { daemonSets, pods } = DRAIN_COLLECTIONS;
const OF_DAEMON_SET = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  name: 'probe',
  uid: 'probe',
  controller: true,
};
const INTERCEPTOR = 'daemonset.tidegate.dev';
const REQUESTS = '/apis/lifecycle.tidegate.dev/v1alpha1/namespaces/default/evictionrequests';
const HIGH = { metadata: { name: 'agents-high' }, value: 9000 };
/** The controller tries again after 5 ms and doubles that: two and a half seconds in all. */
const TRIES = 9;

const must = async (
  cluster: ClusterClient,
  ...[method, path, body]: Parameters<ClusterClient['call']>
): Promise<JsonRecord> => {
  const answer = await cluster.call(method, path, body);
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

const isTrue = (object: unknown, type: string): boolean => isConditionTrue(object, type);

/** Installs the policy, and returns when the API server enforces it, some seconds later. */
const enforce = async (bed: Testbed, policy: string): Promise<void> => {
  await bed.apply(policy);
  const { client, close } = await connectCluster(bed);
  const path = `${MAINTENANCES}/probe`;
  try {
    await must(client, 'POST', MAINTENANCES, maintenanceOf('probe', { stage: 'Drain' }));
    await must(client, 'PATCH', `${path}/status`, {
      status: {
        nodeStatuses: [{
          nodeRef: { name: OWN_NODE },
          state: 'Admitted',
          drainTargets: [{ podType: 'DaemonSet', podPriority: 0 }],
        }],
      },
    });
    const pod = {
      metadata: { name: 'probe', ownerReferences: [OF_DAEMON_SET] },
      spec: { nodeName: OWN_NODE, containers: [{ name: 'c', image: 'none' }] },
    };
    await eventually(
      async () => (await client.call('POST', `${pods}?dryRun=All`, pod)).status === 403,
      { what: 'the policy to be enforced', timeoutMs: 60_000, everyMs: 250 },
    );
    await must(client, 'DELETE', path);
  } finally {
    await close();
  }
};

describeWithTestbed('pods of DaemonSets under a maintenance', BED, (bed) => {
  beforeAll(async () => {
    await bed().installCrds();
    await enforce(bed(), await readFile(POLICY, 'utf8'));
  });

  /** A node, and the role. */
  const site = async (prefix: string, withInterceptors = false) => {
    // Before the nodes: nothing ends pods without them for long.
    const connection = await connectCluster(bed());
    await connection.client.clear(daemonSets);
    await connection.client.call('DELETE', pods, { gracePeriodSeconds: 0 });
    await connection.close();
    const cluster = await freshCluster(bed());
    const [node = ''] = await spareNodes(cluster, { count: 1, prefix });
    await serveMaintenances(bed().kubeconfig, { withInterceptors });
    const until = (name: string, type: string) =>
      eventually(async () => {
        const { body } = await cluster.call('GET', `${MAINTENANCES}/${name}`);
        if (isTrue(body, type)) return true;
        throw new Error(JSON.stringify(body['status']));
      }, { what: `${name} to be ${type}`, everyMs: 100, timeoutMs: 60_000 });
    const untilPods = (what: string, names: readonly string[], timeoutMs = 60_000) =>
      eventually(async () => {
        const found = (await cluster.list(pods))
          .filter((pod) => textAt(pod, 'spec', 'nodeName') === node)
          .map((pod) => textAt(pod, 'metadata', 'labels', 'app') ?? '').toSorted();
        if (found.join() === names.join()) return true;
        throw new Error(`${what}: ${found.join()}`);
      }, { what, everyMs: 100, timeoutMs });
    /** How many pods the DaemonSet controller was refused and given, by the policy. */
    const tries = async () => {
      // No other test of this bed is refused pods.
      const creations = (await bed().audit()).filter(({ verb, resource, subresource }) =>
        verb === 'create' && resource === 'pods' && subresource === ''
      );
      const refused = creations.filter(({ code }) => code === 403).length;
      return { refused, created: creations.filter(({ code }) => code === 201).length };
    };
    const maintain = (name: string, spec: JsonRecord) =>
      must(
        cluster,
        'POST',
        MAINTENANCES,
        maintenanceOf(name, {
          nodeSelector: { nodeSelectorTerms: [ofNode(node)] },
          stage: 'Drain',
          ...spec,
        }),
      );
    return { cluster, node, until, untilPods, tries, maintain };
  };

  it('NM-46: they leave, are not created during the drain, and return when it is complete', {
    timeout: 300_000,
  }, async () => {
    const { cluster, node, until, untilPods, tries, maintain } = await site('left-');
    await must(cluster, 'POST', daemonSets, daemonSet('agent', node));
    await untilPods('the pod of the DaemonSet', ['agent']);
    await maintain('kernel', {});
    await until('kernel', 'Drained');
    await untilPods('its pod to leave', []);
    const before = await tries();
    const after = await eventually(async () => {
      const now = await tries();
      return now.refused >= TRIES && now;
    }, { what: `${TRIES} refusals`, everyMs: 100, timeoutMs: 60_000 });
    expect(after.created, 'created during the drain').toBe(before.created);
    await must(cluster, 'PATCH', `${MAINTENANCES}/kernel`, { spec: { stage: 'Complete' } });
    await untilPods('its pod to return', ['agent'], 120_000);
    await must(cluster, 'DELETE', `${MAINTENANCES}/kernel`);
  });

  it('NM-46: those that the drain has not reached are created again', {
    timeout: 300_000,
  }, async () => {
    const { cluster, node, until, untilPods, maintain } = await site('high-');
    await must(cluster, 'POST', '/apis/scheduling.k8s.io/v1/priorityclasses', HIGH);
    await must(cluster, 'POST', daemonSets, daemonSet('low', node));
    const template = { spec: { priorityClassName: 'agents-high' } };
    const high = daemonSet('top', node);
    await must(cluster, 'POST', daemonSets, high);
    await must(cluster, 'PATCH', `${daemonSets}/top`, { spec: { template } });
    await untilPods('both pods', ['low', 'top']);
    await eventually(
      async () =>
        (await cluster.list(pods)).some((pod) => valueAt(pod, 'spec', 'priority') === HIGH.value),
      { what: 'the pod with the higher priority', everyMs: 100 },
    );
    await untilPods('no other pod', ['low', 'top']);
    // A pod of the first DaemonSet that does not go away holds the plan at its first entry.
    const [stuck] = (await cluster.list(pods)).map(nameOf).filter((one) => !one.startsWith('top'));
    await must(cluster, 'PATCH', `${pods}/${stuck}`, {
      metadata: { finalizers: ['example.com/stuck'] },
    });
    await maintain('reached', {
      drainPlan: [{ podType: 'DaemonSet', podPriority: 5000 }],
      podTypes: ['DaemonSet'],
    });
    await eventually(async () => {
      const [first] = (await cluster.list(pods)).filter((pod) => nameOf(pod) === stuck);
      return textAt(first, 'metadata', 'deletionTimestamp') !== undefined;
    }, { what: 'the first pod to be evicted', everyMs: 100, timeoutMs: 60_000 });
    const [other] = (await cluster.list(pods)).map(nameOf).filter((one) => one !== stuck);
    await must(cluster, 'DELETE', `${pods}/${other}`);
    await eventually(async () => {
      const left = (await cluster.list(pods)).map(nameOf);
      return left.length === 2 && !left.includes(other ?? '');
    }, { what: 'the pod of the higher priority to return', everyMs: 100, timeoutMs: 60_000 });
    await must(cluster, 'PATCH', `${pods}/${stuck}`, { metadata: { finalizers: null } });
    await until('reached', 'Drained');
    await untilPods('both to leave', []);
    await must(cluster, 'DELETE', `${MAINTENANCES}/reached`);
  });

  it('NM-45: one that registers the interceptor is deleted by it, and not evicted', {
    timeout: 300_000,
  }, async () => {
    const { cluster, node, until, untilPods, maintain } = await site('asked-', true);
    await must(cluster, 'POST', daemonSets, daemonSet('asked', node));
    await must(cluster, 'PATCH', `${daemonSets}/asked`, {
      spec: { template: { metadata: { annotations: { [INTERCEPTORS_ANNOTATION]: INTERCEPTOR } } } },
    });
    const isRegistered = (pod: unknown): boolean =>
      annotationsOf(pod)[INTERCEPTORS_ANNOTATION] === INTERCEPTOR;
    const pod = await eventually(
      async () => (await cluster.list(pods)).find(isRegistered) ?? false,
      { what: 'a pod that registers it', everyMs: 100, timeoutMs: 60_000 },
    );
    await untilPods('the pod of the DaemonSet', ['asked']);
    // It stops until the finalizer is gone: the drain deletes requests that have ended.
    const stopping = { metadata: { finalizers: ['example.com/stopping'] } };
    await must(cluster, 'PATCH', `${pods}/${nameOf(pod)}`, stopping);
    await maintain('asking', { reason: 'New kernel' });
    const entry = await eventually(async () => {
      const { body } = await cluster.call('GET', `${REQUESTS}/${uidOf(pod)}`);
      const [first] = listOrEmptyAt(body, 'status', 'interceptors');
      return (textAt(first, 'message') ?? '').includes('"asking" (New kernel)') && first;
    }, { what: 'the interceptor to report', everyMs: 100, timeoutMs: 60_000 });
    expect(textAt(entry, 'name')).toBe(INTERCEPTOR);
    expect(textAt(entry, 'heartbeatTime')).toBeDefined();
    expect(textAt(entry, 'completionTime')).toBeUndefined();
    await must(cluster, 'PATCH', `${pods}/${nameOf(pod)}`, { metadata: { finalizers: null } });
    await until('asking', 'Drained');
    await untilPods('its pod to leave', []);
    const writes = (await bed().audit()).filter(({ resource, name, code, subresource }) =>
      resource === 'pods' && name === nameOf(pod) && code < 300 && subresource !== 'status'
    );
    expect(writes.map(({ verb, subresource }) => `${verb} ${subresource}`))
      .toContain('delete ');
    expect(writes.filter(({ subresource }) => subresource === 'eviction')).toEqual([]);
    await must(cluster, 'DELETE', `${MAINTENANCES}/asking`);
  });

  it.each([
    ['types', { podTypes: ['Default'] }],
    ['labels', { podSelector: { matchLabels: { app: 'other' } } }],
  ])('NM-46: a maintenance of other %s does not keep them from coming', {
    timeout: 300_000,
  }, async (prefix, spec) => {
    const { cluster, node, until, untilPods, maintain } = await site(`kept-${prefix}-`);
    const name = `other-${prefix}`;
    await maintain(name, spec);
    await until(name, 'Drained');
    await must(cluster, 'POST', daemonSets, daemonSet('keeper', node));
    await untilPods('the pod of the DaemonSet', ['keeper']);
    await must(cluster, 'DELETE', `${MAINTENANCES}/${name}`);
  });
});
