/**
 * Random maintenances over random nodes, drained pod by pod in a random order, beside another
 * implementation of the rank rule.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DrainPod } from '../../../../src/domain/drain/pod.ts';
import { type DrainPlanEntry, rankOf } from '../../../../src/domain/node-maintenance/drain-plan.ts';
import {
  type DrainProgress,
  type NeighbourRule,
  resolveProgress,
} from '../../../../src/domain/node-maintenance/drain-progress.ts';
import { hasLeavingPods } from '../../../../src/domain/node-maintenance/drain-step.ts';
import {
  type DrainTargets,
  isOver,
  type PlanRun,
  reachedRank,
} from '../../../../src/domain/node-maintenance/drain-targets.ts';
import { type Draw, drawBelow, drawOne, drawsFrom } from '../../../support/draws.ts';
import { entryOf, podOfType, runOf } from '../../../support/node-maintenance/plan-runs.ts';
import {
  oracleIsOver,
  oracleTargets,
  type TargetOracle,
  targetOracle,
} from '../../../support/node-maintenance/target-oracle.ts';

const CASES = 4000;
const APPS = ['web', 'postgres', 'redis'];
const PRIORITIES = [1000, 2000, 3000, 4000];
const TYPES = ['Default', 'Default', 'DaemonSet'] as const;

const drawPlan = (draw: Draw): readonly DrainPlanEntry[] => {
  const entries = Array.from({ length: 1 + drawBelow(draw, 4) }, () =>
    entryOf(
      drawOne(draw, PRIORITIES) ?? 0,
      drawOne(draw, TYPES),
      draw() < 0.5 ? undefined : drawOne(draw, APPS),
    ));
  const ordered = entries.toSorted((left, right) => rankOf(left) - rankOf(right));
  return [...ordered, entryOf(5000), entryOf(5000, 'DaemonSet')];
};

const nodeNames = (draw: Draw): readonly string[] =>
  Array.from({ length: 1 + drawBelow(draw, 5) }, (_, index) => `n${index}`);

const drawRun = (draw: Draw, index: number, nodes: readonly string[]): PlanRun => {
  const chosen = nodes.filter(() => draw() < 0.5);
  const plan = drawPlan(draw);
  const run = runOf(`m${index}`, chosen.length === 0 ? nodes.slice(0, 1) : chosen, []);
  return { ...run, createdMs: index, plan };
};

const drawPod = (draw: Draw, node: string): DrainPod =>
  podOfType(drawOne(draw, TYPES) ?? 'Default', {
    node,
    priority: drawBelow(draw, 5001),
    labels: { app: drawOne(draw, APPS) ?? '' },
  });

interface Drill {
  readonly draw: Draw;
  readonly nodes: readonly string[];
  readonly oracle: TargetOracle;
  progress: DrainProgress;
  pods: readonly DrainPod[];
  /** Maintenances that are created while others drain. */
  arriving: readonly PlanRun[];
}

const drillOf = (seed: number): Drill => {
  const draw = drawsFrom(seed);
  const nodes = nodeNames(draw);
  const runs = Array.from(
    { length: 1 + drawBelow(draw, 4) },
    (_, index) => drawRun(draw, index, nodes),
  );
  const arriving = runs.slice(1).filter(() => draw() < 0.4);
  return {
    draw,
    nodes,
    oracle: targetOracle(),
    progress: { runs: runs.filter((run) => !arriving.includes(run)), targets: new Map() },
    pods: nodes.flatMap((node) =>
      Array.from({ length: drawBelow(draw, 5) }, () => drawPod(draw, node))
    ),
    arriving,
  };
};

const targetedIn = ({ pods, progress }: Drill): readonly DrainPod[] =>
  pods.filter((pod) => hasLeavingPods([pod], progress.targets.get(pod.node) ?? []));

/** One resolution; nothing goes down. */
const resolve = (drill: Drill, rule: NeighbourRule): void => {
  const before = drill.progress;
  const targetedBefore = targetedIn(drill);
  drill.progress = resolveProgress(
    before,
    (node, targets) => hasLeavingPods(drill.pods.filter((pod) => pod.node === node), targets),
    rule,
  );
  const targeted = new Set(targetedIn(drill));
  const isLower = (node: string, targets: DrainTargets): boolean =>
    reachedRank(drill.progress.targets.get(node) ?? []) < reachedRank(targets);
  const wentDown = targetedBefore.some((pod) => !targeted.has(pod)) ||
    [...before.targets].some(([node, targets]) => isLower(node, targets)) ||
    before.runs.some(({ cursor }, index) => (drill.progress.runs[index]?.cursor ?? -1) < cursor);
  // Called a hundred thousand times: too often for an assertion that passes.
  if (wentDown) expect(drill.progress).toBe(before);
};

/** Changes the cluster at random; false when nothing can change any more. */
const change = (drill: Drill): boolean => {
  const [arriving, ...others] = drill.arriving;
  const targeted = targetedIn(drill);
  if (arriving !== undefined && (targeted.length === 0 || drill.draw() < 0.2)) {
    drill.progress = { ...drill.progress, runs: [...drill.progress.runs, arriving] };
    drill.arriving = others;
    return true;
  }
  const leaving = drawOne(drill.draw, targeted);
  if (leaving === undefined) return false;
  drill.pods = drill.pods.filter((pod) => pod !== leaving);
  // A pod that tolerates the cordon, or names the node.
  if (drill.draw() < 0.1) drill.pods = [...drill.pods, drawPod(drill.draw, leaving.node)];
  return true;
};

const drainAll = (seed: number, rule: NeighbourRule, check: (drill: Drill) => void): Drill => {
  const drill = drillOf(seed);
  do {
    resolve(drill, rule);
    check(drill);
  } while (change(drill));
  return drill;
};

const seeds = fc.integer({ min: 1, max: 2 ** 31 - 1 });
const emptied = ({ nodes, pods, progress }: Drill): boolean =>
  nodes.filter((node) => progress.targets.has(node))
    .every((node) => !pods.some((pod) => pod.node === node));

test('NM-36: random maintenances target the pods of the rank rule, and all of them end', () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const drill = drainAll(seed, 'strict', (now) => {
        const wanted = oracleTargets(now.oracle, now.progress.runs, now.pods);
        const targeted = targetedIn(now);
        const isSame = targeted.length === wanted.length &&
          targeted.every((pod, index) => pod === wanted[index]);
        if (!isSame) expect(targeted).toEqual(wanted);
      });
      expect(drill.progress.runs.every(isOver)).toBe(true);
      expect(oracleIsOver(drill.oracle, drill.progress.runs)).toBe(true);
      expect(emptied(drill)).toBe(true);
    }),
    { numRuns: CASES },
  );
});

test('NM-35: in the minimal reading, too, all random maintenances end', () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const drill = drainAll(seed, 'minimal', () => {});
      expect(drill.progress.runs.every(isOver)).toBe(true);
      expect(emptied(drill)).toBe(true);
    }),
    { numRuns: CASES / 4 },
  );
});
