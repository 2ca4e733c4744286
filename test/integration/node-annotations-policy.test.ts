/**
 * Who may change the annotations that drains obey, on a real API server with the policy of the
 * chart.
 */
import { readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { type JsonRecord, textAt } from '../../src/domain/json.ts';
import { clusterClient, COLLECTIONS } from '../support/api/cluster-client.ts';
import { connectCluster } from '../support/api/cluster-connection.ts';
import { impersonatedClient } from '../support/api/impersonated-client.ts';
import { documentedAccounts } from '../support/api/service-account.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';

const POLICIES = '../../charts/tidegate/files/policies/';
const POLICY = new URL(`${POLICIES}nodes-drain-annotations.yaml`, import.meta.url);
const KUBELET = 'kubelet-of-worker';
const ON_CALL = 'on-call';
/** May drain this node only. */
const OWNER = 'owner-of-worker';
const OPERATORS = ['tidegate-operator', 'tidegate-maintenance', 'tidegate-availability']
  .map((name) => `system:serviceaccount:tidegate:${name}`);
const CORDON = 'cordon.tidegate.dev/reclaim';
const OBEYED = [
  CORDON,
  'cordon.tidegate.dev/maintenance-0',
  'availability.tidegate.dev/confirmed-gone',
  'tidegate.dev/acknowledged-pods',
  'tidegate.dev/pause',
];
const GROUP = 'rbac.authorization.k8s.io';

const bindingOf = (user: string, role: string) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name: `${user}-${role}` },
  roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: role },
  subjects: [{ apiGroup: GROUP, kind: 'User', name: user }],
});

const roleOf = (user: string, rules: readonly object[]): readonly object[] => [
  { apiVersion: `${GROUP}/v1`, kind: 'ClusterRole', metadata: { name: user }, rules },
  bindingOf(user, user),
];

const onNodes = (verbs: readonly string[], resourceNames?: readonly string[]) => ({
  apiGroups: [''],
  resources: ['nodes', 'nodes/status'],
  verbs,
  ...(resourceNames === undefined ? {} : { resourceNames }),
});

/** Installs the policy, which the API server enforces some seconds later, and makes two Nodes. */
const enforce = async (bed: Testbed): Promise<void> => {
  const objects = [
    ...roleOf(KUBELET, [onNodes(['get', 'create', 'patch'])]),
    ...roleOf(OWNER, [onNodes(['get', 'patch']), onNodes(['drain'], ['worker'])]),
    bindingOf(ON_CALL, 'tidegate-viewer'),
    bindingOf(ON_CALL, 'tidegate-drainer'),
  ];
  const texts = [await documentedAccounts(), ...objects.map((one) => JSON.stringify(one))];
  await bed.apply([...texts, await readFile(POLICY, 'utf8')].join('\n---\n'));
  const { client, close } = await connectCluster(bed);
  try {
    for (const name of ['worker', 'other']) {
      await client.call('POST', COLLECTIONS.nodes, { metadata: { name } });
    }
  } finally {
    await close();
  }
};

