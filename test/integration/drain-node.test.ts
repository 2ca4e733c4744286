/** `tidegate drain NODE` beside `kubectl drain NODE`, on random small clusters. */
import { beforeAll, describe, expect, test } from 'vitest';
import { binaries } from '../../tools/testbed/binaries.ts';
import { drainByKubectl, drainByTidegate, outcomeOf } from '../support/drains/drain-comparison.ts';
import { drainCase } from '../support/drains/drain-cases.ts';
import { freshSeeds } from '../support/fresh-seeds.ts';
import { atScale } from '../support/scale.ts';

const SEEDS = [1, 2, 3, 4, 5, 6].slice(0, atScale({ commit: 2, release: 6 }));

describe('tidegate drain and kubectl drain', () => {
  let kubectl = '';
  beforeAll(async () => {
    kubectl = (await binaries(() => {})).kubectl;
  });

  test.each([...SEEDS, ...freshSeeds(2, 'seed of test/integration/drain-node.test.ts')])(
    'the same pods leave, the same stay, and the exit code is the same: seed %i',
    { timeout: 300_000 },
    async (seed) => {
      const asked = drainCase(seed);
      const theirs = await drainByKubectl(asked, kubectl);
      const ours = await drainByTidegate(asked);
      const facts = JSON.stringify({ asked, theirs, ours }, null, 1);
      expect(outcomeOf(ours), facts).toEqual(outcomeOf(theirs));
      expect(ours.maintenances).toBe(0);
    },
  );
});
