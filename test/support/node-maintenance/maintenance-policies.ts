/** The policies of NodeMaintenances on a real API server, and users with different rights. */
import { readFile } from 'node:fs/promises';
import { type JsonRecord, textAt } from '../../../src/domain/json.ts';
import { connectCluster } from '../api/cluster-connection.ts';
import { type AskAs, impersonatedClient } from '../api/impersonated-client.ts';
import type { Testbed } from '../api/testbed.ts';
import { eventually } from '../eventually.ts';

const GROUP = 'lifecycle.tidegate.dev';

/** Where NodeMaintenances are served. */
export const MAINTENANCES = `/apis/${GROUP}/v1alpha1/nodemaintenances`;

/** Users: our controller, one who may delete all nodes, one who may delete one, one without. */
export const USERS = {
  controller: 'maintenance-controller',
  admin: 'node-admin',
  owner: 'node-owner',
  tenant: 'node-tenant',
} as const;

/** The only node that the owner may delete. */
export const OWN_NODE = 'own-node';

const rule = (apiGroup: string, resource: string, verb: string) => ({
  apiGroups: [apiGroup],
  resources: [resource],
  verbs: [verb],
});

/** Everybody may write the objects: only the policies tell them apart. */
const WRITES = ['nodemaintenances', 'nodemaintenances/status']
  .map((resource) => rule(GROUP, resource, '*'));

const RIGHTS: Readonly<Record<string, readonly object[]>> = {
  [USERS.controller]: [
    ...WRITES,
    { ...rule(GROUP, 'controllers', 'act'), resourceNames: ['nodemaintenance'] },
  ],
  [USERS.admin]: [...WRITES, rule('', 'nodes', 'delete')],
  [USERS.owner]: [...WRITES, { ...rule('', 'nodes', 'delete'), resourceNames: [OWN_NODE] }],
  [USERS.tenant]: [...WRITES, rule('', 'nodes', 'patch')],
};

const rolesOf = ([name, rules]: [string, readonly object[]]): readonly object[] => {
  const role = `test-${name}`;
  const rbac = 'rbac.authorization.k8s.io';
  return [
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: role }, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: role },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: rbac, kind: 'User', name }],
    },
  ];
};

const FILES = new URL('../../../charts/tidegate/files/policies/', import.meta.url);

const policyTexts = (): Promise<readonly string[]> =>
  Promise.all(
    ['spec', 'status', 'warning'].map((part) =>
      readFile(new URL(`nodemaintenances-${part}.yaml`, FILES), 'utf8')
    ),
  );

/** The term of one node. */
export const ofNode = (name: string): JsonRecord => ({
  matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }],
});

/** A NodeMaintenance. */
export const maintenanceOf = (name: string, spec: JsonRecord = {}): JsonRecord => ({
  apiVersion: `${GROUP}/v1alpha1`,
  kind: 'NodeMaintenance',
  metadata: { name },
  spec: { nodeSelector: { nodeSelectorTerms: [ofNode(OWN_NODE)] }, ...spec },
});

const DUPLICATE = { drainPlan: [{ podPriority: 1 }, { podPriority: 1 }] };
const PROBE = 'policy-probe';

/**
 * Installs the policies and the users, and returns when the API server enforces each policy: it
 * begins some seconds after they were created, and not with all at once.
 */
export const enforceMaintenancePolicies = async (bed: Testbed): Promise<void> => {
  const roles = Object.entries(RIGHTS).flatMap(rolesOf).map((role) => JSON.stringify(role));
  await bed.apply([...roles, ...await policyTexts()].join('\n---\n'));
  const { client, close } = await connectCluster(bed);
  const untilRefused = (what: string, ask: () => ReturnType<typeof client.call>) =>
    eventually(async () => {
      const { status, body } = await ask();
      return status >= 400 && (textAt(body, 'message') ?? '').includes('nodemaintenances-');
    }, { what: `${what} to be enforced`, timeoutMs: 60_000, everyMs: 250 });
  try {
    await untilRefused(
      'the policy of specs',
      () => client.call('POST', `${MAINTENANCES}?dryRun=All`, maintenanceOf(PROBE, DUPLICATE)),
    );
    await client.call('POST', MAINTENANCES, maintenanceOf(PROBE));
    const path = `${MAINTENANCES}/${PROBE}/status`;
    await client.call('PATCH', path, { status: { observedGeneration: 2 } });
    const older = { status: { observedGeneration: 1 } };
    await untilRefused(
      'the policy of statuses',
      () => client.call('PATCH', `${path}?dryRun=All`, older),
    );
    await client.call('DELETE', `${MAINTENANCES}/${PROBE}`);
  } finally {
    await close();
  }
};

/** One maintenance and what users do with it; each answer is the refusal, empty when accepted. */
export interface PolicyScene {
  readonly create: (user: string, spec?: JsonRecord) => Promise<string>;
  readonly change: (user: string, patch: JsonRecord) => Promise<string>;
  readonly setStatus: (user: string, status: JsonRecord) => Promise<string>;
  readonly remove: (user: string) => Promise<string>;
}

let scenes = 0;

/** A maintenance that does not exist yet. Must be called inside a test. */
export const policyScene = async (bed: Testbed): Promise<PolicyScene> => {
  const ask = await impersonatedClient(bed);
  const name = `guarded-${scenes += 1}`;
  const path = `${MAINTENANCES}/${name}`;
  const refusal = async (...[user, call]: Parameters<AskAs>): Promise<string> => {
    const { status, body } = await ask(user, call);
    return status < 300 ? '' : textAt(body, 'message') ?? `${status}`;
  };
  return {
    create: (user, spec) =>
      refusal(user, { method: 'POST', path: MAINTENANCES, body: maintenanceOf(name, spec) }),
    change: (user, body) => refusal(user, { method: 'PATCH', path, body }),
    setStatus: (user, status) =>
      refusal(user, { method: 'PATCH', path: `${path}/status`, body: { status } }),
    remove: (user) => refusal(user, { method: 'DELETE', path }),
  };
};