describeWithTestbed(
  'the annotations of drains on a real API server',
  {},
  (bed) => {
    beforeAll(async () => {
      await enforce(bed());
    });

    const users = async () => {
      const cluster = await clusterClient(bed());
      const ask = await impersonatedClient(bed());
      const patch = async (
        user: string,
        body: JsonRecord,
        { node = 'worker', subresource = '' } = {},
      ): Promise<string> => {
        const path = `${COLLECTIONS.nodes}/${node}${subresource}`;
        const answer = await ask(user, { method: 'PATCH', path, body });
        return answer.status < 300 ? '' : textAt(answer.body, 'message') ?? `${answer.status}`;
      };
      /** The refusal; empty when it was accepted. */
      const annotate = (
        user: string,
        [key, value]: readonly [string, string | null],
        where: { readonly node?: string; readonly subresource?: string } = {},
      ) => patch(user, { metadata: { annotations: { [key]: value } } }, where);
      const trial = { subresource: '?dryRun=All' };
      await eventually(
        async () =>
          (await annotate(KUBELET, [CORDON, 'trial'], trial)).includes('nodes-drain-annotations'),
        { what: 'the policy to be enforced', timeoutMs: 60_000, everyMs: 250 },
      );
      return { cluster, ask, patch, annotate };
    };

    it('a kubelet sets none of them, neither on its Node nor by its status', async () => {
      const { annotate } = await users();
      for (const key of OBEYED) {
        for (const subresource of ['', '/status']) {
          expect(await annotate(KUBELET, [key, 'true'], { subresource })).toContain(
            `changing the annotation ${key} of a Node needs the verb drain on nodes`,
          );
        }
      }
    });

    it('a kubelet changes and removes none of them', async () => {
      const { annotate, cluster } = await users();
      expect(await annotate(ON_CALL, [CORDON, 'one'])).toBe('');
      expect(await annotate(KUBELET, [CORDON, 'two'])).toContain(`annotation ${CORDON}`);
      expect(await annotate(KUBELET, [CORDON, null])).toContain(`annotation ${CORDON}`);
      const node = (await cluster.call('GET', `${COLLECTIONS.nodes}/worker`)).body;
      expect(textAt(node, 'metadata', 'annotations', CORDON)).toBe('one');
    });

    it('a kubelet changes everything else, also on a Node that is drained', async () => {
      const { annotate, patch } = await users();
      expect(await annotate(ON_CALL, [CORDON, 'one'])).toBe('');
      for (const key of ['volumes.kubernetes.io/attached', 'maintenance.tidegate.dev/done']) {
        expect(await annotate(KUBELET, [key, 'true'])).toBe('');
        expect(await annotate(KUBELET, [key, null])).toBe('');
      }
      expect(await patch(KUBELET, { metadata: { labels: { zone: 'a' } } })).toBe('');
      const conditions = [{ type: 'Ready', status: 'True' }];
      const status = { subresource: '/status' };
      expect(await patch(KUBELET, { status: { conditions } }, status)).toBe('');
    });

    it('a kubelet registers no Node that has one', async () => {
      const { ask } = await users();
      const create = (name: string, annotations: JsonRecord) =>
        ask(KUBELET, {
          method: 'POST',
          path: COLLECTIONS.nodes,
          body: { apiVersion: 'v1', kind: 'Node', metadata: { name, annotations } },
        });
      expect((await create('forged', { [CORDON]: '{}' })).status).toBe(403);
      expect((await create('plain', { other: 'x' })).status).toBe(201);
    });

    it('who drains, and the accounts of the operator, change them', async () => {
      const { annotate } = await users();
      for (const user of [ON_CALL, ...OPERATORS]) {
        for (const key of OBEYED) {
          expect(await annotate(user, [key, user])).toBe('');
          expect(await annotate(user, [key, null])).toBe('');
        }
      }
    });

    it('the verb may be on one Node only', async () => {
      const { annotate } = await users();
      expect(await annotate(OWNER, [CORDON, 'mine'])).toBe('');
      expect(await annotate(OWNER, [CORDON, 'mine'], { node: 'other' })).toContain(
        'needs the verb',
      );
    });

    it('who patches Nodes without the verb cordons and uncordons as before', async () => {
      const { annotate, patch } = await users();
      expect(await annotate(ON_CALL, [CORDON, 'one'])).toBe('');
      for (const unschedulable of [true, null]) {
        expect(await patch(KUBELET, { spec: { unschedulable } })).toBe('');
      }
    });

    // Looking at each of 10,000 took the API server four seconds, and more than a minute at 40,000.
    it('a Node with more than a thousand annotations is changed by who drains', async () => {
      const { annotate, cluster } = await users();
      const many = Object.fromEntries([...Array(1001).keys()].map((one) => [`key-${one}`, '']));
      const metadata = { name: 'crowded', annotations: many };
      await cluster.create(COLLECTIONS.nodes, [{ metadata }]);
      const at = { node: 'crowded' };
      const [operator = ''] = OPERATORS;
      expect(await annotate(KUBELET, ['other', 'x'], at)).toContain('more than 1000 of them');
      expect(await annotate(KUBELET, ['key-0', null], at)).toContain('more than 1000 of them');
      expect(await annotate(operator, [CORDON, 'one'], at)).toBe('');
      expect(await annotate(operator, ['key-0', null], at)).toBe('');
    });
  },
);
