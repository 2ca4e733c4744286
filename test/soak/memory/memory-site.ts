/**
 * The set-up of the memory soak: an embedded cluster, a fleet, and one operator of all roles whose
 * memory is measured.
 *
 * Promises: three processes of their own; no log is kept, warnings and errors are counted.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { textAt } from '../../../src/domain/json.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { accepts, freePort } from '../../../tools/testbed/ports.ts';
import { type ClusterClient, connectCluster } from '../../support/api/cluster-connection.ts';
import { eventually } from '../../support/eventually.ts';
import { fleetBy, type FleetProcess } from '../../support/processes/fleet-child.ts';
import { roleBy, type RoleProcess } from '../../support/processes/role-child.ts';
import { spawnTidegate, type StartTidegate } from '../../support/processes/tidegate-child.ts';
import { type MemorySample, sampleIn } from './memory-samples.ts';

/** The cluster's name in the fleet. */
export const CLUSTER = 'soak';

const PROBE = fileURLToPath(new URL('memory-probe.ts', import.meta.url));
const NODES = 2;
const SEED_MACHINES = 60;
/** Times of the fleet, short: a machine comes, joins and goes within seconds. */
const TIMING = { creationMs: 500, joiningMs: 200, drainingMs: 4000, deletionMs: 300 };
const SAMPLE_MS_MAX = 30_000;
const TOO_MANY = 429;
const FAILED = 500;

/**
 * Without optimizing compilers. For each shape of objects, V8 keeps a list of the optimized code
 * that depends on it, and dead entries stay until the list is full. These lists grow with the
 * number of compilations, about 0.13 MiB an hour, and would hide what the program keeps.
 */
const MEASURED_ARGS = ['--no-opt', '--no-maglev'];

/** What is measured, and what is done to it. */
export interface MemorySite {
  readonly cluster: ClusterClient;
  /** One call to the cluster, again while a fault of the soak meets it. */
  readonly call: (...asked: Parameters<ClusterClient['call']>) => Promise<void>;
  readonly fleet: FleetProcess;
  readonly operator: RoleProcess;
  /** Collects garbage in the operator, and reads its figures. */
  readonly sample: () => Promise<MemorySample>;
  /** How often each warning and error was logged, by its message. */
  readonly complaints: () => ReadonlyMap<string, number>;
  readonly close: () => Promise<void>;
}

const silent: StartTidegate = (options) => spawnTidegate({ ...options, onLog: () => {} });

const startCluster = async (folder: string) => {
  const port = await freePort();
  const kubeconfig = join(folder, 'kubeconfig');
  const child = silent({
    name: 'cluster',
    args: [
      'cluster',
      `--listen=127.0.0.1:${port}`,
      `--nodes=${NODES}`,
      `--write-kubeconfig=${kubeconfig}`,
    ],
  });
  await eventually(() => accepts(port), {
    what: 'the cluster to listen',
    hopeless: () => child.isRunning() ? undefined : 'it has ended',
  });
  return { child, kubeconfig };
};

/** The operator with its probe. */
const startOperator = async (kubeconfig: string, shardAddress: string) => {
  const complaints = new Map<string, number>();
  let waiting: ((sample: MemorySample) => void) | undefined;
  const onLog = (line: Readonly<Record<string, unknown>>): void => {
    const sample = sampleIn(line, realTime.monotonic());
    if (sample !== undefined) return waiting?.(sample);
    const { level, message, msg } = line;
    if (level === 'info' || level === 'debug') return;
    const text = `${String(level ?? 'output')}: ${String(message ?? msg)}`;
    complaints.set(text, (complaints.get(text) ?? 0) + 1);
  };
  const operator = await roleBy(
    (options) =>
      spawnTidegate({ ...options, onLog, nodeArgs: [...MEASURED_ARGS, `--import=${PROBE}`] }),
    {
      role: 'operator',
      name: 'operator',
      runtime: 'node',
      flags: {
        kubeconfig,
        'cluster-id': CLUSTER,
        'shard-addr': shardAddress,
        'with-pods': 'true',
        'insecure-plaintext': 'true',
        'rollup-interval': '1s',
      },
    },
  );
  await operator.untilReady();
  const sample = async (): Promise<MemorySample> => {
    let taken: MemorySample | undefined;
    waiting = (one) => {
      taken = one;
    };
    operator.signal('USR2');
    return await eventually(() => taken, {
      what: 'the figures of the operator',
      timeoutMs: SAMPLE_MS_MAX,
      hopeless: () => operator.isRunning() ? undefined : 'it has ended',
    });
  };
  return { operator, sample, complaints };
};

const patiently = ({ call }: ClusterClient): MemorySite['call'] => async (...asked) => {
  await eventually(async () => {
    const { status, body } = await call(...asked);
    if (status !== TOO_MANY && status < FAILED) return true;
    throw new Error(`${status} ${textAt(body, 'message') ?? ''}`);
  }, { what: `${asked[0]} ${asked[1]} to be answered` });
};

/** Starts everything. */
export const memorySite = async (): Promise<MemorySite> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-memory-'));
  const { child, kubeconfig } = await startCluster(folder);
  const { client: cluster, close } = await connectCluster({ kubeconfig });
  const fleet = await fleetBy(silent, {
    seedMachines: SEED_MACHINES,
    kubeconfig,
    flags: { 'cycle-interval': '500ms' },
  });
  await fleet.script('POST', '/timing', TIMING);
  const { operator, sample, complaints } = await startOperator(kubeconfig, fleet.address);
  return {
    cluster,
    call: patiently(cluster),
    fleet,
    operator,
    sample,
    complaints: () => complaints,
    close: async () => {
      await operator.stop();
      await fleet.stop();
      await close();
      await child.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
