/** Operators that are stopped or killed during drains, and their successors. */
import { type JsonRecord, textAt } from '../../../src/domain/json.ts';
import type { KubeCall } from '../../../src/effects/kube-api.ts';
import { brokenBudgets, nodesOfPods } from '../../support/drains/pod-history.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../../support/drains/workloads.ts';
import { isCordoned, reclaimAnnotation } from '../node-annotations.ts';
import { LEASE, NAMESPACE } from '../simulated-process.ts';
import {
  acksOf,
  codesOf,
  deadlineCounts,
  drainSiteOptions,
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
import type { Harness } from './harness.ts';

const PODS = 10;
const GRACE_SECONDS = 600;

const isEviction = ({ path }: KubeCall): boolean => path.endsWith('/eviction');

/** The lease holder; '' after a release. */
export const holderOf = ({ site }: Harness): string =>
  textAt(
    site.cluster.store.collection('leases.coordination.k8s.io')
      .get({ namespace: NAMESPACE, name: LEASE }),
    'spec',
    'holderIdentity',
  ) ?? '';

export const drainStopped: Scenario = {
  name: 'drain-stopped',
  shows: 'DR-15: evictions in flight get their answers before the lease is released',
  siteOptions: drainSiteOptions(12, { stopMs: [500, 500] }),
  play: async (harness) => {
    const scene = await setDrainScene(harness, {
      machines: { count: 1, prefix: 'stopped-' },
      objects: () => [[DRAIN_COLLECTIONS.deployments, [deployment('web', PODS)]]],
      pods: PODS,
      spares: { count: 1 },
    });
    const { machines } = scene;
    const { shard } = harness.site.script;
    harness.interceptor.hold(isEviction);
    const [instructionId] = reclaimEach(harness, machines, GRACE_SECONDS);
    await harness.until(
      'every eviction is in flight',
      () => harness.interceptor.held().length === PODS,
    );
    const leader = holderOf(harness);
    let gone = false;
    void harness.processes.dismiss().then(() => gone = true);
    await harness.until('the session is closed', () => shard.sessions.size === 0);
    harness.is('it waits for the answers', [gone, holderOf(harness)], [false, leader]);
    harness.interceptor.release();
    await harness.until('it is gone', () => gone);
    harness.is('the lease is released', holderOf(harness), '');
    harness.is('every call was answered', codesOf(evictionsOf(harness, scene)), { 201: PODS });

    harness.processes.start();
    harness.is('the drain ends', await untilEnded(harness, machines), each(machines, 'Drained'));
    harness.is('no pod is evicted again', evictionsOf(harness, scene).length, PODS);
    harness.is('one deadline', Object.values(deadlineCounts(harness, scene)), [1]);
    await harness.until('the instruction is acked again', () => acksOf(harness).length === 2);
    const ack = { instructionId, nodesStarted: 1 };
    harness.is('by each of them once', acksOf(harness), [ack, ack]);
  },
};

const OWN_PODS = 8;
const UNAVAILABLE = 2;

/** The progress of a drain. */
interface Progress {
  readonly node: JsonRecord | undefined;
  /** Evicted and remaining pods of the node. */
  readonly asked: number;
  readonly left: number;
}

/** The phases of a drain at which its operator is killed. */
const PHASES: Readonly<Record<string, (progress: Progress) => boolean>> = {
  'its instruction is sent': () => true,
  'its cordon is written': ({ node }) => isCordoned(node),
  'its first pod is evicted': ({ asked }) => asked > 0,
  'half of its pods are evicted': ({ asked }) => asked >= OWN_PODS / 2,
  'its last pod is evicted': ({ asked }) => asked >= OWN_PODS,
  'it is empty': ({ left }) => left === 0,
  'its end is written': ({ node }) => reclaimAnnotation(node)?.ended === 'Drained',
};

const UNACKED = 'recovered-';

/** Reads the state of a drain that has just begun. */
const progressOf = (harness: Harness, scene: DrainScene, node: string): () => Progress => {
  const own = new Set(podsOf(harness).filter((pod) => pod.node === node).map(({ uid }) => uid));
  return () => ({
    node: nodeAt(harness, node),
    asked: evictionsOf(harness, scene).filter(({ uid }) => own.has(uid)).length,
    left: podsOf(harness).filter(({ uid }) => own.has(uid)).length,
  });
};

/** Kills the leader at each phase of a node's drain, one node after another. */
const killAtEachPhase = async (
  harness: Harness,
  scene: DrainScene,
  comesMs: number | undefined,
) => {
  for (const [at, [phase, holds]] of Object.entries(PHASES).entries()) {
    const node = scene.machines[at] ?? '';
    const progress = progressOf(harness, scene, node);
    reclaimEach(harness, [node], GRACE_SECONDS);
    await harness.until(phase, () => holds(progress()), { everyMs: 10 });
    harness.note(`the operator is killed when ${phase}`);
    harness.processes.crash(comesMs);
    if (comesMs === undefined) harness.processes.start();
    harness.is(`drained, though it was killed when ${phase}`, await untilEnded(harness, [node]), {
      [node]: 'Drained',
    });
    await harness.until(
      'every pod is ready again',
      () =>
        podsOf(harness).filter(({ ready, terminating }) => ready && !terminating).length ===
          ALL_PODS,
    );
    // What is sent to nobody is recovered, and not acked (DR-14).
    await harness.until(
      'the next leader has a session',
      () => harness.site.script.shard.sessions.size === 1,
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
  siteOptions: drainSiteOptions(seed),
  play: async (harness) => {
    if (comesMs === undefined) harness.processes.start();
    const scene = await setDrainScene(harness, {
      machines: { count: NODES, prefix: 'killed-', pods: OWN_PODS },
      objects: () => [
        [DRAIN_COLLECTIONS.budgets, [budget('web', { maxUnavailable: UNAVAILABLE })]],
        [DRAIN_COLLECTIONS.deployments, [deployment('web', ALL_PODS)]],
      ],
      pods: ALL_PODS,
      spares: { count: 2 },
    });
    await killAtEachPhase(harness, scene, comesMs);

    const steps = stepsOf(harness);
    const nodeOf = nodesOfPods(steps);
    const calls = evictionsOf(harness, scene);
    harness.is('one deadline each', deadlineCounts(harness, scene), {
      ...Object.fromEntries(scene.machines.map((node) => [node, 1])),
    });
    const strangers = calls.filter(({ uid }) => !scene.machines.includes(nodeOf.get(uid) ?? ''));
    harness.is('no other pod is evicted', strangers, []);
    harness.is('no eviction before its cordon', evictedBeforeCordon(harness, scene, nodeOf), []);
    const accepted = calls.filter(({ code }) => code === 201).map(({ uid }) => uid);
    harness.is('every pod leaves once', new Set(accepted).size, accepted.length);
    harness.is('all have left', accepted.length, ALL_PODS);
    const broken = brokenBudgets(steps, [{ app: 'web', healthy: ALL_PODS - UNAVAILABLE }]);
    harness.is('the budget is kept at every change', broken, []);
    const acked = new Set(acksOf(harness).map(({ instructionId }) => instructionId));
    const annotations = scene.machines.flatMap((node) =>
      reclaimAnnotation(nodeAt(harness, node))?.ids ?? []
    );
    // The instruction lost with the first operator cannot be acked: it is recovered by its machine
    // (DR-14).
    const [first = ''] = scene.machines;
    const lost = annotations.filter((id) => !acked.has(id));
    harness.is('instructions on Nodes are acked', lost, [`${UNACKED}${first}`]);
  },
});

export const drainKilled = killed('drain-killed', 13, 2000);
export const drainKilledStandby = killed('drain-killed-standby', 14, undefined);

const SHORT_GRACE_SECONDS = 120;
/** The end is written within this time of the deadline. */
const ENDING_MS = 2000;

export const drainKilledBlocked: Scenario = {
  name: 'drain-killed-blocked',
  shows: 'DR-13: a drain that resumes after a kill keeps its deadline',
  siteOptions: drainSiteOptions(20),
  play: async (harness) => {
    const scene = await setDrainScene(harness, {
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
    reclaimEach(harness, machines, SHORT_GRACE_SECONDS);
    await harness.until(
      'the key is written',
      () => reclaimAnnotation(nodeAt(harness, node))?.ended === '',
    );
    const deadlineMs = reclaimAnnotation(nodeAt(harness, node))?.deadlineMs ?? 0;
    await harness.wait(SHORT_GRACE_SECONDS * 1000 / 2);
    harness.processes.crash(2000);
    harness.is('the drain fails', await untilEnded(harness, machines), { [node]: 'Failed' });
    const lateMs = harness.time.now() - deadlineMs;
    harness.is('at its deadline', lateMs >= 0 && lateMs < ENDING_MS, true);
    harness.is('one deadline', deadlineCounts(harness, scene), { [node]: 1 });
    harness.is('no pod is evicted', evictionsOf(harness, scene), []);
  },
};
