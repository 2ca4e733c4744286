/** The operator's exit: on a signal, and when it cannot work. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { textAt } from '../../src/domain/json.ts';
import { runCommand } from '../../tools/testbed/commands.ts';
import { freePort } from '../../tools/testbed/ports.ts';
import { overlapping, writesBy } from '../support/api/audited-writes.ts';
import { clusterClient, COLLECTIONS } from '../support/api/cluster-client.ts';
import { json, startStubApi } from '../support/api/stub-api.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { wantedMachines } from '../support/demand/wanted-capacity.ts';
import { eventually } from '../support/eventually.ts';
import { sessionLog, untilSession } from '../support/fleet/fleet-sessions.ts';
import { startFleet } from '../support/processes/fleet-process.ts';
import { startOperator } from '../support/processes/operator-process.ts';
import { atScale } from '../support/scale.ts';
import { startTidegate, type TidegateProcess } from '../support/processes/tidegate-process.ts';

const MACHINES = atScale({ commit: 200, release: 2000 });
const UNDER_WAY = atScale({ commit: 50, release: 200 });
/** So slow that the burst is not over before the operator stops. */
const SLOWLY = { qps: '20', burst: '20' };
/** The later of two equal flags counts. */
const ADDRESSES = ['--metrics-addr=0', '--health-addr=0'];

const PATIENT_MS = 60_000;
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/default/leases/tidegate-operator';

/** Command lines of running processes that mention `text`. */
const processesWith = async (text: string): Promise<readonly string[]> => {
  const { stdout } = await runCommand('ps', ['-eo', 'args']);
  return stdout.split('\n').filter((line) => line.includes(text));
};

/** What ended with a child may take a moment longer than the child. */
const untilNoProcessWith = (text: string): Promise<unknown> =>
  eventually(async () => (await processesWith(text)).length === 0, {
    what: `every process with "${text}" to end`,
  });

/** Output that is not a log line: messages for people. */
const sentences = (child: TidegateProcess): readonly string[] =>
  child.logs().flatMap(({ msg }) => typeof msg === 'string' ? [msg] : []);

const textFile = async (text: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-stop-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'text');
  await writeFile(path, text);
  return path;
};

/** In a session, with writes in flight. */
const busyOperator = async (bed: Testbed, identity: string) => {
  await bed.installCrds();
  const cluster = await clusterClient(bed);
  await cluster.create(COLLECTIONS.requests, wantedMachines(10, identity));
  const fleet = await startFleet({ seedMachines: 0 });
  const operator = await startOperator({
    bed,
    shardAddress: fleet.address,
    flags: { identity, 'log-level': 'info', ...SLOWLY },
  });
  await untilSession(fleet);
  const before = (await writesBy(bed, 'tidegate')).length;
  await fleet.script('POST', '/mass', {
    cluster: 'test',
    count: MACHINES,
    states: ['CONFIGURING', 'CONFIGURED'],
  });
  await eventually(async () => (await writesBy(bed, 'tidegate')).length > before + UNDER_WAY, {
    what: 'the burst to be under way',
  });
  return { cluster, fleet, operator };
};

describeWithTestbed('operator on SIGTERM', {}, (bed) => {
  it(
    'DR-15: an operator told to stop closes its session, gives its lease back and leaves with 0 \
and nothing behind, in the middle of a burst',
    async () => {
      const { cluster, fleet, operator } = await busyOperator(bed(), 'leaves-in-order');
      expect(await processesWith('--identity=leaves-in-order')).not.toEqual([]);
      expect(await operator.stop()).toBe(0);
      await untilNoProcessWith('--identity=leaves-in-order');

      const lease = (await cluster.call('GET', LEASE)).body;
      expect(textAt(lease, 'spec', 'holderIdentity') ?? '').toBe('');
      // On a busy machine the lease may have been lost meanwhile, and a session with it.
      await expect.poll(() => sessionLog(fleet).slice(-2), { timeout: PATIENT_MS })
        .toEqual(['connected', 'ended: The cluster closed the stream']);
      const writes = await writesBy(bed(), 'tidegate');
      expect(overlapping(writes)).toEqual([]);
      expect(writes.length).toBeLessThan(2 * MACHINES);
      expect(operator.logs().filter(({ level }) => level === 'error')).toEqual([]);
    },
  );

  it('stops while the API server is away, during a burst', async () => {
    const { operator } = await busyOperator(bed(), 'leaves-alone');
    await bed().stopApiServer();
    try {
      expect(await operator.stop(30_000)).toBe(0);
      await untilNoProcessWith('--identity=leaves-alone');
    } finally {
      await bed().startApiServer();
    }
  });

  it('stops while it waits for an API server that never existed', async () => {
    await bed().stopApiServer();
    try {
      const operator = await startOperator({
        bed: bed(),
        shardAddress: 'localhost:1',
        asAdministrator: 'the API server gives no token while it is away',
      });
      await operator.untilLog(
        ({ machine, to }) => machine === 'operator' && to === 'waitingForCluster',
        { what: 'that it waits for the cluster' },
      );
      expect(await operator.probe('/healthz')).toBe(200);
      expect(await operator.probe('/readyz')).toBe(503);
      expect(await operator.stop()).toBe(0);
    } finally {
      await bed().startApiServer();
    }
  });
});

