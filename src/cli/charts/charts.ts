/**
 * `tidegate charts`: exports the lifecycles of this version, and compares them with a revision of
 * the repository.
 *
 * Promises: exit code 2 for an unknown machine or format, 3 for a revision without charts; stdout
 * has only charts or differences.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type Chart, chartOf, type DrawnMachine } from '../../view/chart/chart.ts';
import {
  arrowMark,
  type ChartDiff,
  chartDiff,
  chartDiffText,
  stateMarks,
} from '../../view/chart/chart-diff.ts';
import { chartFile, chartFiles, chartFromJson } from '../../view/chart/chart-file.ts';
import { CHART_FORMATS, type ChartFormat } from '../../view/chart/chart-format.ts';
import { placedChart } from '../../view/chart/chart-layout.ts';
import { chartSvg } from '../../view/chart/chart-svg.ts';
import type { ChartsDiffRequest, ChartsExportRequest } from './charts-request.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { failureSentence, unknownWord } from '../failures.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The machines of this version by name. */
export type Machines = Readonly<Record<string, DrawnMachine>>;

/** The folder with the committed charts of a revision. */
const FOLDER = 'docs/lifecycles';

const unknownMachine = (machines: Machines, asked: readonly string[]): string | undefined => {
  const unknown = asked.find((name) => !Object.hasOwn(machines, name));
  return unknown === undefined ? undefined : unknownWord('machine', unknown, Object.keys(machines));
};

const chosen = (machines: Machines, asked: readonly string[]): readonly Chart[] =>
  Object.entries(machines)
    .filter(([name]) => asked.length === 0 || asked.includes(name))
    .map(([, machine]) => chartOf(machine));

interface Writing {
  readonly out: string;
  readonly terminal: Terminal;
}

const written = ({ out, terminal }: Writing, name: string, text: string): void => {
  mkdirSync(out, { recursive: true });
  writeFileSync(`${out}/${name}`, text);
  terminal.report(`wrote ${out}/${name}`);
};

/** Exports machines, to stdout or into a folder. */
export const runChartsExport = async (
  { machines: asked, out, format }: ChartsExportRequest,
  machines: Machines,
  terminal: Terminal,
): Promise<ExitCode> => {
  const known = CHART_FORMATS.find((candidate) => candidate === format);
  const problem = unknownMachine(machines, asked) ??
    (format !== undefined && known === undefined
      ? unknownWord('--format', format, CHART_FORMATS)
      : undefined);
  if (problem !== undefined) {
    terminal.report(problem);
    return EXIT.usage;
  }
  const charts = chosen(machines, asked);
  const [only, ...others] = charts;
  if (out === undefined) {
    if (only === undefined || others.length > 0) {
      terminal.report('Cannot print several charts: name one machine, or add --out=DIR');
      return EXIT.usage;
    }
    terminal.print(await chartFile(only, known ?? 'svg'));
    return EXIT.ok;
  }
  const formats: readonly ChartFormat[] = known === undefined ? CHART_FORMATS : [known];
  for (const chart of charts) {
    for (const one of formats) {
      for (const { name, text } of await chartFiles(chart, one)) {
        written({ out, terminal }, name, text);
      }
    }
  }
  return EXIT.ok;
};

interface Answer {
  readonly passed: boolean;
  readonly text: string;
}

const git = (...args: readonly string[]): Answer => {
  const { status, stdout, stderr, error } = spawnSync('git', args, { encoding: 'utf8' });
  const passed = status === 0;
  return { passed, text: passed ? stdout : error === undefined ? stderr : failureSentence(error) };
};

/** The charts of a revision by name; one line when it has none. */
const chartsAt = (revision: string): ReadonlyMap<string, Chart> | string => {
  const top = git('rev-parse', '--show-toplevel');
  if (!top.passed) return `Cannot read the repository: ${failureSentence(top.text)}`;
  const at = ['-C', top.text.trim()];
  const commit = git(...at, 'rev-parse', '--verify', '--quiet', `${revision}^{commit}`);
  if (!commit.passed) {
    return `Cannot find revision "${revision}": no such commit; name another`;
  }
  const hash = commit.text.trim();
  const files = git(...at, 'ls-tree', '--name-only', hash, `${FOLDER}/`)
    .text.split('\n').filter((path) => path.endsWith('.json'));
  if (files.length === 0) {
    return `Cannot compare with "${revision}": it has no charts in ${FOLDER}; name a later one`;
  }
  const charts = files.map((path) => chartFromJson(git(...at, 'show', `${hash}:${path}`).text));
  return new Map(charts.map((chart) => [chart.name, chart]));
};

const diffSvg = async (diff: ChartDiff): Promise<string> =>
  chartSvg(await placedChart(diff.union), {
    states: stateMarks(diff),
    arrows: ({ transitions }) => arrowMark(diff, transitions),
  });

/** Compares the machines of this version with those of a revision. */
export const runChartsDiff = async (
  { revision, machines: asked, out }: ChartsDiffRequest,
  machines: Machines,
  terminal: Terminal,
): Promise<ExitCode> => {
  const then = chartsAt(revision);
  if (typeof then === 'string') {
    terminal.report(then);
    return EXIT.notMet;
  }
  const now = new Map(chosen(machines, []).map((chart) => [chart.name, chart]));
  const names = [...new Set([...now.keys(), ...then.keys()])];
  const unknown = asked.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    terminal.report(unknownWord('machine', unknown, names));
    return EXIT.usage;
  }
  const diffs = names.filter((name) => asked.length === 0 || asked.includes(name))
    .flatMap((name) => chartDiff(then.get(name), now.get(name)) ?? [])
    .filter(({ differences }) => differences.length > 0);
  if (diffs.length === 0) terminal.report(`No lifecycle has changed since ${revision}`);
  for (const diff of diffs) {
    terminal.print(chartDiffText(diff));
    if (out !== undefined) {
      written({ out, terminal }, `${diff.name}.diff.svg`, await diffSvg(diff));
    }
  }
  return EXIT.ok;
};
