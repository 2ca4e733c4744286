/**
 * `npm run attack [-- --only WORD]`: plays attacks on a running operator, one after another.
 *
 * Promises: prints a line for each attack with its answer and the longest stall; exits with 1 when
 * one got through, and names it.
 */
import process from 'node:process';
import { realTime } from '../../src/effects/real-time.ts';
import { type Attack, reportText } from './attack.ts';
import { ATTACKS } from './catalogue.ts';
import { startSite } from './site.ts';
import { evaluate } from './verdict.ts';

const HELP = `npm run attack [-- --only WORD]

Plays attacks of tenants, shards, kubelets, visitors of the live page and the network on a running
operator, with an embedded cluster. After each one the operator must have reported it, still lead,
work as before, and never have stalled for more than 200 ms.

  --only WORD   Only attacks whose name, attacker or bound contains it
  --help        This text
`;

const LOG_LINES = 8;

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const matches = ({ name, who, bound }: Attack, word: string): boolean =>
  [name, who, bound].some((text) => text.toLowerCase().includes(word.toLowerCase()));

const answerOf = ({ reports }: Attack): string => reports.map(reportText).join(', ');

const playAll = async (attacks: readonly Attack[]): Promise<readonly string[]> => {
  const site = await startSite();
  const failures: string[] = [];
  try {
    for (const attack of attacks) {
      const { breach, stall } = await evaluate(site, attack);
      const stalled = `${Math.round(stall.delayMs)} ms, ${Math.round(stall.cpuMs)} ms of its own`;
      const answer = breach === undefined ? answerOf(attack) : `GOT THROUGH: ${breach}`;
      print(
        `${
          breach === undefined ? 'ok  ' : 'FAIL'
        } ${attack.who}: ${attack.name} · ${answer} · ${stalled}`,
      );
      if (breach === undefined) continue;
      failures.push(attack.name);
      for (const line of site.operator.logs().slice(-LOG_LINES)) {
        print(`     ${JSON.stringify(line)}`);
      }
      if (!site.operator.isRunning()) break;
    }
  } finally {
    await site.stop();
  }
  return failures;
};

const main = async (args: readonly string[]): Promise<number> => {
  if (args.includes('--help')) {
    print(HELP);
    return 0;
  }
  const at = args.indexOf('--only');
  const word = at < 0 ? '' : args[at + 1] ?? '';
  const chosen = ATTACKS.filter((attack) => matches(attack, word));
  if (chosen.length === 0) {
    print(`No attack has "${word}" in its name, attacker or bound`);
    return 2;
  }
  const startMs = realTime.monotonic();
  const failures = await playAll(chosen);
  const seconds = Math.round((realTime.monotonic() - startMs) / 1000);
  print(`${chosen.length} attacks in ${seconds} s, ${failures.length} got through`);
  for (const name of failures) print(`  ${name}`);
  return failures.length === 0 ? 0 : 1;
};

process.exit(await main(process.argv.slice(2)));
