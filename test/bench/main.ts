/**
 * Benchmarks of the operator, each beside a baseline of the same run, because ratios are portable
 * between machines and absolute figures are not.
 *
 * `node --expose-gc test/bench/main.ts [NAME...]`, of `rollup`, `registry`, `session`, `list`,
 * `process`, `idle`, `page`, `burst`, `pods`, `hand-overs`, `requests`,
 * `cluster`, `simulate`, `drain`, `drain-node` and `maintenance`.
 *
 * `drain` takes ten minutes, and with `--full` an hour; `burst` takes eleven minutes, `pods` writes
 * half a million times, `requests` lists eight gigabytes, and `cluster` writes more often than
 * `pods`; `simulate` runs twenty maintenances in real time, and `drain-node` takes twenty minutes:
 * they run only on request.
 */
import process from 'node:process';
import { benchBurst } from './burst.ts';
import { benchCluster } from './cluster.ts';
import { benchDrains } from './drain.ts';
import { benchDrainNode } from './drain-node.ts';
import { benchHandOvers } from './hand-overs.ts';
import { benchIdle } from './idle.ts';
import { benchLists } from './list.ts';
import { benchMaintenance } from './maintenance.ts';
import { print, printMachine } from './measurement.ts';
import { benchPods } from './pods.ts';
import { benchPage } from './page.ts';
import { benchProcess } from './process.ts';
import { benchRegistry } from './registry.ts';
import { benchRequests } from './requests.ts';
import { benchRollups } from './rollup.ts';
import { benchSession } from './session.ts';
import { benchSimulations } from './simulate.ts';

const REQUESTS = 100_000;
const MACHINES = 100_000;
const ACTORS = 20_000;
const PODS = 50_000;
const DEMANDING_PODS = 100_000;
const EVICTION_REQUESTS = 150_000;
const OPEN_REQUESTS = 1000;
const SIMULATED_CLUSTERS = 20;
const DRAINED_CLUSTERS = 200;
const MAINTAINED = { nodes: 1000, podsOfNode: 30, replicas: 20, atOnce: 50 };

const FULL = '--full';
const full = process.argv.includes(FULL);

const BENCHES: ReadonlyMap<string, () => Promise<void>> = new Map([
  ['rollup', () => benchRollups(REQUESTS)],
  ['registry', () => benchRegistry(ACTORS)],
  ['session', benchSession],
  ['process', () => benchProcess(MACHINES, REQUESTS)],
  ['idle', benchIdle],
  ['page', benchPage],
  ['list', () => benchLists(PODS)],
  ['burst', benchBurst],
  ['pods', () => benchPods(DEMANDING_PODS)],
  ['hand-overs', () => benchHandOvers(OPEN_REQUESTS)],
  ['requests', () => benchRequests(EVICTION_REQUESTS)],
  ['cluster', benchCluster],
  ['simulate', () => benchSimulations(SIMULATED_CLUSTERS)],
  ['drain', () => benchDrains(full)],
  ['drain-node', () => benchDrainNode(DRAINED_CLUSTERS)],
  ['maintenance', () => benchMaintenance(MAINTAINED)],
]);

const ON_DEMAND: ReadonlySet<string> = new Set([
  'burst',
  'pods',
  'hand-overs',
  'requests',
  'cluster',
  'simulate',
  'drain',
  'drain-node',
  'maintenance',
]);

const asked = process.argv.slice(2).filter((word) => word !== FULL);
const unknown = asked.filter((name) => !BENCHES.has(name));
if (unknown.length > 0) {
  process.stderr.write(`No bench "${unknown.join('", "')}"; there are ${[...BENCHES.keys()]}\n`);
  process.exitCode = 2;
} else {
  printMachine();
  for (const [name, run] of BENCHES) {
    const wanted = asked.length === 0 ? !ON_DEMAND.has(name) : asked.includes(name);
    if (wanted) await run();
  }
  print();
}