describe('operator that cannot work', () => {
  const clusterOf = async (gitVersion: string) => {
    const [, major, minor] = /^v(\d+)\.(\d+)/.exec(gitVersion) ?? [];
    const stub = await startStubApi((request, response) =>
      request.path === '/version'
        ? json(response, 200, { major, minor, gitVersion })
        : json(response, 404, { kind: 'Status', status: 'Failure', code: 404 })
    );
    onTestFinished(stub.stop);
    return stub;
  };
  const operatorOn = (kubeconfig: string, ...flags: readonly string[]): TidegateProcess =>
    startTidegate({
      name: 'operator',
      args: [
        'operator',
        '--cluster-id=test',
        '--shard-addr=localhost:1',
        '--insecure-plaintext',
        `--kubeconfig=${kubeconfig}`,
        ...ADDRESSES,
        ...flags,
      ],
    });
  const pathOf = ({ source }: Awaited<ReturnType<typeof clusterOf>>): string =>
    source._tag === 'File' ? source.path : '';

  it('exits with 1 and one sentence on a cluster older than 1.31, and sends nothing more', async () => {
    const stub = await clusterOf('v1.30.9');
    const operator = operatorOn(pathOf(stub));
    expect(await operator.exited).toBe(1);
    expect(sentences(operator)).toEqual([
      'Cannot use Kubernetes v1.30.9: 1.31 or newer is required',
    ]);
    expect(stub.requests.map(({ path }) => path)).toEqual(['/version']);
  });

  it('exits with 1 and the line and column of the problem in its template', async () => {
    const template = await textFile('#cloud-config\nname: {{.ClusterID}}\nbad: {{if}}\n');
    const operator = operatorOn(
      pathOf(await clusterOf('v1.36.3')),
      `--bootstrap-template-file=${template}`,
    );
    expect(await operator.exited).toBe(1);
    expect(sentences(operator)).toEqual([
      expect.stringMatching(/line 3, column 10: .*missing value for if/),
    ]);
    expect(sentences(operator)[0]).toContain(template);
  });

  it.each([
    { title: 'a flag that there is not', flags: ['--cluster-di=test'] },
    { title: 'a flag that is missing', flags: ['--cluster-id=test'] },
    {
      title: 'a value that cannot be used',
      flags: ['--cluster-id=test', '--shard-addr=localhost:1', '--rollup-interval=soon'],
    },
    {
      title: 'a file that is not there',
      flags: [
        '--cluster-id=test',
        '--shard-addr=localhost:1',
        '--insecure-plaintext',
        '--kubeconfig=/nowhere/at-all',
      ],
    },
    {
      title: 'no key pair and no word about plaintext',
      flags: ['--cluster-id=test', '--shard-addr=localhost:1'],
    },
    {
      title: 'half a key pair',
      flags: ['--cluster-id=test', '--shard-addr=localhost:1', '--tls-cert=tls.crt'],
    },
  ])('exits with 2 and one line on $title', async ({ flags }) => {
    const operator = startTidegate({ name: 'operator', args: flags });
    expect(await operator.exited).toBe(2);
    expect(sentences(operator)).toHaveLength(1);
  });

  it('exits with 2 and one line on an invalid kubeconfig', async () => {
    const path = await textFile('clusters: [what]');
    const operator = operatorOn(path);
    expect(await operator.exited).toBe(2);
    expect(sentences(operator)).toEqual([expect.stringContaining(path)]);
  });

  it('exits with 1 and one sentence when its port is in use', async () => {
    const kubeconfig = pathOf(await clusterOf('v1.36.3'));
    const port = await freePort();
    const first = operatorOn(kubeconfig, `--health-addr=127.0.0.1:${port}`);
    await eventually(async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok, {
      what: 'the first operator to listen',
      hopeless: () => first.isRunning() ? undefined : 'it has ended',
    });
    const second = operatorOn(kubeconfig, `--health-addr=127.0.0.1:${port}`);
    expect(await second.exited).toBe(1);
    expect(sentences(second)).toEqual([expect.stringContaining(String(port))]);
  });
});
