/**
 * `npm run soak [-- ROUNDS [SEED]]`: kills the operator in the middle of drains, and writes
 * `docs/soak.md` when it was asked for as many rounds as the page is about.
 */
import { writeFile } from 'node:fs/promises';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { realTime } from '../../src/effects/real-time.ts';
import { startTestbed } from '../../tools/testbed/testbed.ts';
import { spawnTidegate } from '../support/tidegate-child.ts';
import { type Round, roundLine, soakDrains, soakSummary } from './killed-drains.ts';

const ROUNDS = 200;
const PAGE = fileURLToPath(new URL('../../docs/soak.md', import.meta.url));

const page = (rounds: readonly Round[], seed: number): string =>
  [
    '# Killed in the middle of drains',
    '',
    'What `npm run soak` said the last time that it did all its rounds. In each round two machines',
    'with 16 pods are taken back, 6 of the pods behind a budget with a single slot, and the leader',
    'is killed (SIGKILL) at a random moment. Afterwards it is checked by the audit log and by a',
    'watch that no drain was lost, no deadline moved, nothing was evicted before its cordon or',
    'twice or where it was not, no call was aborted but by the kill, no budget was broken, and the',
    'end is that of a run that was not killed.',
    '',
    ...soakSummary(rounds, seed).map((line) => `- ${line}`),
    '',
    '```text',
    ...rounds.map(roundLine),
    '```',
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
