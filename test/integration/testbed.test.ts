/** The test bed itself. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { runCommand } from '../../tools/testbed/commands.ts';
import { startTestbed } from '../../tools/testbed/testbed.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';

const NODES = ['node-a', 'node-b'];
const PODS = 20;

const nodeManifest = (name: string): string =>
  `{apiVersion: v1, kind: Node, metadata: {name: ${name}, labels: {kubernetes.io/hostname: ${name}}}}`;

const WEB = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: ${PODS}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec:
  maxUnavailable: 0
  selector: {matchLabels: {app: web}}
`;

const silent = { print: () => {} };

/** Command lines of running processes that mention `text`. */
const processesWith = async (text: string): Promise<readonly string[]> => {
  const { stdout } = await runCommand('ps', ['-eo', 'args']);
  return stdout.split('\n').filter((line) => line.includes(text));
};

const jsonOf = async (bed: Testbed, ...args: readonly string[]): Promise<unknown> => {
  const { code, stdout, stderr } = await bed.kubectl(...args, '-o', 'json');
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
};

const runningPods = async (bed: Testbed): Promise<readonly string[]> => {
  const { stdout } = await bed.kubectl(
    'get',
    'pods',
    '--field-selector=status.phase=Running',
    '--output=jsonpath={range .items[*]}{.metadata.name}{"\\n"}{end}',
  );
  return stdout.split('\n').filter((name) => name !== '');
};

