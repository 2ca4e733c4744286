/** Failing worlds are shrunk before a person reads them. */
import { expect, test } from 'vitest';
import { shrunk } from '../../simulation/shrinking.ts';
import { type WorldPlan, worldPlan } from '../../simulation/world-plan.ts';

const breach = { invariant: 'an invariant', what: 'it is broken', atMs: 1 };

test('a plan is shrunk to the step that breaks the invariant, and keeps breaking it', async () => {
  const plan = worldPlan(1);
  let executed = 0;
  const play = (tried: WorldPlan) => {
    executed += 1;
    const breaks = tried.scenes.some(({ act }) => act._tag === 'Burst');
    return Promise.resolve({ plan: tried, breach: breaks ? breach : undefined });
  };
  const small = await shrunk({ plan, breach }, play);
  expect(small.breach).toEqual(breach);
  expect(small.plan.scenes.map(({ act }) => act._tag)).toEqual(['Burst']);
  expect(small.plan.apps.length).toBeLessThan(plan.apps.length);
  expect(executed).toBeLessThanOrEqual(60);
});

test('another invariant that breaks during shrinking is not the same failure', async () => {
  const plan = worldPlan(2);
  const play = (tried: WorldPlan) =>
    Promise.resolve({ plan: tried, breach: { ...breach, invariant: 'another invariant' } });
  expect((await shrunk({ plan, breach }, play)).plan).toEqual(plan);
});
