/**
 * Every command in the documentation is one that the program understands, also where the documents
 * cannot be run, and the alerts use what exists.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { METRICS } from '../../../src/api/metrics.ts';
import { type Roles, runProgram } from '../../../src/cli/program.ts';
import { listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import { statusColumns } from '../../../src/view/drain-status-table.ts';
import { evictionColumns } from '../../../src/view/eviction-status.ts';
import { commandBlocks } from '../../support/documents/fenced-blocks.ts';
import { brokenLinks, pages } from '../../tidy/links.ts';
import { PROJECT } from '../../tidy/source-file.ts';
import { PLAIN_TERMINAL } from '../../support/terminal/plain-terminal.ts';

const done = (): Promise<0> => Promise.resolve(0);

const ROLES: Roles = {
  operator: done,
  pods: done,
  fleet: done,
  cluster: done,
  explain: done,
  doctor: done,
  tree: done,
  drainNodes: done,
  drainStatus: done,
  drainPlan: done,
  drainAcknowledge: done,
  maintenancePlan: () => Promise.resolve(0),
  evict: done,
  evictions: done,
  maintenanceShow: done,
  maintenanceStart: done,
  maintenanceMove: done,
  nodeStatus: done,
  nodeDisable: done,
  nodeEnable: done,
  nodeConfirmGone: done,
  chartsExport: done,
  chartsDiff: done,
  demo: done,
  replay: done,
};

const COMMAND =
  /(?:^|[|;&(] *|-- |until )(?:tidegate|npx node src\/main\.ts) (?<given>[^|;&>#\n]*)/gm;

/** The command lines of the program in some commands of a shell, as lists of words. */
const commandLines = (commands: string): readonly (readonly string[])[] =>
  [...commands.replaceAll(/\\\n/g, ' ').matchAll(COMMAND)].map((match) =>
    (match.groups?.['given'] ?? '').replaceAll(/["')…]/g, ' ').trim().split(/\s+/)
  );

const problemOf = async (given: readonly string[]): Promise<string | undefined> => {
  let reported = '';
  const code = await runProgram(given, ROLES, {
    print: (text) => void (reported += text),
    report: (line) => void (reported += line),
    ...PLAIN_TERMINAL,
  });
  return code === 0 ? undefined : `${given.join(' ')}: ${reported}`;
};

const DOCUMENTED = pages().map(({ path }) => path)
  .map((path) => ({
    path,
    given: commandBlocks(path).flatMap(({ commands }) => commandLines(commands)),
  }))
  .filter(({ given }) => given.length > 0);

test('commands are found within pipes, loops and continued lines', () => {
  const commands =
    'tidegate tree \\\n  n1\nuntil tidegate drain status "$n" | grep x; do :; done\n' +
    'node=$(tidegate version)\n';
  expect(commandLines(commands)).toEqual([
    ['tree', 'n1'],
    ['drain', 'status', '$n'],
    ['version'],
  ]);
});

test('the documents have commands', () => {
  expect(DOCUMENTED.map(({ path }) => path)).toContain('docs/runbooks.md');
  expect(DOCUMENTED.length).toBeGreaterThan(8);
});

test.each(DOCUMENTED)('the program understands every command of $path', async ({ given }) => {
  const problems = await Promise.all(given.map(problemOf));
  expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
});

test('no document forwards a port of any replica: a standby has neither session nor drains', () => {
  const commands = pages().flatMap(({ text }) => text.match(/port-forward\s+deploy\S*/g) ?? []);
  expect(commands).toEqual([]);
});

test('a flag that does not exist is found', async () => {
  expect(await problemOf(['drain', 'status', '--nowhere'])).toContain('--nowhere');
});

/** The sections of the reference, each with its command. */
const REFERENCE = readFileSync(`${PROJECT}docs/reference/cli.md`, 'utf8').split(/^## tidegate /m)
  .slice(1).map((section) => ({
    command: /^[a-z-]+(?: [a-z-]+)*/.exec(section)?.[0] ?? '',
    section: section.split(/^## /m)[0] ?? '',
  }));

/** Flags that every command has. */
const GLOBAL_FLAGS = new Set(['--help', '--version']);

const flagsOf = async (command: string): Promise<readonly string[]> => {
  let help = '';
  await runProgram([...command.split(' '), '--help'], ROLES, {
    print: (text) => void (help += text),
    report: () => {},
    ...PLAIN_TERMINAL,
  });
  const flags = [...help.matchAll(/^ +(?:-\w, )?(?<flag>--[a-z-]+)/gm)]
    .flatMap(({ groups }) => groups?.['flag'] ?? []);
  return flags.filter((flag) => !GLOBAL_FLAGS.has(flag));
};

test.each(REFERENCE)('the reference has each flag of $command', async ({ command, section }) => {
  const flags = await flagsOf(command);
  expect(flags.filter((flag) => !new RegExp(`\`[^\`]*${flag}\\b`).test(section))).toEqual([]);
});

const HEADINGS = {
  'drain status': statusColumns(0, true).map(({ heading }) => heading),
  evictions: evictionColumns(0, { wide: true, namespaced: true }).map(({ heading }) => heading),
};

test.each(Object.entries(HEADINGS))('the reference has each column of %s', (name, headings) => {
  const section = REFERENCE.find(({ command }) => command === name)?.section ?? '';
  const words = headings.map((heading) => heading.replace(/\(.*/, ''));
  expect(words.filter((word) => !section.includes(`\n| ${word} |`))).toEqual([]);
});

test('flags are found in the help', async () => {
  expect(await flagsOf('evictions')).toEqual(expect.arrayContaining(['--output', '--kubeconfig']));
});

const ALERTS = listOrEmptyAt(
  parse(readFileSync(`${PROJECT}docs/tasks/alerts.yaml`, 'utf8')),
  'groups',
).flatMap((group) => listOrEmptyAt(group, 'rules')).map((rule) => ({
  alert: textAt(rule, 'alert') ?? '',
  expr: textAt(rule, 'expr') ?? '',
  runbook: textAt(rule, 'annotations', 'runbook') ?? '',
}));

test.each(ALERTS)('$alert uses metrics and labels that exist', ({ expr }) => {
  const known = new Map(
    Object.entries(METRICS).map(([name, { labels }]) => [name, labels] as const),
  );
  const used = [
    ...expr.replaceAll(/"[^"]*"/g, '').matchAll(/(?<metric>[a-z]+_[a-z_]+)(?:\{(?<label>\w+)=)?/g),
  ];
  expect(used.length).toBeGreaterThan(0);
  for (const { groups } of used) {
    const labels: readonly string[] | undefined = known.get(groups?.['metric'] ?? '');
    expect(labels).toBeDefined();
    if (groups?.['label'] !== undefined) expect(labels).toContain(groups['label']);
  }
});

test('each alert leads to a runbook, and the page about monitoring explains it', () => {
  const links = ALERTS.map(({ alert, runbook }) => `[${alert}](${runbook})`).join('\n');
  expect(brokenLinks({ path: 'alerts.md', text: links })).toEqual([]);
  const page = readFileSync(`${PROJECT}docs/tasks/monitor.md`, 'utf8');
  for (const { alert } of ALERTS) expect(page).toContain(`\`${alert}\``);
});
