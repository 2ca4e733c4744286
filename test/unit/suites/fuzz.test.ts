/**
 * Made inputs for every reader, a small share of `npm run fuzz`: the inputs that once failed, and
 * those of a seed that is drawn for this run.
 */
import { describe, expect, test } from 'vitest';
import { corpusOf } from '../../fuzz/corpus.ts';
import { fuzz } from '../../fuzz/fuzz-run.ts';
import { FUZZ_SHARES } from '../../fuzz/targets.ts';
import { freshSeeds } from '../../support/fresh-seeds.ts';

const COUNT = 6000;
const [seed = 1] = freshSeeds(1, `npm run fuzz -- ${COUNT}`);

describe.runIf('threadCpuUsage' in process)('a reader answers any input, and soon', () => {
  test.each(FUZZ_SHARES.map(({ target, share }) => ({ name: target.name, target, share })))(
    '$name',
    async ({ target, share }) => {
      const corpus = corpusOf(target.name).map(({ input }) => input);
      const count = target.seeds.length + corpus.length + Math.ceil(COUNT * share);
      const { failures, outcomes } = await fuzz({ target, count, seed, corpus });
      expect(failures).toEqual([]);
      expect(outcomes.size).toBeGreaterThan(target.seeds.length);
    },
  );
});
