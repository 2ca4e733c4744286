/**
 * What the shard is told around an outage of the API server and a hand-over, with the pod
 * controller in the process. Pods that were replaced meanwhile have no request yet, and those of
 * their predecessors are collected: demand that is built from such caches would return machines.
 */
import { fromBinary } from '@bufbuild/protobuf';
import { afterEach, describe, expect, test } from 'vitest';
import { textAt } from '../../../src/domain/json.ts';
import { OWNED_BY_POD } from '../../../src/domain/pod-demand/pod-request.ts';
import { thousandths } from '../../../packages/embedded-kubernetes/src/controllers/amounts.ts';
import { OperatorMessageSchema } from '../../../src/gen/bigfleet/v1alpha1/shard_pb.ts';
import { uidOf } from '../../support/api/cluster-connection.ts';
import { workloadObject, workloadPath } from '../../simulation/app-objects.ts';
import { WORKLOADS } from '../../simulation/embedded-site.ts';
import { nameOf } from '../../simulation/invariant.ts';
import type { ProcessFlags } from '../../simulation/simulated-process.ts';
import { type Harness, openHarness } from '../../simulation/scenarios/harness.ts';

const PODS = 10;
const WANTED_MILLIS = 2000;
const PODS_PATH = `/api/v1/namespaces/${WORKLOADS}/pods`;
const REPLACE_EVERY_MS = 2000;
const INTERVAL_MS = 1000;
const AWAY_MS = 50_000;
const CUT_OFF_MS = 77_000;
const SEEDS = [1, 5];
const REQUESTS = 'capacityrequests.bigfleet.lucy.sh';
/** Long enough for every roll-up after the fault. */
const AFTER_MS = 120_000;

const APP = {
  name: 'web',
  kind: 'ReplicaSet',
  replicas: PODS,
  cpu: '200m',
  priority: 0,
  graceSeconds: 5,
  stops: 'soon',
  interceptors: [],
  budget: undefined,
} as const;

const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

/** What the shard received, in thousandths of a CPU, and from whom. */
interface Received {
  readonly atMs: number;
  readonly process: string;
  readonly millis: number;
}

/** A lease that outlasts the outages. */
const PATIENT_LEASE = { leaseMs: 120_000, renewMs: 100_000, retryMs: 2000 };

const rig = (seed: number, flags: Partial<ProcessFlags> = {}) => {
  const harness = openHarness(
    { seed, providerDrainMs: 1000, machines: 0, makesNodes: false },
    { withPods: true, rollupIntervalMs: INTERVAL_MS, ...flags },
  );
  ended.push(async () => {
    for (const process of harness.processes.all()) process.crash();
    await harness.site.stop();
  });
  const received: Received[] = [];
  harness.state.invariants.push({
    frame: (process, frame) => {
      const { payload } = fromBinary(OperatorMessageSchema, frame);
      if (payload.case !== 'rollup') return;
      const millis = payload.value.needs.reduce(
        (sum, need) => sum + thousandths(need.aggregateResources['cpu'] ?? ''),
        0,
      );
      received.push({ atMs: harness.time.monotonic(), process, millis });
    },
  });
  return { harness, received };
};

const podNames = (harness: Harness): readonly string[] => harness.list(PODS_PATH).map(nameOf);

/** A process leads, and the shard has the demand of all pods. */
const underWay = async ({ harness, received }: ReturnType<typeof rig>): Promise<void> => {
  harness.processes.start();
  harness.create(workloadPath(APP), [workloadObject(APP)]);
  await harness.until('the demand of all pods', () => received.at(-1)?.millis === WANTED_MILLIS);
};

/** Deletes each pod; its ReplicaSet makes another, and the garbage collector takes its request. */
const replacePods = async (harness: Harness, forMs: number): Promise<void> => {
  const first = podNames(harness);
  for (const name of first) {
    harness.remove(`${PODS_PATH}/${name}`, { gracePeriodSeconds: 0 });
    await harness.wait(REPLACE_EVERY_MS);
  }
  await harness.wait(forMs - first.length * REPLACE_EVERY_MS);
  expect(podNames(harness)).toHaveLength(PODS);
  expect(podNames(harness).filter((name) => first.includes(name))).toEqual([]);
};

const tooLow = (received: readonly Received[]) =>
  received.filter(({ millis }) => millis < WANTED_MILLIS);

/** The API server is away for every process, and its watches break. */
const goAway = (harness: Harness): void => {
  harness.state.trouble(AWAY_MS);
  harness.state.weather.outage = true;
  for (const { api } of harness.processes.all()) api.dropWatches('cut');
};

describe('the shard is never told less than is wanted', () => {
  test.each([
    ...SEEDS.map((seed) => ({ seed, keeps: 'lost', flags: {} })),
    ...SEEDS.map((seed) => ({ seed, keeps: 'kept', flags: { lease: PATIENT_LEASE } })),
  ])(
    'wire 5: after an outage in which all pods were replaced and the lease was $keeps (seed $seed)',
    async ({ seed, keeps, flags }) => {
      const outage = rig(seed, flags);
      const { harness, received } = outage;
      await underWay(outage);
      const before = received.length;
      const requests = harness.following(REQUESTS);
      const made = harness.changesOf(REQUESTS).length;
      goAway(harness);
      await replacePods(harness, AWAY_MS);
      harness.state.weather.outage = false;
      await harness.wait(AFTER_MS);
      const losses = harness.logged().filter(({ message }) => message === 'Lost leadership');
      expect(losses.length).toBe(keeps === 'lost' ? 1 : 0);
      expect(tooLow(received.slice(before))).toEqual([]);
      expect(received.at(-1)).toMatchObject({ millis: WANTED_MILLIS });
      expect(received.at(-1)?.atMs).toBeGreaterThan(harness.time.monotonic() - 2 * INTERVAL_MS);
      const pods = new Set(harness.list(PODS_PATH).map(uidOf));
      const owners = harness.changesOf(REQUESTS).slice(made)
        .filter(({ type }) => type === 'ADDED')
        .map(({ object }) => textAt(object, 'metadata', 'labels', OWNED_BY_POD) ?? '');
      expect(owners.filter((uid) => !pods.has(uid)), 'requests of dead pods').toEqual([]);
      expect(requests.deleted()).toHaveLength(PODS);
    },
  );

  test.each(SEEDS)(
    'wire 5: by a standby that was cut off while pods were replaced and added (seed %i)',
    async (seed) => {
      const handover = rig(seed);
      const { harness, received } = handover;
      await underWay(handover);
      harness.processes.start();
      await harness.wait(20_000);
      const standby = harness.processes.all().at(1);
      standby?.api.cutOff(true);
      await replacePods(harness, CUT_OFF_MS);
      harness.create(workloadPath(APP), [workloadObject({ ...APP, name: 'more' })]);
      await harness.wait(10_000);
      const before = received.length;
      expect(received.at(-1)?.millis).toBe(2 * WANTED_MILLIS);
      standby?.api.cutOff(false);
      void harness.processes.dismiss();
      await harness.wait(AFTER_MS);
      const after = received.slice(before).filter(({ process }) => process === 'process-2');
      expect(after.length).toBeGreaterThan(0);
      expect(after.filter(({ millis }) => millis < 2 * WANTED_MILLIS)).toEqual([]);
    },
  );
});
