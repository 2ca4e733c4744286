/**
 * `npm run demo:real`: a control plane, a fleet and the operator on this machine, with an
 * unschedulable Deployment that is later scaled to 0.
 *
 * Promises: it ends with 0 when every pod ran and everything was removed, otherwise with 1, and
 * leaves no process behind.
 */
import { styleText } from 'node:util';
import { fileURLToPath } from 'node:url';
import { auditTime } from 'rxjs';
import { realTime } from '../../src/effects/real-time.ts';
import { TestbedUnavailable } from '../testbed/go-builds.ts';
import { freePort } from '../testbed/ports.ts';
import { supervise, type Supervised } from '../testbed/processes.ts';
import { startTestbed, type Testbed } from '../testbed/testbed.ts';
import { eventually } from '../testbed/waiting.ts';
import { viewCluster } from './cluster-view.ts';
import { changeLines, EMPTY_SCENE, isDown, isUp, type Scene, sceneText, summary } from './scene.ts';
import { CREATE, DEFAULT_REQUEST, limitRange, REPLICAS, SCALE_TO_ZERO } from './workload.ts';

const CLUSTER = 'demo';
const SEED_MACHINES = 40;
const PATIENCE_MS = 120_000;
const GLANCE_MS = 100;
const EXIT_UNFINISHED = 1;
const EXIT_INTERRUPTED = 130;

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const startedAtMs = realTime.monotonic();

const print = (who: string, what: string): void => {
  const seconds = ((realTime.monotonic() - startedAtMs) / 1000).toFixed(1).padStart(6);
  process.stdout.write(
    `${styleText('dim', `${seconds} s`)}  ${styleText('cyan', who.padEnd(13))}  ${what}\n`,
  );
};

const tidegate = (name: string, args: readonly string[]): Supervised => {
  const last: string[] = [];
  const child = supervise({
    name,
    file: process.execPath,
    args: [...('deno' in process.versions ? ['run', '-A', '-q'] : []), main, ...args],
    onLine: (line) => {
      last.push(line);
      if (last.length > 10) last.shift();
    },
  });
  void child.exited.then((code) => {
    if (code !== 0) print(name, `ended with ${code}: ${last.join('\n')}`);
  });
  return child;
};

interface RunningDemo {
  readonly bed: Testbed;
  readonly children: readonly Supervised[];
  readonly scriptPort: number;
}

/** The result of the scenario. */
type Outcome = { readonly peak: Scene } | { readonly stuck: Scene };

