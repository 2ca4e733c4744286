/** Operators that are told to stop, or are killed, in the middle of drains; and who comes next. */
import { type JsonRecord, textAt } from '../../../src/domain/json.ts';
import type { KubeCall } from '../../../src/effects/kube-api.ts';
import { brokenBudgets, nodesOfPods } from '../../support/drains/pod-history.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../../support/drains/workloads.ts';
import { isCordoned, reclaimMark } from '../node-marks.ts';
import { LEASE, NAMESPACE } from '../simulated-process.ts';
import {
  acksOf,
  codesOf,
  deadlineCounts,
  drainSetting,
  each,
  evictedBeforeCordon,
  evictionsOf,
  nodeAt,
  podsOf,
  reclaimEach,
  setDrainScene,
  stepsOf,
  untilEnded,
} from './drain-scene.ts';
import type { DrainScene } from './drain-scene.ts';
import type { Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

const PODS = 10;
const GRACE_SECONDS = 600;

const isEviction = ({ path }: KubeCall): boolean => path.endsWith('/eviction');

/** Who holds the lease; '' when it was given back. */
export const holderOf = ({ site }: Stage): string =>
  textAt(
    site.cluster.store.collection('leases.coordination.k8s.io')
      .get({ namespace: NAMESPACE, name: LEASE }),
    'spec',
    'holderIdentity',
  ) ?? '';

export const drainStopped: Scenario = {
  name: 'drain-stopped',
  shows: 'DR-15: evictions under way get their answers before the lease is given back',
  setting: drainSetting(12, { stopMs: [500, 500] }),
  play: async (stage) => {
    const scene = await setDrainScene(stage, {
      machines: { count: 1, prefix: 'stopped-' },
      objects: () => [[DRAIN_COLLECTIONS.deployments, [deployment('web', PODS)]]],
      pods: PODS,
      spares: { count: 1 },
    });
    const { machines } = scene;
    const { shard } = stage.site.script;
    stage.door.hold(isEviction);
    const [instructionId] = reclaimEach(stage, machines, GRACE_SECONDS);
    await stage.until('every eviction is under way', () => stage.door.held().length === PODS);
    const leader = holderOf(stage);
    let gone = false;
    void stage.house.dismiss().then(() => gone = true);
    await stage.until('the session is closed', () => shard.sessions.size === 0);
    stage.is('it waits for the answers', [gone, holderOf(stage)], [false, leader]);
    stage.door.release();
    await stage.until('it is gone', () => gone);
    stage.is('the lease is given back', holderOf(stage), '');
    stage.is('every call was answered', codesOf(evictionsOf(stage, scene)), { 201: PODS });

    stage.house.start();
    stage.is('the drain ends', await untilEnded(stage, machines), each(machines, 'Drained'));
    stage.is('nobody is asked again', evictionsOf(stage, scene).length, PODS);
    stage.is('one deadline', Object.values(deadlineCounts(stage, scene)), [1]);
    await stage.until('the instruction is acked again', () => acksOf(stage).length === 2);
    const ack = { instructionId, nodesStarted: 1 };
    stage.is('by each of them once', acksOf(stage), [ack, ack]);
  },
};

const OWN_PODS = 8;
const UNAVAILABLE = 2;

/** How far a drain has come. */
interface Progress {
  readonly node: JsonRecord | undefined;
  /** Pods of the node that were asked to leave, and those that are still there. */
  readonly asked: number;
  readonly left: number;
}

/** The phases of a drain at which its operator is killed. */
const PHASES: Readonly<Record<string, (progress: Progress) => boolean>> = {
  'its instruction has left': () => true,
  'its cordon stands': ({ node }) => isCordoned(node),
  'its first pod is asked': ({ asked }) => asked > 0,
  'half of its pods are asked': ({ asked }) => asked >= OWN_PODS / 2,
  'its last pod is asked': ({ asked }) => asked >= OWN_PODS,
  'it is empty': ({ left }) => left === 0,
  'its end stands': ({ node }) => reclaimMark(node)?.ended === 'Drained',
};

const UNACKED = 'recovered-';

/** Looks at the drain of a node that has begun just now. */
const progressOf = (stage: Stage, scene: DrainScene, node: string): () => Progress => {
  const own = new Set(podsOf(stage).filter((pod) => pod.node === node).map(({ uid }) => uid));
  return () => ({
    node: nodeAt(stage, node),
    asked: evictionsOf(stage, scene).filter(({ uid }) => own.has(uid)).length,
    left: podsOf(stage).filter(({ uid }) => own.has(uid)).length,
  });
};

/** Kills the leader at each phase of a node's drain, one node after another. */
const killAtEachPhase = async (stage: Stage, scene: DrainScene, comesMs: number | undefined) => {
  for (const [at, [phase, holds]] of Object.entries(PHASES).entries()) {
    const node = scene.machines[at] ?? '';
    const progress = progressOf(stage, scene, node);
    reclaimEach(stage, [node], GRACE_SECONDS);
    await stage.until(phase, () => holds(progress()), { everyMs: 10 });
    stage.note(`the operator is killed when ${phase}`);
    stage.house.crash(comesMs);
    if (comesMs === undefined) stage.house.start();
    stage.is(`drained, though it was killed when ${phase}`, await untilEnded(stage, [node]), {
      [node]: 'Drained',
    });
    await stage.until(
      'every pod is ready again',
      () =>
        podsOf(stage).filter(({ ready, terminating }) => ready && !terminating).length === ALL_PODS,
    );
  }
};

const NODES = Object.keys(PHASES).length;
const ALL_PODS = NODES * OWN_PODS;

const killed = (name: string, seed: number, comesMs: number | undefined): Scenario => ({
  name,
  shows: `DR-13: killed at each phase, ${
    comesMs === undefined ? 'followed by a standby' : 'started anew'
  }: no drain is lost, and no deadline moves`,
  setting: drainSetting(seed),
  play: async (stage) => {
    if (comesMs === undefined) stage.house.start();
    const scene = await setDrainScene(stage, {
      machines: { count: NODES, prefix: 'killed-', pods: OWN_PODS },
      objects: () => [
        [DRAIN_COLLECTIONS.budgets, [budget('web', { maxUnavailable: UNAVAILABLE })]],
        [DRAIN_COLLECTIONS.deployments, [deployment('web', ALL_PODS)]],
      ],
      pods: ALL_PODS,
      spares: { count: 2 },
    });
    await killAtEachPhase(stage, scene, comesMs);

    const steps = stepsOf(stage);
    const nodeOf = nodesOfPods(steps);
    const calls = evictionsOf(stage, scene);
    stage.is('one deadline each', deadlineCounts(stage, scene), {
      ...Object.fromEntries(scene.machines.map((node) => [node, 1])),
    });
    const strangers = calls.filter(({ uid }) => !scene.machines.includes(nodeOf.get(uid) ?? ''));
    stage.is('nobody else is asked', strangers, []);
    stage.is('no eviction before its cordon', evictedBeforeCordon(stage, scene, nodeOf), []);
    const accepted = calls.filter(({ code }) => code === 201).map(({ uid }) => uid);
    stage.is('every pod leaves once', new Set(accepted).size, accepted.length);
    stage.is('all have left', accepted.length, ALL_PODS);
    const broken = brokenBudgets(steps, [{ app: 'web', healthy: ALL_PODS - UNAVAILABLE }]);
    stage.is('the budget is kept at every change', broken, []);
    const acked = new Set(acksOf(stage).map(({ instructionId }) => instructionId));
    const marks = scene.machines.flatMap((node) => reclaimMark(nodeAt(stage, node))?.ids ?? []);
    // What was lost with the first of them, nobody can ack: it is found by its machine (DR-14).
    const [first = ''] = scene.machines;
    const lost = marks.filter((id) => !acked.has(id));
    stage.is('what stands on a Node is acked', lost, [`${UNACKED}${first}`]);
  },
});

export const drainKilled = killed('drain-killed', 13, 2000);
export const drainKilledStandby = killed('drain-killed-standby', 14, undefined);

const SHORT_GRACE_SECONDS = 120;
/** The end is written within so much of the deadline. */
const ENDING_MS = 2000;

export const drainKilledBlocked: Scenario = {
  name: 'drain-killed-blocked',
  shows: 'DR-13: a drain that is taken up after a kill ends by the deadline that it had',
  setting: drainSetting(20),
  play: async (stage) => {
    const scene = await setDrainScene(stage, {
      machines: { count: 1, prefix: 'blocked-' },
      objects: () => [
        [DRAIN_COLLECTIONS.budgets, [budget('web', { maxUnavailable: 0 })]],
        [DRAIN_COLLECTIONS.deployments, [deployment('web', PODS)]],
      ],
      pods: PODS,
      spares: { count: 1 },
    });
    const { machines } = scene;
    const [node = ''] = machines;
    reclaimEach(stage, machines, SHORT_GRACE_SECONDS);
    await stage.until('the key stands', () => reclaimMark(nodeAt(stage, node))?.ended === '');
    const deadlineMs = reclaimMark(nodeAt(stage, node))?.deadlineMs ?? 0;
    await stage.wait(SHORT_GRACE_SECONDS * 1000 / 2);
    stage.house.crash(2000);
    stage.is('the drain fails', await untilEnded(stage, machines), { [node]: 'Failed' });
    const lateMs = stage.time.now() - deadlineMs;
    stage.is('at its deadline', lateMs >= 0 && lateMs < ENDING_MS, true);
    stage.is('one deadline', deadlineCounts(stage, scene), { [node]: 1 });
    stage.is('nobody is asked', evictionsOf(stage, scene), []);
  },
};
