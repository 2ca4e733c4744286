/** `tidegate pods` on a real API server: which pods are demand, and what their requests say. */
import { expect, it } from 'vitest';
import {
  asRecord,
  type JsonRecord,
  listOrEmptyAt,
  recordAt,
  textAt,
  valueAt,
} from '../../src/domain/json.ts';
import { type ClusterClient, COLLECTIONS, nameOf, uidOf } from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { DRAIN_COLLECTIONS, mirrorPod, priority } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import { ownerOf, PODS, startPodsRole, untilRequestsOf } from '../support/processes/pods-role.ts';
import { replaceFile } from '../support/processes/replaced-file.ts';
import { templateFile } from '../support/templates/template-file.ts';

const OWNED_BY = 'bigfleet.lucy.sh/owned-by-pod';
const INTERRUPTION = 'bigfleet.lucy.sh/interruption-penalty';
const RECLAMATION = 'bigfleet.lucy.sh/reclamation-penalty';

const cpuOf = (cpu: string): JsonRecord => ({ requests: { cpu } });

const podOf = (name: string, spec: JsonRecord = {}, metadata: JsonRecord = {}): JsonRecord => ({
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'main', image: 'image', resources: cpuOf('1') }], ...spec },
});

const cleared = async (bed: Testbed): Promise<ClusterClient> => {
  const cluster = await freshCluster(bed);
  await cluster.call('DELETE', PODS, { gracePeriodSeconds: 0 });
  await cluster.clear('/apis/events.k8s.io/v1/namespaces/default/events');
  return cluster;
};

/** The spec of the request of a pod; nothing while there is not exactly one. */
const asked = async (cluster: ClusterClient, pod: string): Promise<JsonRecord | undefined> => {
  const { body } = await cluster.call('GET', `${PODS}/${pod}`);
  const [request, ...others] = (await cluster.list(COLLECTIONS.requests))
    .filter((one) => ownerOf(one) === uidOf(body));
  return others.length > 0 ? undefined : recordAt(request, 'spec');
};

const untilAsked = async (
  cluster: ClusterClient,
  pod: string,
  spec: JsonRecord,
): Promise<void> => {
  await eventually(async () => {
    const now = await asked(cluster, pod);
    expect(now).toMatchObject(spec);
    return true;
  }, { what: `what "${pod}" asks for` });
};

const notesAbout = async (cluster: ClusterClient, name: string): Promise<readonly string[]> =>
  (await cluster.list(COLLECTIONS.events))
    .filter((event) => textAt(event, 'regarding', 'name') === name)
    .map((event) => `${textAt(event, 'type')} ${textAt(event, 'reason')} ${textAt(event, 'note')}`);