const startDemo = async (): Promise<RunningDemo> => {
  print('control plane', 'starting Kubernetes without a single Node');
  const bed = await startTestbed({
    controllers: true,
    scheduler: true,
    kwok: true,
    print: (line) => print('control plane', line),
  });
  await bed.installCrds();
  await bed.apply(limitRange());
  print('control plane', `serves; look with: kubectl --kubeconfig ${bed.kubeconfig} get upn`);
  const [shardPort, scriptPort, healthPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const fleet = tidegate('fleet', [
    'fleet',
    `--listen=127.0.0.1:${shardPort}`,
    `--script-listen=127.0.0.1:${scriptPort}`,
    `--seed-machines=${SEED_MACHINES}`,
    `--kubeconfig=${bed.kubeconfigFor('fleet')}`,
    '--cycle-interval=500ms',
  ]);
  const operator = tidegate('operator', [
    'operator',
    `--cluster-id=${CLUSTER}`,
    `--shard-addr=localhost:${shardPort}`,
    '--insecure-plaintext',
    `--kubeconfig=${bed.kubeconfigFor('tidegate')}`,
    '--metrics-addr=0',
    `--health-addr=127.0.0.1:${healthPort}`,
    '--rollup-interval=1s',
    '--with-pods',
  ]);
  await answering(`http://127.0.0.1:${scriptPort}/state`, fleet);
  print('fleet', `${SEED_MACHINES} machines to give, speaks gRPC on 127.0.0.1:${shardPort}`);
  await answering(`http://127.0.0.1:${healthPort}/readyz`, operator);
  print('operator', 'ready: caches complete, session with the shard');
  return { bed, children: [operator, fleet], scriptPort };
};

const answering = (url: string, child: Supervised): Promise<unknown> =>
  eventually(async () => (await fetch(url).catch(() => undefined))?.ok === true, {
    what: `${child.name} to answer`,
    hopeless: () => child.isRunning() ? undefined : 'it has ended',
  });

const boundMachines = async (scriptPort: number): Promise<number> => {
  const answer = await fetch(`http://127.0.0.1:${scriptPort}/machines?cluster=${CLUSTER}`);
  const { machines } = await answer.json() as { readonly machines: readonly unknown[] };
  return machines.length;
};

/** Prints a user's action and performs it. */
const type = async (bed: Testbed, args: readonly string[]): Promise<void> => {
  print('you', styleText('bold', `kubectl ${args.join(' ')}`));
  const { code, stderr } = await bed.kubectl(...args);
  if (code !== 0) throw new Error(stderr);
};

/** Prints each change from up to down; returns the scene at the top, or where it got stuck. */
const follow = async ({ bed, scriptPort }: RunningDemo, stop: AbortSignal): Promise<Outcome> => {
  const view = viewCluster(bed.kubeconfigFor('admin'));
  let last = EMPTY_SCENE;
  const printChanges = (bound: number): void => {
    const now = view.scene(bound);
    for (const { who, what } of changeLines(last, now)) print(who, what);
    last = now;
  };
  const until = async (is: (scene: Scene) => boolean): Promise<boolean> =>
    await eventually(async () => {
      printChanges(await boundMachines(scriptPort));
      return is(last);
    }, {
      what: 'the end of the scenario',
      timeoutMs: PATIENCE_MS,
      hopeless: () => stop.aborted ? 'interrupted' : undefined,
    }).catch(() => false);
  const changes = view.changes.pipe(auditTime(GLANCE_MS)).subscribe(() => printChanges(last.bound));
  try {
    const { cpu, memory } = DEFAULT_REQUEST;
    print('control plane', `a container without requests asks for ${cpu} CPU and ${memory}`);
    await type(bed, CREATE);
    if (!await until((scene) => isUp(scene, REPLICAS))) return { stuck: last };
    const peak = last;
    await type(bed, SCALE_TO_ZERO);
    return await until(isDown) ? { peak } : { stuck: last };
  } finally {
    changes.unsubscribe();
    await view.close();
  }
};

const operatorWrites = async (bed: Testbed): Promise<ReadonlyMap<string, number>> => {
  const counts = new Map<string, number>();
  for (const { user, verb, resource, subresource } of await bed.audit()) {
    if (user !== 'tidegate' || !['create', 'patch', 'update', 'delete'].includes(verb)) continue;
    if (resource === 'leases') continue;
    const name = `${verb} ${resource}${subresource ? `/${subresource}` : ''}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
};

const run = async (): Promise<number> => {
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  process.once('SIGTERM', () => interrupted.abort());
  const running = await startDemo();
  try {
    const last = await follow(running, interrupted.signal);
    if (interrupted.signal.aborted) return EXIT_INTERRUPTED;
    if ('stuck' in last) {
      print('demo', `gave up after ${PATIENCE_MS / 1000} s: ${sceneText(last.stuck)}`);
      return EXIT_UNFINISHED;
    }
    process.stdout.write(`\n${styleText('bold', 'What happened')}\n`);
    for (const line of summary(last.peak, await operatorWrites(running.bed))) {
      process.stdout.write(`  ${line}\n`);
    }
    return 0;
  } finally {
    process.stdout.write('\n');
    print('demo', 'stopping everything');
    for (const child of running.children) await child.stop();
    await running.bed.stop();
    print('demo', 'nothing is left running');
  }
};

try {
  process.exitCode = await run();
} catch (error) {
  const known = error instanceof TestbedUnavailable;
  process.stderr.write(
    `${error instanceof Error ? (known ? error.message : error.stack) : error}\n`,
  );
  process.exitCode = EXIT_UNFINISHED;
}
