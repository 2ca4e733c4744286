/** The operator is killed in the middle of drains; `npm run soak` does the same for hours. */
import { expect, it } from 'vitest';
import { soakDrains } from '../soak/killed-drains.ts';
import { soakSummary } from '../soak/round-report.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { startTidegate } from '../support/processes/tidegate-process.ts';
import { atScale } from '../support/scale.ts';

const BED = {
  controllers: true,
  scheduler: true,
  kwok: true,
  podReadyMs: 200,
  podDeleteMs: 400,
};
const ROUNDS = atScale({ commit: 1, release: 20 });
const SEED = 20_261_121;

describeWithTestbed('drains whose operator is killed', BED, (bed) => {
  it('DR-13: none is lost, no deadline moves, and no other pod is evicted', async () => {
    const lines: string[] = [];
    const rounds = await soakDrains({
      bed: bed(),
      start: startTidegate,
      rounds: ROUNDS,
      seed: SEED,
      print: (line) => lines.push(line),
    });
    process.stderr.write(`${[...lines, ...soakSummary(rounds, SEED)].join('\n')}\n`);
    expect(rounds.flatMap(({ number, problems }) => problems.map((one) => `${number}: ${one}`)))
      .toEqual([]);
    expect(rounds.length).toBe(ROUNDS + 1);
  });
});