describeWithTestbed('pods', {}, (bed) => {
  it('a request follows its pod: a resize in place, an annotation, its end', async () => {
    const cluster = await cleared(bed());
    await startPodsRole({ bed: bed() });
    await cluster.create(PODS, [podOf('web')]);
    await untilAsked(cluster, 'web', {
      resources: { cpu: '1' },
      requirements: [{ key: 'node.kubernetes.io/instance-type', operator: 'Exists' }],
    });

    const { body } = await cluster.call('GET', `${PODS}/web`);
    const containers = listOrEmptyAt(body, 'spec', 'containers')
      .map((container) => ({ ...asRecord(container), resources: cpuOf('2500m') }));
    await cluster.patch(`${PODS}/web/resize`, { spec: { containers } });
    await untilAsked(cluster, 'web', { resources: { cpu: '2500m' } });
    await cluster.patch(`${PODS}/web`, { metadata: { annotations: { [INTERRUPTION]: '3' } } });
    await untilAsked(cluster, 'web', { interruptionPenalty: '3' });
    await cluster.patch(`${PODS}/web/status`, { status: { phase: 'Failed' } });
    await untilRequestsOf(cluster, []);
  });

  it('requests of another controller are adopted, and extras deleted', async () => {
    const cluster = await cleared(bed());
    await cluster.create(PODS, [podOf('web')]);
    const { body: pod } = await cluster.call('GET', `${PODS}/web`);
    const old = (name: string): JsonRecord => ({
      apiVersion: 'bigfleet.lucy.sh/v1alpha1',
      kind: 'CapacityRequest',
      metadata: {
        name,
        labels: { [OWNED_BY]: uidOf(pod) },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: uidOf(pod) }],
      },
      spec: { resources: { cpu: '7' }, priority: 3 },
    });
    await cluster.create(COLLECTIONS.requests, [old('cr-pod-web-x7k2p'), old('cr-pod-web-9dq4z')]);
    const before = (await cluster.list(COLLECTIONS.requests)).map(uidOf);
    await startPodsRole({ bed: bed() });
    const kept = await eventually(async () => {
      const [request, ...others] = await cluster.list(COLLECTIONS.requests);
      return others.length === 0 && ownerOf(request ?? {}) === uidOf(pod) && request;
    }, { what: 'one of them to be adopted and the other to go' });
    expect(before).toContain(uidOf(kept));
    expect(valueAt(kept, 'spec')).toMatchObject({ resources: { cpu: '1' }, priority: 0 });
    await eventually(async () => {
      const [request] = await cluster.list(COLLECTIONS.requests);
      return valueAt(request, 'status', 'phase') === 'Pending';
    }, { what: 'its first phase' });
  });

  it(
    'penalties by PriorityClass are read again when their file changes, and a bad file keeps the \
last good one',
    async () => {
      const cluster = await cleared(bed());
      await cluster.create(DRAIN_COLLECTIONS.priorities, [priority('gold', 7000)]);
      const file = await templateFile('gold: {interruptionPenalty: "16", reclamationPenalty: "2"}');
      const role = await startPodsRole({
        bed: bed(),
        flags: { 'priority-class-defaults-file': file },
      });
      await cluster.create(PODS, [
        podOf('plain'),
        podOf('classy', { priorityClassName: 'gold' }),
        podOf('own', { priorityClassName: 'gold' }, { annotations: { [RECLAMATION]: '500m' } }),
      ]);
      await untilAsked(cluster, 'classy', {
        priority: 7000,
        interruptionPenalty: '16',
        reclamationPenalty: '2',
      });
      await untilAsked(cluster, 'own', { interruptionPenalty: '16', reclamationPenalty: '500m' });
      await untilAsked(cluster, 'plain', { priority: 0 });
      expect(Object.keys(await asked(cluster, 'plain') ?? {}).sort())
        .toEqual(['priority', 'requirements', 'resources']);

      await replaceFile(file, 'gold: {interruptionPenalty: "32"}');
      await untilAsked(cluster, 'own', { interruptionPenalty: '32', reclamationPenalty: '500m' });
      await eventually(async () => {
        const spec = await asked(cluster, 'classy');
        return spec?.['interruptionPenalty'] === '32' && !('reclamationPenalty' in spec);
      }, { what: 'a removed default to disappear from the request' });
      await replaceFile(file, 'gold: {interruptionPenalty: "many"}');
      const notes = await eventually(async () => {
        const logged = await notesAbout(cluster, 'tidegate-pods');
        return logged.some((note) => note.includes('PenaltyDefaultsRefused')) && logged;
      }, { what: 'the Event about the bad file' });
      expect(notes.filter((note) => note.includes('PenaltyDefaultsRefused'))).toHaveLength(1);
      expect(await role.metric('tidegate_penalty_defaults_refused_total')).toBe(1);
      await untilAsked(cluster, 'classy', { interruptionPenalty: '32' });
    },
  );

  it(
    'pods of DaemonSets, mirror pods and finished pods are no demand, and a pod that asks for what \
a request cannot say gets one Warning',
    async () => {
      const cluster = await cleared(bed());
      await cluster.create(COLLECTIONS.nodes, [{ metadata: { name: 'node' } }]);
      const daemonSet = {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        name: 'agent',
        uid: '5b1d5f0e-0000-4000-8000-000000000000',
        controller: true,
      };
      const choosy = {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{
              matchExpressions: [
                { key: 'example.com/cores', operator: 'Gt', values: ['8'] },
                { key: 'zone', operator: 'NotIn', values: ['b', 'a'] },
              ],
            }],
          },
        },
      };
      await cluster.create(PODS, [
        podOf('agent', {}, { ownerReferences: [daemonSet] }),
        mirrorPod('static', 'node'),
        podOf('done'),
        podOf('choosy', { affinity: choosy }, { annotations: { [INTERRUPTION]: 'much' } }),
      ]);
      await cluster.patch(`${PODS}/done/status`, { status: { phase: 'Succeeded' } });
      await startPodsRole({ bed: bed() });
      const { body } = await cluster.call('GET', `${PODS}/choosy`);
      const [request] = await untilRequestsOf(cluster, [body]);
      expect(valueAt(request, 'spec', 'requirements')).toEqual([
        { key: 'zone', operator: 'NotIn', values: ['a', 'b'] },
      ]);
      expect(valueAt(request, 'spec', 'interruptionPenalty')).toBeUndefined();
      const notes = await eventually(async () => {
        const logged = (await notesAbout(cluster, 'choosy')).toSorted();
        return logged.length >= 2 && logged;
      }, { what: 'the Warnings' });
      expect(notes).toEqual([
        expect.stringMatching(/^Warning DemandLeftOut .*matchExpressions\[0\]/),
        expect.stringMatching(/^Warning PenaltyUnreadable .*much/),
      ]);
      // As its controller would, were it there.
      await cluster.call('DELETE', `${COLLECTIONS.nodes}/node`);
    },
  );

  it('namespaces and pods that selectors exclude have no requests', async () => {
    const cluster = await cleared(bed());
    const spaces = '/api/v1/namespaces';
    await cluster.create(spaces, [
      { metadata: { name: 'team', labels: { demand: 'yes' } } },
      { metadata: { name: 'sandbox' } },
    ]);
    const podsIn = (space: string): string => `${spaces}/${space}/pods`;
    const requestsIn = (space: string): string =>
      COLLECTIONS.requests.replace('/default/', `/${space}/`);
    await cluster.create(podsIn('team'), [
      podOf('counted'),
      podOf('trial', {}, { labels: { tier: 'test' } }),
    ]);
    await cluster.create(podsIn('sandbox'), [podOf('played')]);
    await startPodsRole({
      bed: bed(),
      flags: { 'namespace-selector': 'demand=yes', 'pod-selector': 'tier!=test' },
    });
    const namesIn = async (space: string): Promise<readonly string[]> =>
      (await cluster.list(requestsIn(space))).map((one) => nameOf(one).slice(0, -37));
    await eventually(async () => (await namesIn('team')).join() === 'cr-pod-counted', {
      what: 'the request of the one that counts',
    });
    expect(await namesIn('sandbox')).toEqual([]);
    await cluster.patch(`${spaces}/sandbox`, { metadata: { labels: { demand: 'yes' } } });
    await eventually(async () => (await namesIn('sandbox')).join() === 'cr-pod-played', {
      what: 'its pods to count once the namespace does',
    });
    expect(await namesIn('team')).toEqual(['cr-pod-counted']);
  });
});
