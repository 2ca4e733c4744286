/** `npm run simulate -- --scenario NAME` and `--scenarios`: runs scenarios and prints reports. */
import { SCENARIOS } from './catalogue.ts';
import {
  runScenario,
  type Scenario,
  type ScenarioReport,
  wentWell,
  withTiming,
} from './scenario.ts';

/** What is printed besides the table. */
export interface PrintOptions {
  readonly log: boolean;
  /** Skips the large scenarios. */
  readonly small: boolean;
  /** Only the name and digest of each, for comparisons. */
  readonly digests: boolean;
  /** The seed of another timing. */
  readonly timing: number | undefined;
  readonly print: (text: string) => void;
}

const HEADS = [
  'scenario',
  'simulated',
  'wall',
  '× real time',
  'evictions',
  'requests',
  'invariants',
];
const RIGHT = new Set([1, 2, 3, 4, 5]);
const WIDTHS = [24, 10, 9, 12, 10, 9, 10];

const row = (cells: readonly string[]): string =>
  cells.map((cell, at) =>
    RIGHT.has(at) ? cell.padStart(WIDTHS[at] ?? 0) : cell.padEnd(WIDTHS[at] ?? 0)
  ).join('  ').trimEnd();

const cellsOf = (report: ScenarioReport, wallMs: number): readonly string[] => [
  report.name,
  `${Math.round(report.simulatedMs / 1000)} s`,
  `${(wallMs / 1000).toFixed(2)} s`,
  String(Math.round(report.simulatedMs / wallMs)),
  String(report.evictions),
  String(report.requests),
  report.breach === undefined ? 'kept' : 'BROKEN',
];

const printProblems = (
  { name, breach, findings }: ScenarioReport,
  print: PrintOptions['print'],
): void => {
  if (breach !== undefined) {
    const at = Math.round(breach.atMs / 1000);
    print(`  the invariant "${breach.invariant}" is broken after ${at} s: ${breach.what}`);
  }
  const wrong = findings.filter(({ holds }) => !holds);
  for (const { what, instead } of wrong) print(`  failed: ${what}: ${instead}`);
  if (breach !== undefined || wrong.length > 0) print(`  npm run simulate -- --scenario ${name}`);
};

/** The scenarios of these names; without one all of them, or all small ones. */
const asked = (names: readonly string[], small: boolean): readonly Scenario[] =>
  SCENARIOS.filter(({ name, crowd }) =>
    names.length === 0 ? !small || crowd !== true : names.includes(name)
  );

/** Runs the scenarios of these names, or all; returns the number of failures. */
export const printScenarios = async (
  names: readonly string[],
  options: PrintOptions,
): Promise<number> => {
  const { log, small, digests, timing, print } = options;
  const scenarios = asked(names, small);
  const unknown = names.find((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) {
    print(`There is no scenario "${unknown}". There are:`);
    for (const one of SCENARIOS) print(`  ${one.name.padEnd(24)}  ${one.shows}`);
    return 1;
  }
  const showsTable = !log && !digests;
  let [failures, slowest] = [0, Infinity];
  if (showsTable) print(row(HEADS));
  for (const scenario of scenarios) {
    const beganMs = performance.now();
    const timed = timing === undefined ? scenario : withTiming(scenario, timing);
    const report = await runScenario(timed);
    const wallMs = performance.now() - beganMs;
    slowest = Math.min(slowest, report.simulatedMs / wallMs);
    if (log) print(report.log.join('\n'));
    if (digests) print(`${report.name} ${report.digest}`);
    if (showsTable) print(row(cellsOf(report, wallMs)));
    if (!wentWell(report)) failures += 1;
    if (!digests) printProblems(report, print);
  }
  if (showsTable) {
    print(
      `${scenarios.length} scenarios, ${failures} failed; ` +
        `the slowest at ${Math.round(slowest)}× real time`,
    );
  }
  return failures;
};
