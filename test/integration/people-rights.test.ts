/**
 * The ClusterRoles for people: every command that they are for runs with them, under the policies
 * of the chart, on a real API server, and no request of it is refused for lack of a right.
 */
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { clusterClient, COLLECTIONS } from '../support/api/cluster-client.ts';
import { documentedAccounts } from '../support/api/service-account.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';
import { tidegateCommand } from '../support/processes/program.ts';

const TIDEGATE = tidegateCommand();
const POLICIES = new URL('../../charts/tidegate/files/policies/', import.meta.url);
const GROUP = 'rbac.authorization.k8s.io';
/** The user of the bed who has no rights unless they are bound. */
const PERSON = 'viewer';
const PAUSE = 'tidegate.dev/pause';

const READING: readonly (readonly string[])[] = [
  ['drain', 'status'],
  ['drain', 'plan', 'worker'],
  ['node', 'status'],
  ['node', 'status', 'worker'],
  ['explain', 'node', 'worker'],
  ['explain', 'pod', 'default/db'],
  ['tree', 'worker'],
  ['evictions', '-A'],
  ['maintenance', 'list'],
];

/** In their order: the later ones need what the earlier ones did. */
const DRAINING: readonly (readonly string[])[] = [
  ['drain', 'plan', 'worker', '--dry-run=server'],
  ['drain', 'worker', '--force', '--dry-run=server'],
  ['node', 'disable', 'worker', '--why=fan'],
  ['drain', 'acknowledge', 'worker', '--why=copied'],
  ['node', 'enable', 'worker'],
  ['node', 'confirm-gone', 'worker', '--accept-local-loss'],
];

const bindingOf = (role: string): string =>
  JSON.stringify({
    apiVersion: `${GROUP}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: `people-${role}` },
    roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: GROUP, kind: 'User', name: PERSON }],
  });

/** A pod with data on its node only. */
const POD = {
  metadata: { name: 'db' },
  spec: {
    nodeName: 'worker',
    volumes: [{ name: 'disk', hostPath: { path: '/d' } }],
    containers: [{ name: 'c', image: 'example.com/c' }],
  },
};

const run = (args: readonly string[]) => {
  const child = spawn(TIDEGATE.file, [...TIDEGATE.args, ...args]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => (output += chunk));
  }
  return new Promise<{ readonly code: number | null; readonly output: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, output }))
  );
};

describeWithTestbed('the rights of people', {}, (bed) => {
  const asPerson = (args: readonly string[]) =>
    run([...args, `--kubeconfig=${bed().kubeconfigFor(PERSON)}`]);

  const refusedForLackOfRight = async (): Promise<readonly string[]> =>
    (await bed().audit()).filter(({ user, isUnauthorized }) => user === PERSON && isUnauthorized)
      .map(({ verb, uri }) => `${verb} ${uri}`);

  beforeAll(async () => {
    const names = await readdir(POLICIES);
    const texts = await Promise.all(names.map((name) => readFile(new URL(name, POLICIES), 'utf8')));
    await bed().installCrds();
    await bed().apply([await documentedAccounts(), ...texts].join('\n---\n'));
    await bed().kubectl('create', 'serviceaccount', 'default').catch(() => '');
  });

  const site = async (...roles: readonly string[]) => {
    const cluster = await clusterClient(bed());
    await cluster.call('POST', COLLECTIONS.nodes, { metadata: { name: 'worker' } });
    await cluster.call('POST', '/api/v1/namespaces/default/pods', POD);
    await bed().apply(roles.map(bindingOf).join('\n---\n'));
    await eventually(async () => (await asPerson(['node', 'status'])).code === 0, {
      what: 'the person to be authorized',
    });
    return (await refusedForLackOfRight()).length;
  };

  it('tidegate-viewer reads everything, and drains nothing', { timeout: 300_000 }, async () => {
    const before = await site('tidegate-viewer');
    for (const args of READING) {
      const { code, output } = await asPerson(args);
      expect([args, code, output]).toEqual([args, 0, expect.any(String)]);
    }
    expect((await refusedForLackOfRight()).slice(before)).toEqual([]);
    const { code, output } = await asPerson(['node', 'disable', 'worker', '--why=fan']);
    expect([code, output]).toEqual([1, expect.stringContaining('cannot patch resource "nodes"')]);
  });

  it('tidegate-drainer beside it drains, disables and pauses', { timeout: 300_000 }, async () => {
    const before = await site('tidegate-viewer', 'tidegate-drainer');
    await eventually(async () => (await asPerson(DRAINING[0] ?? [])).code === 0, {
      what: 'the person to be authorized to drain',
    });
    const start = Math.max(before, (await refusedForLackOfRight()).length);
    for (const args of DRAINING) {
      const { code, output } = await asPerson(args);
      expect([args, code, output]).toEqual([args, 0, expect.any(String)]);
    }
    const kubectl = await bed().kubectl(
      ...['--kubeconfig', bed().kubeconfigFor(PERSON), 'annotate', 'node', 'worker'],
      `${PAUSE}=true`,
    );
    expect([kubectl.stderr, kubectl.code]).toEqual(['', 0]);
    expect((await refusedForLackOfRight()).slice(start)).toEqual([]);
  });
});
