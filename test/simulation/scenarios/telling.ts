/**
 * `npm run simulate -- --scenario NAME` and `--scenarios`: plays scenarios and says what came of
 * them.
 */
import { SCENARIOS } from './catalogue.ts';
import { runScenario, type Scenario, type ScenarioReport, wentWell } from './scenario.ts';

/** What is said besides the table. */
export interface Telling {
  readonly log: boolean;
  /** Leaves the crowds out. */
  readonly small: boolean;
  /** Name and digest of each, and nothing else: for whoever compares. */
  readonly digests: boolean;
  readonly say: (text: string) => void;
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

const sayProblems = ({ name, breach, findings }: ScenarioReport, say: Telling['say']): void => {
  if (breach !== undefined) {
    const at = Math.round(breach.atMs / 1000);
    say(`  the invariant "${breach.invariant}" is broken after ${at} s: ${breach.what}`);
  }
  const wrong = findings.filter(({ holds }) => !holds);
  for (const { what, instead } of wrong) say(`  not so: ${what}: ${instead}`);
  if (breach !== undefined || wrong.length > 0) say(`  npm run simulate -- --scenario ${name}`);
};

/** The scenario of a name; without one all of them, or all small ones. */
const asked = (name: string | undefined, small: boolean): readonly Scenario[] =>
  SCENARIOS.filter((scenario) =>
    name === undefined ? !small || scenario.crowd !== true : scenario.name === name
  );

/** Tells the scenario of a name, or all; gives how many did not come as they must. */
export const tellScenarios = async (
  name: string | undefined,
  telling: Telling,
): Promise<number> => {
  const { log, small, digests, say } = telling;
  const scenarios = asked(name, small);
  if (scenarios.length === 0) {
    say(`There is no scenario "${name ?? ''}". There are:`);
    for (const one of SCENARIOS) say(`  ${one.name.padEnd(24)}  ${one.shows}`);
    return 1;
  }
  const showsTable = !log && !digests;
  let [failures, slowest] = [0, Infinity];
  if (showsTable) say(row(HEADS));
  for (const scenario of scenarios) {
    const beganMs = performance.now();
    const report = await runScenario(scenario);
    const wallMs = performance.now() - beganMs;
    slowest = Math.min(slowest, report.simulatedMs / wallMs);
    if (log) say(report.log.join('\n'));
    if (digests) say(`${report.name} ${report.digest}`);
    if (showsTable) say(row(cellsOf(report, wallMs)));
    if (!wentWell(report)) failures += 1;
    if (!digests) sayProblems(report, say);
  }
  if (showsTable) {
    say(
      `${scenarios.length} scenarios, ${failures} not as they must be; ` +
        `the slowest at ${Math.round(slowest)}× real time`,
    );
  }
  return failures;
};
