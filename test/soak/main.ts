/**
 * `npm run soak [-- ROUNDS [SEED]]`: kills the operator in the middle of drains, and writes
 * `docs/soak.md` when it was asked for as many rounds as the page is about.
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
    '# Killed in the middle of drains',
    '',
    'What `npm run soak` said the last time that it did all its rounds; `npm run soak -- 20 7` does',
    '20 with seed 7, and every CI run does 20 by the same code. The same seed kills after the same',
    'times.',
    '',
    'In each round two machines with 16 pods are taken back, 6 of the pods behind a budget with a',
    'single slot, and the leader is killed (SIGKILL) at a random moment of the drains. In half of',
    'the rounds a standby takes over, in the others a new process is started. In one of twenty the',
    'single slot is left charged for a pod that is still there, as the API server leaves it when',
    'its caller dies between the charge and the deletion: nobody else gets it for two minutes, of',
    'which the round waits for the last 45 s, and an Event and `tidegate drain status` must say so.',
    'Where a kill itself cuts a call like that, the round waits for all of the two minutes.',
    '',
    'After each round the audit log, a watch of all pods and what stands in the cluster are asked,',
    'never the operator itself:',
    '',
    '- no drain was lost: both Nodes say Drained, and so do their UpcomingNodes;',
    '- no deadline moved, and every instruction that reached a Node was acknowledged;',
    '- nothing was evicted before the cordon of its node, twice, or where it does not run;',
    '- no call was aborted but by the kill;',
    '- no budget was broken at any event of the watch;',
    '- the end is that of a run that was not killed (round 0): all pods elsewhere, and ready.',
    '',
    'What it does not do: kill the API server (the end-to-end suites do), or run for days.',
    '',
    '## What came of it',
    '',
    ...soakSummary(rounds, seed).map((line) => `- ${line}`),
    '',
  ].join('\n');

const [asked = String(ROUNDS), seedText = String(Math.floor(realTime.now()) >>> 0)] = process.argv
  .slice(2);
const seed = Number(seedText);
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

say(`seed ${seed}`);
const bed = await startTestbed({
  controllers: true,
  scheduler: true,
  kwok: true,
  podReadyMs: 200,
  podDeleteMs: 400,
});
try {
  const rounds = await soakDrains({ bed, start: spawnTidegate, rounds: Number(asked), seed, say });
  for (const line of soakSummary(rounds, seed)) say(line);
  if (rounds.some(({ problems }) => problems.length > 0)) process.exitCode = 1;
  else if (Number(asked) >= ROUNDS) await writeFile(PAGE, page(rounds, seed));
} finally {
  await bed.stop();
}
