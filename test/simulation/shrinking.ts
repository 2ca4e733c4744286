/**
 * Makes the story of a broken world smaller while it still breaks the same invariant.
 *
 * Promises: gives a world that was played and broke the invariant; takes scenes away first, then
 * apps, then the standby; stops after so many tries, because a small story is wanted and not the
 * smallest that there is.
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

/** Plays a plan. */
export type Play = (plan: WorldPlan) => Promise<Pick<WorldReport, 'plan' | 'breach'>>;

/** The smallest broken world that was found. */
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
