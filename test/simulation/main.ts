/**
 * `npm run simulate -- [--seeds N] [--seed S] [--log] [--planted]`: worlds from seeds, each played
 * to its rest.
 *
 * Promises: a seed that breaks a law prints the command that plays it again and the smallest story
 * that still breaks the same law; the exit code is 1 when a law was broken.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { sceneText } from './story.ts';
import { shrunk } from './shrinking.ts';
import { worldPlan } from './world-plan.ts';
import { runWorld, type WorldReport } from './world-run.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    log: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: true },
    'no-shrink': { type: 'boolean', default: false },
  },
});

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const sayBreach = ({ plan, breach }: WorldReport): void => {
  if (breach === undefined) return;
  const at = Math.round(breach.atMs / 1000);
  say(`seed ${plan.seed}: the law "${breach.law}" is broken after ${at} s: ${breach.what}`);
  say(`  npm run simulate -- --seed ${plan.seed}`);
};

const sayPlan = ({ plan, breach }: WorldReport): void => {
  say(`  the smallest story that breaks it (${breach?.what ?? ''}):`);
  say(
    `  ${plan.nodes} nodes, ${plan.standby ? 'a standby, ' : ''}apps ${
      plan.apps.map(({ name, replicas }) => `${name}×${replicas}`).join(' ')
    }`,
  );
  for (const { atMs, act } of plan.scenes) say(`  ${atMs} ms: ${sceneText(act)}`);
};

const first = Number(values.seed);
const count = Number(values.seeds);
const beganMs = performance.now();
let simulatedMs = 0;
let evictions = 0;
let breaches = 0;
for (let seed = first; seed < first + count; seed += 1) {
  const report = await runWorld(worldPlan(seed));
  simulatedMs += report.simulatedMs;
  evictions += report.evictions;
  if (values.log) say(report.log.join('\n'));
  if (report.breach === undefined) continue;
  breaches += 1;
  sayBreach(report);
  if (!values['no-shrink']) sayPlan(await shrunk(report));
}
const tookS = (performance.now() - beganMs) / 1000;
if (!values.log) {
  say(
    `${count} worlds, ${Math.round(simulatedMs / 1000)} simulated seconds in ${
      tookS.toFixed(1)
    } s (${Math.round(simulatedMs / 1000 / tookS)}× real time), ${evictions} evictions, ` +
      `${breaches} broken`,
  );
}
process.exit(breaches === 0 ? 0 : 1);
