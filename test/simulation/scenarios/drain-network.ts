/** Drains while the way to the API server, or the clock, is not to be relied on. */
import type { KubeAnswer } from '../../../src/effects/kube-api.ts';
import { failure } from '../../support/drains/hostile-answers.ts';
import { brokenBudgets, nodesOfPods } from '../../support/drains/pod-history.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../../support/drains/workloads.ts';
import {
  acksOf,
  deadlineCounts,
  drainSetting,
  each,
  evictionsOf,
  reclaimEach,
  setDrainScene,
  stepsOf,
  untilEnded,
} from './drain-scene.ts';
import type { DrainScene } from './drain-scene.ts';
import type { Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

const NODES = 2;
const PODS = 24;
const UNAVAILABLE = 3;
const GRACE_SECONDS = 3600;
const OUTAGE_MS = 30_000;
const CUTS = 5;
const HOURS_MS = 5 * 3_600_000;

/** Replacements take 2 s to be ready. */
const setting = (seed: number) => drainSetting(seed, { readyMs: [2000, 2000] });

const scenery = (prefix: string) => ({
  machines: { count: NODES, prefix, pods: PODS / NODES },
  objects: () =>
    [
      [DRAIN_COLLECTIONS.budgets, [budget('web', { maxUnavailable: UNAVAILABLE })]],
      [DRAIN_COLLECTIONS.deployments, [deployment('web', PODS)]],
    ] as const,
  pods: PODS,
  spares: { count: 1 },
});

/** Waits until the drain is in its middle: `count` pods were told to leave. */
const untilEvicted = async (stage: Stage, scene: DrainScene, count: number): Promise<void> => {
  await stage.until(
    `${count} pods are told to leave`,
    () => evictionsOf(stage, scene).filter(({ code }) => code === 201).length >= count,
  );
};

/** All nodes are Drained, by evictions of pods that were there, within the budget, in time. */
const sayRightEnd = async (stage: Stage, scene: DrainScene): Promise<void> => {
  const { machines } = scene;
  stage.is('the drains end', await untilEnded(stage, machines), each(machines, 'Drained'));
  const steps = stepsOf(stage);
  const nodeOf = nodesOfPods(steps);
  const calls = evictionsOf(stage, scene);
  const strangers = calls.filter(({ uid }) => !machines.includes(nodeOf.get(uid) ?? ''));
  stage.is('nobody else is asked', strangers, []);
  const broken = brokenBudgets(steps, [{ app: 'web', healthy: PODS - UNAVAILABLE }]);
  stage.is('the budget is kept at every change', broken, []);
  stage.is('one deadline each', Object.values(deadlineCounts(stage, scene)), machines.map(() => 1));
  await stage.until('every instruction is acked', () => acksOf(stage).length === machines.length);
  const uids = calls.filter(({ code }) => code === 201).map(({ uid }) => uid);
  stage.is('every pod leaves once', new Set(uids).size, uids.length);
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
  shows: 'DR-37: drains end rightly though watches break off and answers go wrong',
  setting: setting(15),
  play: async (stage) => {
    const scene = await setDrainScene(stage, scenery('faults-'));
    const refuse = (part: string, answer: KubeAnswer, times: number): void =>
      stage.door.answer(
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
    reclaimEach(stage, scene.machines, GRACE_SECONDS);
    for (let cut = 1; cut <= CUTS; cut += 1) {
      await untilEvicted(stage, scene, cut * Math.floor(PODS / (CUTS + 1)));
      stage.note('every watch breaks off');
      for (const { api } of stage.house.all()) api.dropWatches('eof');
    }
    await sayRightEnd(stage, scene);
    stage.is('every answer was given', stage.door.answered(), 25);
  },
};

export const drainOutage: Scenario = {
  name: 'drain-outage',
  shows: 'DR-37: drains go on after half a minute without the API server, and after 410',
  setting: setting(16),
  play: async (stage) => {
    const scene = await setDrainScene(stage, scenery('outage-'));
    const { weather, trouble } = stage.state;
    reclaimEach(stage, scene.machines, GRACE_SECONDS);
    await untilEvicted(stage, scene, PODS / 3);
    stage.note('the API server is away');
    trouble(OUTAGE_MS);
    weather.outage = true;
    for (const { api } of stage.house.all()) api.dropWatches('cut');
    const asked = evictionsOf(stage, scene).length;
    await stage.wait(OUTAGE_MS);
    stage.is('nothing gets through', evictionsOf(stage, scene).length, asked);
    stage.note('the API server is back');
    weather.outage = false;
    await untilEvicted(stage, scene, PODS / 3 + UNAVAILABLE);
    stage.note('its past is forgotten');
    stage.site.cluster.store.compact();
    for (const { api } of stage.house.all()) api.dropWatches('cut');
    await sayRightEnd(stage, scene);
  },
};

export const drainClockJump: Scenario = {
  name: 'drain-clock-jump',
  shows: 'DR-16: a wall clock that jumps by hours ends no drain',
  setting: setting(17),
  play: async (stage) => {
    const scene = await setDrainScene(stage, scenery('clock-'));
    reclaimEach(stage, scene.machines, GRACE_SECONDS);
    await untilEvicted(stage, scene, PODS / 3);
    stage.note('the clock jumps');
    stage.time.jumpWallClock(HOURS_MS);
    await sayRightEnd(stage, scene);
  },
};