describeWithTestbed('test bed with controllers', {
  ...silent,
  controllers: true,
  scheduler: true,
  kwok: true,
  own: true,
}, (bed) => {
  beforeAll(() => bed().settle());

  it('serves the pinned Kubernetes version', async () => {
    expect(await jsonOf(bed(), 'version')).toMatchObject({
      clientVersion: { gitVersion: 'v1.36.3' },
      serverVersion: { gitVersion: 'v1.36.3', major: '1', minor: '36' },
    });
  });

  it('runs the pods of a Deployment on Nodes that become Ready', async () => {
    await bed().apply(NODES.map(nodeManifest).join('\n---\n'));
    await bed().apply(WEB);
    const pods = await eventually(async () => {
      const running = await runningPods(bed());
      return running.length === PODS && running;
    }, { what: `${PODS} running pods` });
    expect(pods).toHaveLength(PODS);
  });

  it('refuses an eviction with 429 when a budget allows no disruption', async () => {
    const [pod] = await runningPods(bed());
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod } };
    const path = `/api/v1/namespaces/default/pods/${pod}/eviction`;
    const kubeconfig = `--kubeconfig=${bed().kubeconfigFor('tidegate')}`;
    await eventually(async () => {
      const { stderr } = await runCommand(
        bed().binaries.kubectl,
        [kubeconfig, 'create', '--raw', path, '-f', '-'],
        { input: JSON.stringify(eviction) },
      );
      return stderr.includes('disruption budget');
    }, { what: 'a refused eviction' });
    const asked = (await bed().audit()).filter((entry) =>
      entry.user === 'tidegate' && entry.subresource === 'eviction' && entry.code === 429
    );
    expect(asked.at(-1)).toMatchObject({
      verb: 'create',
      resource: 'pods',
      namespace: 'default',
      name: pod,
      requestObject: { kind: 'Eviction', metadata: { name: pod } },
    });
    expect(asked.at(-1)?.answeredMs).toBeGreaterThan(asked.at(-1)?.receivedMs ?? Infinity);
  });

  it('lets a deleted pod go and a Deployment replace it', async () => {
    const [pod = ''] = await runningPods(bed());
    await bed().kubectl('delete', 'pod', pod, '--wait=false');
    await eventually(async () => {
      const running = await runningPods(bed());
      return running.length === PODS && !running.includes(pod);
    }, { what: 'the pod to be replaced' });
  });

  it('counts each user separately and omits reads by its own programs', async () => {
    const kubeconfig = `--kubeconfig=${bed().kubeconfigFor('tidegate-a')}`;
    await runCommand(bed().binaries.kubectl, [kubeconfig, 'get', 'nodes', 'node-a']);
    await runCommand(bed().binaries.kubectl, [kubeconfig, 'cordon', 'node-a']);
    const entries = await bed().audit();
    const mine = entries.filter(({ user, resource }) =>
      user === 'tidegate-a' && resource === 'nodes'
    );
    expect(mine.map(({ verb }) => verb)).toEqual(['get', 'get', 'patch']);
    expect(mine.at(-1)?.requestObject).toMatchObject({ spec: { unschedulable: true } });
    const reads = entries.filter(({ user, verb }) =>
      user.startsWith('system:kube-') && ['get', 'list', 'watch'].includes(verb)
    );
    expect(reads).toEqual([]);
  });

  it('gives the viewer no rights', async () => {
    const { code, stderr } = await runCommand(bed().binaries.kubectl, [
      `--kubeconfig=${bed().kubeconfigFor('viewer')}`,
      'get',
      'nodes',
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain('User "viewer" cannot list resource "nodes"');
  });

  it('compacts old revisions on request', async () => {
    const first = '/api/v1/pods?limit=1';
    const page = JSON.parse((await bed().kubectl('get', '--raw', first)).stdout);
    const next = `${first}&continue=${page.metadata.continue}`;
    expect((await bed().kubectl('get', '--raw', next)).code).toBe(0);
    await bed().kubectl('label', 'node', 'node-b', 'changed=true');
    await bed().compactHistory();
    const { stderr } = await bed().kubectl('get', '--raw', next);
    expect(stderr).toContain('The provided continue parameter is too old');
  });

  it('brings the API server back on the same port with the same objects', async () => {
    await bed().stopApiServer();
    expect((await bed().kubectl('get', 'nodes')).code).toBe(1);
    await bed().startApiServer();
    const { stdout } = await bed().kubectl('get', 'nodes', '-o', 'name');
    expect(stdout.trim().split('\n')).toEqual(NODES.map((name) => `node/${name}`));
    await bed().kubectl('scale', 'deployment', 'web', `--replicas=${PODS + 1}`);
    await eventually(async () => (await runningPods(bed())).length === PODS + 1, {
      what: 'controllers, scheduler and kwok to go on',
    });
  });

  it('is as new when it is renewed: no object and no request of a test is left', async () => {
    const held = { podDeleteMs: 600_000 };
    await bed().renew(held);
    for (const kind of ['nodes', 'pods', 'replicasets', 'pdb', 'leases', 'upcomingnodes']) {
      const left = (await bed().kubectl('get', kind, '-n', 'default', '-o', 'name')).stdout;
      expect([kind, left]).toEqual([kind, '']);
    }
    expect((await bed().audit()).filter(({ user }) => user !== 'admin')).toEqual([]);

    await bed().apply(`${nodeManifest('node-c')}\n---\n${WEB}`);
    await eventually(async () => (await runningPods(bed())).length === PODS, { what: 'new pods' });
    await bed().kubectl('delete', 'deployment', 'web');
    await eventually(async () => {
      const { stdout } = await bed().kubectl('get', 'pods', '-o', 'jsonpath={..deletionTimestamp}');
      return stdout.split(' ').length === PODS;
    }, { what: 'pods that terminate as long as the new delay says' });
    await bed().renew({});
    expect(await runningPods(bed())).toEqual([]);
  });

  it('is not renewed when a test has changed what belongs to it', async () => {
    await bed().kubectl('label', 'namespace', 'default', 'changed=true');
    await expect(bed().renew({})).rejects.toThrow('/registry/namespaces/default');
  });

  it('leaves no process and no file when it is stopped', async () => {
    const short = await startTestbed({ ...silent, controllers: true, scheduler: true, kwok: true });
    expect(await processesWith(short.directory)).not.toEqual([]);
    await short.stop();
    expect(await processesWith(short.directory)).toEqual([]);
    expect(existsSync(short.directory)).toBe(false);
  });

  it('reports why a program did not start, and cleans up', async () => {
    const lines: string[] = [];
    const failing = startTestbed({
      apiServerFlags: ['--no-such-flag'],
      print: (line) => void lines.push(line),
    });
    await expect(failing).rejects.toThrow(/kube-apiserver to listen: it has ended[^]*unknown flag/);
    const directory = /logs in (.*)/.exec(lines.join('\n'))?.[1] ?? 'none was printed';
    expect(await processesWith(directory)).toEqual([]);
    expect(existsSync(directory)).toBe(false);
    expect(lines.join('\n')).toContain('kube-apiserver exited unexpectedly with 1');
  });

  it('leaves no process when its parent is killed', async () => {
    const main = fileURLToPath(new URL('../../tools/testbed/main.ts', import.meta.url));
    const isDeno = 'deno' in process.versions;
    const parent = spawn(process.execPath, [...(isDeno ? ['run', '-A'] : []), main], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const kubeconfig = await new Promise<string>((resolve) => {
      parent.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
    });
    const directory = kubeconfig.replace(/\/kubeconfigs\/.*$/, '');
    expect(await processesWith(directory)).not.toEqual([]);
    parent.kill('SIGKILL');
    await eventually(async () => (await processesWith(directory)).length === 0, {
      what: 'its programs to be gone',
    });
  });
});
