/**
 * When the calm phase of a plan begins. Found by worlds 149, 271, 276 and 277: a process that
 * started during a slow list was still in it after the faults had ended, and requested the lease
 * only then, while the invariants assumed calm and missed the ends of its drains.
 */
import { expect, test } from 'vitest';
import type { Weather } from '../../simulation/api-line.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { embeddedSite } from '../../simulation/embedded-site.ts';
import { TAKEOVER_MS } from '../../simulation/operator-processes.ts';
import { planRunner } from '../../simulation/plan-runner.ts';
import { worldPlan } from '../../simulation/world-plan.ts';

test('SlowList is a fault until the last slow list has its answer and a process leads', async () => {
  const plan = worldPlan(1);
  const site = embeddedSite(plan, simulatedTime());
  const seen = { troubleMs: 0, weatherMs: 0, oneWayMs: 0 };
  const trouble = (forMs: number): void => {
    seen.troubleMs = Math.max(seen.troubleMs, forMs);
  };
  const nothing = (): void => {};
  planRunner(site, plan, {
    crash: nothing,
    replace: nothing,
    freeze: nothing,
    cutOffLeader: nothing,
    holdFrames: nothing,
    cutOffStandby: nothing,
    weather: (change: Partial<Weather>, forMs) => {
      trouble(forMs);
      seen.weatherMs = forMs;
      seen.oneWayMs = change.slowListMs ?? 0;
    },
    dropWatches: nothing,
    trouble,
    schedule: nothing,
    startedWithin: () => false,
    cordonedByPerson: new Set(),
  })({ _tag: 'SlowList', collection: '/nodes', forMs: 40_000 });
  await site.stop();
  expect(seen.weatherMs).toBe(40_000);
  const listedMs = seen.weatherMs + 2 * seen.oneWayMs;
  expect(seen.troubleMs).toBeGreaterThanOrEqual(listedMs + TAKEOVER_MS);
});
