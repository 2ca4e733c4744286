/**
 * Shrinks the plan of a failing world while it still breaks the same invariant.
 *
 * Promises: returns an executed world that broke the invariant; removes steps first, then apps,
 * then the standby; the number of tries is limited, because a small plan is enough.
 */
import type { WorldPlan } from './world-plan.ts';
import { runWorld, type WorldReport } from './world-run.ts';

const TRIES_MAX = 60;

const without = <T>(list: readonly T[], from: number, count: number): readonly T[] => [
  ...list.slice(0, from),
  ...list.slice(from + count),
];

/** Smaller plans, the smallest first. */
function* smaller(plan: WorldPlan): Generator<WorldPlan> {
  for (let size = plan.scenes.length; size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < plan.scenes.length; from += size) {
      yield { ...plan, scenes: without(plan.scenes, from, size) };
    }
  }
  for (let at = 0; at < plan.apps.length; at += 1) {
    yield { ...plan, apps: without(plan.apps, at, 1) };
  }
  if (plan.standby) yield { ...plan, standby: false };
}

/** Executes a plan. */
export type Play = (plan: WorldPlan) => Promise<Pick<WorldReport, 'plan' | 'breach'>>;

/** The smallest failing world that was found. */
export const shrunk = async (
  broken: Pick<WorldReport, 'plan' | 'breach'>,
  play: Play = runWorld,
): Promise<Pick<WorldReport, 'plan' | 'breach'>> => {
  let best = broken;
  let tries = 0;
  for (let found = true; found && tries < TRIES_MAX;) {
    found = false;
    for (const plan of smaller(best.plan)) {
      if (tries >= TRIES_MAX) break;
      tries += 1;
      const report = await play(plan);
      if (report.breach?.invariant !== broken.breach?.invariant) continue;
      best = report;
      found = true;
      break;
    }
  }
  return best;
};
