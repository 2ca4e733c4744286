/**
 * `npm run soak [-- ROUNDS [SEED]]`: kills the operator in the middle of drains, and writes
 * `docs/soak.md` for the number of rounds that the page documents.
 */
import { writeFile } from 'node:fs/promises';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { realTime } from '../../src/effects/real-time.ts';
import { startTestbed } from '../../tools/testbed/testbed.ts';
import { spawnTidegate } from '../support/processes/tidegate-child.ts';
import { soakDrains } from './killed-drains.ts';
import { type Round, soakSummary } from './round-report.ts';

const ROUNDS = 200;
const PAGE = fileURLToPath(new URL('../../docs/soak.md', import.meta.url));

const page = (rounds: readonly Round[], seed: number): string =>
  [
    '# Soak test: kills during drains',
    '',
    'The results of `npm run soak`. `npm run soak -- 20 7` runs 20 rounds with seed 7, and every CI run',
    'does four rounds with the same code. Equal seeds kill after equal times.',
    '',
    'Each round reclaims two machines with 16 pods, 6 of them under a budget with a single slot. The',
    'leader is killed (SIGKILL) at a random moment of the drains. In half of the rounds a standby takes',
    'over; in the others a new process starts. In one round of twenty the single slot stays charged for',
    'a pod that still exists. The API server leaves this state when its client dies between the charge',
    'and the deletion. The slot is then blocked for two minutes, of which the round waits for the last',
    '45 s; an Event and `tidegate drain status` must show the reason. When the kill itself cuts such a',
    'call, the round waits for the full two minutes.',
    '',
    'After each round the audit log, a watch of all pods and the objects in the cluster are checked,',
    'never the operator itself:',
    '',
    '- no drain was lost: both Nodes and their UpcomingNodes show Drained;',
    '- no deadline moved, and every instruction that reached a Node was acknowledged;',
    '- no pod was evicted before the cordon of its node, twice, or on another node;',
    '- only the kill aborted calls;',
    '- no budget was violated at any event of the watch;',
    '- the result equals a run without a kill (round 0): all pods on other nodes and ready.',
    '',
    'Not covered: a killed API server (the end-to-end suites do that), and runs of days.',
    '',
    '## Results',
    '',
    ...soakSummary(rounds, seed).map((line) => `- ${line}`),
    '',
  ].join('\n');

const [asked = String(ROUNDS), seedText = String(Math.floor(realTime.now()) >>> 0)] = process.argv
  .slice(2);
const seed = Number(seedText);
const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

print(`seed ${seed}`);
const bed = await startTestbed({
  controllers: true,
  scheduler: true,
  kwok: true,
  podReadyMs: 200,
  podDeleteMs: 400,
});
try {
  const rounds = await soakDrains({
    bed,
    start: spawnTidegate,
    rounds: Number(asked),
    seed,
    print,
  });
  for (const line of soakSummary(rounds, seed)) print(line);
  if (rounds.some(({ problems }) => problems.length > 0)) process.exitCode = 1;
  else if (Number(asked) >= ROUNDS) await writeFile(PAGE, page(rounds, seed));
} finally {
  await bed.stop();
}
