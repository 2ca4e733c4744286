/** Drains with an unreliable API server connection or clock. */
import type { KubeAnswer } from '../../../src/effects/kube-api.ts';
import { failure } from '../../support/drains/hostile-answers.ts';
import { brokenBudgets, nodesOfPods } from '../../support/drains/pod-history.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../../support/drains/workloads.ts';
import {
  acksOf,
  deadlineCounts,
  drainSiteOptions,
  each,
  evictionsOf,
  reclaimEach,
  setDrainScene,
  stepsOf,
  untilEnded,
} from './drain-scene.ts';
import type { DrainScene } from './drain-scene.ts';
import type { Scenario } from './scenario.ts';
import type { Harness } from './harness.ts';

const NODES = 2;
const PODS = 24;
const UNAVAILABLE = 3;
const GRACE_SECONDS = 3600;
const OUTAGE_MS = 30_000;
/** Requests that were sent before arrive within this time. */
const IN_FLIGHT_MS = 1000;
const CUTS = 5;
const HOURS_MS = 5 * 3_600_000;

/** Replacements take 2 s to be ready. */
const siteOptions = (seed: number) => drainSiteOptions(seed, { readyMs: [2000, 2000] });

const fixture = (prefix: string) => ({
  machines: { count: NODES, prefix, pods: PODS / NODES },
  objects: () =>
    [
      [DRAIN_COLLECTIONS.budgets, [budget('web', { maxUnavailable: UNAVAILABLE })]],
      [DRAIN_COLLECTIONS.deployments, [deployment('web', PODS)]],
    ] as const,
  pods: PODS,
  spares: { count: 1 },
});

/** Waits until `count` pods were evicted. */
const untilEvicted = async (harness: Harness, scene: DrainScene, count: number): Promise<void> => {
  await harness.until(
    `${count} pods are evicted`,
    () => evictionsOf(harness, scene).filter(({ code }) => code === 201).length >= count,
  );
};

/** All nodes are Drained, by evictions of their pods, within the budget, in time. */
const checkEnd = async (harness: Harness, scene: DrainScene): Promise<void> => {
  const { machines } = scene;
  harness.is('the drains end', await untilEnded(harness, machines), each(machines, 'Drained'));
  const steps = stepsOf(harness);
  const nodeOf = nodesOfPods(steps);
  const calls = evictionsOf(harness, scene);
  const strangers = calls.filter(({ uid }) => !machines.includes(nodeOf.get(uid) ?? ''));
  harness.is('no other pod is evicted', strangers, []);
  const broken = brokenBudgets(steps, [{ app: 'web', healthy: PODS - UNAVAILABLE }]);
  harness.is('the budget is kept at every change', broken, []);
  harness.is(
    'one deadline each',
    Object.values(deadlineCounts(harness, scene)),
    machines.map(() => 1),
  );
  await harness.until(
    'every instruction is acked',
    () => acksOf(harness).length === machines.length,
  );
  const uids = calls.filter(({ code }) => code === 201).map(({ uid }) => uid);
  harness.is('every pod leaves once', new Set(uids).size, uids.length);
};

const TROUBLES = [
  failure(409, { message: 'trouble' }),
  failure(500, { message: 'trouble' }),
  { ...failure(429, { message: 'trouble' }), retryAfterSeconds: 1 },
  failure(503, { message: 'trouble' }),
];
const TIMES = 2;

export const drainFaults: Scenario = {
  name: 'drain-faults',
  shows: 'DR-37: drains end correctly despite broken watches and failed requests',
  siteOptions: siteOptions(15),
  play: async (harness) => {
    const scene = await setDrainScene(harness, fixture('faults-'));
    const refuse = (part: string, answer: KubeAnswer, times: number): void =>
      harness.interceptor.answer(
        ({ method, path }) => method !== 'GET' && path.includes(part),
        answer,
        times,
      );
    for (const answer of TROUBLES) {
      for (const part of ['/nodes/faults-', '/eviction', '/upcomingnodes/un-faults-']) {
        refuse(part, answer, TIMES);
      }
    }
    refuse('/eviction', failure(401), 1);
    reclaimEach(harness, scene.machines, GRACE_SECONDS);
    for (let cut = 1; cut <= CUTS; cut += 1) {
      await untilEvicted(harness, scene, cut * Math.floor(PODS / (CUTS + 1)));
      harness.note('every watch is cut');
      for (const { api } of harness.processes.all()) api.dropWatches('eof');
    }
    await checkEnd(harness, scene);
    harness.is('every answer was given', harness.interceptor.answered(), 25);
  },
};

export const drainOutage: Scenario = {
  name: 'drain-outage',
  shows: 'DR-37: drains resume after half a minute without the API server, and after 410',
  siteOptions: siteOptions(16),
  play: async (harness) => {
    const scene = await setDrainScene(harness, fixture('outage-'));
    const { weather, trouble } = harness.state;
    reclaimEach(harness, scene.machines, GRACE_SECONDS);
    await untilEvicted(harness, scene, PODS / 3);
    harness.note('the API server is away');
    trouble(OUTAGE_MS);
    weather.outage = true;
    for (const { api } of harness.processes.all()) api.dropWatches('cut');
    await harness.wait(IN_FLIGHT_MS);
    const asked = evictionsOf(harness, scene).length;
    await harness.wait(OUTAGE_MS - IN_FLIGHT_MS);
    harness.is('nothing gets through', evictionsOf(harness, scene).length, asked);
    harness.note('the API server is back');
    weather.outage = false;
    await untilEvicted(harness, scene, PODS / 3 + UNAVAILABLE);
    harness.note('its history is compacted');
    harness.site.cluster.store.compact();
    for (const { api } of harness.processes.all()) api.dropWatches('cut');
    await checkEnd(harness, scene);
  },
};

export const drainClockJump: Scenario = {
  name: 'drain-clock-jump',
  shows: 'DR-16: a wall clock that jumps by hours ends no drain',
  siteOptions: siteOptions(17),
  play: async (harness) => {
    const scene = await setDrainScene(harness, fixture('clock-'));
    reclaimEach(harness, scene.machines, GRACE_SECONDS);
    await untilEvicted(harness, scene, PODS / 3);
    harness.note('the clock jumps');
    harness.time.jumpWallClock(HOURS_MS);
    await checkEnd(harness, scene);
  },
};
