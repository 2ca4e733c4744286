/**
 * `tidegate demo`: runs a scenario on an embedded cluster, printed line by line or drawn on a
 * terminal.
 *
 * Promises: exit code 0 when the scenario succeeded, 1 when a step timed out, 2 for an unknown
 * scenario; nothing is left running.
 */
import { GROUP_PATH } from '../../domain/api-group.ts';
import type { Time } from '../../domain/time.ts';
import { EVICTION_REQUESTS_PATH } from '../../effects/evictions-api.ts';
import { type DemoLine, demoPicture } from '../../view/demo-text.ts';
import { type DemoLog, makeDemoLog } from '../../view/demo-log.ts';
import { type DemoScene, demoScene } from '../../view/demo-scene.ts';
import type { DemoRequest } from './demo-request.ts';
import { DEMO_SCENARIOS } from './demo-scenarios.ts';
import type { DemoScenario, DemoStep } from './demo-step.ts';
import type { DemoSite, StartDemoSite } from './demo-site.ts';
import { actionText } from '../../domain/drain/verdict.ts';
import { definitionLines, wrappedLines } from '../../view/wrapped-text.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { failureSentence, unknownWord } from '../failures.ts';
import { makeScreen, type Screen } from '../terminal/screen.ts';
import { endingSignal } from '../signals.ts';
import type { Terminal } from '../terminal/terminal.ts';

const POLL_INTERVAL_MS = 100;
const STEP_TIMEOUT_MS = 120_000;
const WHO_COLUMNS = 16;
const WHAT_COLUMNS_MIN = 30;
const TRY_COLUMNS = 80;
const GAP = '  ';
const DIM = '\u001b[2m';
const CYAN = '\u001b[36m';
const PLAIN = '\u001b[0m';

const sceneOf = ({ list }: DemoSite, nowMs: number): DemoScene =>
  demoScene({
    nodes: list('/api/v1/nodes'),
    pods: list('/api/v1/namespaces/default/pods'),
    requests: list(`${GROUP_PATH}/capacityrequests`),
    machines: list(`${GROUP_PATH}/upcomingnodes`),
    budgets: list('/apis/policy/v1/poddisruptionbudgets'),
    events: list('/apis/events.k8s.io/v1/events').filter(isOurs),
    evictionRequests: list(EVICTION_REQUESTS_PATH),
  }, nowMs);

/** The Events of the scheduler and the controllers are hidden. */
const isOurs = (event: unknown): boolean => JSON.stringify(event).includes('"tidegate');

/** A line with its moment. */
interface PrintedLine extends DemoLine {
  readonly moment: string;
}

/** The current state of the run. */
interface DemoRun {
  readonly site: DemoSite;
  readonly time: Time;
  readonly terminal: Terminal;
  readonly screen: Screen;
  readonly log: DemoLog;
  readonly scenario: DemoScenario;
  startedMs: number;
  readonly printedLines: PrintedLine[];
  /** The lowest number of healthy pods under a budget, and the required number. */
  readonly lowest: Map<string, { readonly healthy: number; readonly wanted: number }>;
  /** The last blocker of a machine's drain, and who can act. */
  readonly lastBlockers: Map<string, string>;
  scene: DemoScene;
  isInterrupted: boolean;
}

const seconds = ({ time, startedMs }: DemoRun): string =>
  `${((time.monotonic() - startedMs) / 1000).toFixed(1)} s`;

/** A line with its moment, wrapped at `columns` below the words of the first line. */
const lineTexts = (
  { moment, who, what }: PrintedLine,
  { colors, columns }: { readonly colors: boolean; readonly columns: number },
): readonly string[] => {
  const paint = (code: string, text: string): string => colors ? `${code}${text}${PLAIN}` : text;
  const left = moment.length + GAP.length + WHO_COLUMNS + GAP.length;
  const [first = '', ...more] = wrappedLines(what, Math.max(WHAT_COLUMNS_MIN, columns - left));
  const begin = `${paint(DIM, moment)}${GAP}${paint(CYAN, who.padEnd(WHO_COLUMNS))}${GAP}`;
  return [begin + first, ...more.map((line) => ' '.repeat(left) + line)];
};

const printLine = (run: DemoRun, { who, what }: DemoLine): void => {
  const { terminal, printedLines } = run;
  const line = { moment: seconds(run).padStart(7), who, what };
  printedLines.push(line);
  if (terminal.interactive) return;
  const options = { colors: terminal.colors, columns: Number.POSITIVE_INFINITY };
  for (const text of lineTexts(line, options)) terminal.print(`${text}\n`);
};

const draw = (run: DemoRun): void => {
  const { terminal, screen, scenario, scene, printedLines } = run;
  if (!terminal.interactive) return;
  const { columns, rows } = terminal.size();
  const picture = demoPicture(scene, {
    title: `Tidegate demo: ${scenario.title}`,
    elapsed: seconds(run),
    printedLines: printedLines.flatMap((line) => lineTexts(line, { colors: false, columns })),
    columns,
    rows,
  });
  screen.show(picture);
};

/** Leaves the screen; what happened stays on the terminal. */
const leaveScreen = ({ terminal, screen, printedLines }: DemoRun): void => {
  if (!terminal.interactive) return;
  screen.close();
  const { columns } = terminal.size();
  for (const line of printedLines.splice(0)) {
    terminal.print(`${lineTexts(line, { colors: terminal.colors, columns }).join('\n')}\n`);
  }
};

const addLastBlockers = ({ lastBlockers, scene }: DemoRun): void => {
  for (const { name, drain } of scene.machines) {
    const [blocker] = drain?.blockers ?? [];
    if (blocker === undefined) continue;
    lastBlockers.set(name, `${blocker.reason}. ${actionText(blocker)}.`);
  }
};

const addBudgets = ({ lowest, scene }: DemoRun): void => {
  for (const { name, healthy, wanted, all } of scene.budgets) {
    const known = lowest.get(name)?.healthy ?? Number.POSITIVE_INFINITY;
    // Before all of its pods exist the budget does not count.
    if (all > 0 && wanted > 0 && (lowest.has(name) || healthy >= all)) {
      lowest.set(name, { healthy: Math.min(known, healthy), wanted });
    }
  }
};

/** Reads the scene once, and prints the changes. */
const refresh = (run: DemoRun): void => {
  run.scene = sceneOf(run.site, run.time.now());
  for (const line of run.log.linesAt(run.scene, run.time.monotonic())) printLine(run, line);
  addBudgets(run);
  addLastBlockers(run);
  draw(run);
};

const pause = (time: Time, ms: number): Promise<void> =>
  new Promise((resolve) => void time.schedule(ms, resolve));

/** Watches until a condition holds or time runs out; returns why the scenario failed, if it did. */
const pollUntil = async (
  run: DemoRun,
  until: () => boolean,
  timeoutText: () => string | undefined = () => undefined,
): Promise<string | undefined> => {
  const { site, time } = run;
  for (;;) {
    refresh(run);
    if (run.isInterrupted) return 'interrupted';
    const failure = site.failure();
    if (failure !== undefined) return failure;
    if (until()) return undefined;
    const timeout = timeoutText();
    if (timeout !== undefined) return timeout;
    await pause(time, POLL_INTERVAL_MS);
  }
};

/** Executes a step; returns why the scenario failed, if it did. */
const runStep = async (run: DemoRun, step: DemoStep): Promise<string | undefined> => {
  const { site, time } = run;
  const [who, what] = step.announcement;
  printLine(run, { who, what });
  await step.act(site, run.scene);
  const beganMs = time.monotonic();
  const lasted = (ms: number): boolean => time.monotonic() - beganMs >= ms;
  const problem = await pollUntil(
    run,
    () => lasted(step.lastsMs ?? 0) && step.until(run.scene),
    () =>
      lasted(STEP_TIMEOUT_MS)
        ? `timed out after ${STEP_TIMEOUT_MS / 1000} s waiting for ${step.waitsFor}`
        : undefined,
  );
  for (const line of run.log.settledLines(run.scene, time.monotonic())) printLine(run, line);
  return problem;
};

/** Waits for a viewer, without a limit. */
const waitForViewer = async (run: DemoRun): Promise<string | undefined> => {
  const { site } = run;
  const unserved = await pollUntil(run, () => site.page() !== undefined);
  if (unserved !== undefined) return unserved;
  printLine(run, { who: 'demo', what: `Open ${site.page()?.url} in a browser to begin.` });
  return await pollUntil(run, () => site.page()?.isOpened === true);
};

const summary = (run: DemoRun): readonly string[] => {
  const { scene, scenario, lowest, lastBlockers } = run;
  const failed = scene.machines.filter(({ phase }) => phase === 'Failed');
  return [
    `${scenario.title}, in ${seconds(run)}`,
    '',
    `  ${scenario.conclusion}`,
    '',
    ...[...lowest].map(([name, { healthy, wanted }]) =>
      `  Budget ${name} requires ${wanted} healthy pods; it never had fewer than ${healthy}.`
    ),
    ...failed.map(({ name }) =>
      `  ${name} is Failed: ${lastBlockers.get(name) ?? 'unknown cause'}`
    ),
    `  Pods now: ${scene.pods.running} of ${scene.pods.all} running on ` +
    `${scene.machines.filter(({ pods }) => pods > 0).length} machines.`,
  ];
};

/** What to try after a scenario: the live page first. */
const nextSteps = ({ scenario: own, inspectAddress, serve }: DemoRequest): readonly string[] => {
  const names = Object.keys(DEMO_SCENARIOS);
  const next = names[(names.indexOf(own) + 1) % names.length] ?? own;
  const page = '--inspect-addr=:8772 --when-watched';
  return definitionLines([
    ...(inspectAddress === undefined
      ? [{ term: `tidegate demo --scenario=${own} ${page}`, text: 'The same, on the live page' }]
      : []),
    {
      term: `tidegate demo --scenario=${next}`,
      text: DEMO_SCENARIOS[next]?.title ?? '',
    },
    ...(serve ? [] : [{ term: 'tidegate demo --serve', text: 'Explore it with kubectl' }]),
  ], TRY_COLUMNS);
};

const newRun = (
  site: DemoSite,
  scenario: DemoScenario,
  { terminal, time }: { readonly terminal: Terminal; readonly time: Time },
): DemoRun => ({
  site,
  time,
  terminal,
  screen: makeScreen(terminal),
  log: makeDemoLog(),
  scenario,
  startedMs: time.monotonic(),
  printedLines: [],
  lowest: new Map(),
  lastBlockers: new Map(),
  scene: sceneOf(site, time.now()),
  isInterrupted: false,
});

const serveUntilSignal = async (
  { site, terminal }: DemoRun,
  signal: Promise<string>,
): Promise<void> => {
  terminal.print(`\nEverything keeps running until Ctrl-C. Explore with\n\n`);
  terminal.print(`  kubectl --kubeconfig ${site.kubeconfig} get nodes,pods,upcomingnodes\n`);
  const page = site.page();
  if (page !== undefined) terminal.print(`  and the live page at ${page.url}\n`);
  await signal;
};

/** Runs all steps; returns why the scenario ended early, if it did. */
const runSteps = async (
  run: DemoRun,
  { whenWatched }: DemoRequest,
): Promise<string | undefined> => {
  const unwatched = whenWatched ? await waitForViewer(run) : undefined;
  if (unwatched !== undefined) return unwatched;
  run.startedMs = run.time.monotonic();
  for (const step of run.scenario.steps) {
    const problem = await runStep(run, step);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

/** Lines wrapped at the width of a terminal; elsewhere as they are. */
const wrapped = ({ terminal }: DemoRun, lines: readonly string[]): readonly string[] => {
  if (!terminal.interactive) return lines;
  const { columns } = terminal.size();
  return lines.flatMap((line) => {
    const indent = line.startsWith('  ') ? '  ' : '';
    const words = wrappedLines(line, columns - indent.length).map((part) => indent + part);
    return words.length === 0 ? [''] : words;
  });
};

const runScenario = async (
  run: DemoRun,
  request: DemoRequest,
  signal: Promise<string>,
): Promise<ExitCode> => {
  const { scenario, terminal } = run;
  printLine(run, { who: 'demo', what: scenario.about });
  const problem = await runSteps(run, request);
  leaveScreen(run);
  if (problem !== undefined) {
    terminal.report(`Scenario failed: ${problem}`);
    return EXIT.failure;
  }
  terminal.print(`\n${wrapped(run, summary(run)).join('\n')}\n`);
  terminal.print(`\nTry next:\n${nextSteps(request).join('\n')}\n`);
  if (request.serve) await serveUntilSignal(run, signal);
  return EXIT.ok;
};

/** Runs a scenario to its end. */
export const runDemo = async (
  request: DemoRequest,
  start: StartDemoSite,
  { terminal, time }: { readonly terminal: Terminal; readonly time: Time },
): Promise<ExitCode> => {
  const scenario = Object.hasOwn(DEMO_SCENARIOS, request.scenario)
    ? DEMO_SCENARIOS[request.scenario]
    : undefined;
  if (scenario === undefined) {
    terminal.report(unknownWord('--scenario', request.scenario, Object.keys(DEMO_SCENARIOS)));
    return EXIT.usage;
  }
  const { inspectAddress, recordFile, whenWatched } = request;
  if (whenWatched && inspectAddress === undefined) {
    terminal.report('Cannot use --when-watched without a live page: add --inspect-addr=:8772');
    return EXIT.usage;
  }
  const signal = endingSignal(['SIGTERM', 'SIGINT', 'SIGHUP']);
  const site = await start({
    inspectAddress,
    recordFile,
    operatorFlags: scenario.operatorFlags,
  });
  const run = newRun(site, scenario, { terminal, time });
  void signal.then(() => {
    run.isInterrupted = true;
  });
  try {
    return await runScenario(run, request, signal);
  } catch (error) {
    terminal.report(`Cannot continue the scenario: ${failureSentence(error)}`);
    return EXIT.failure;
  } finally {
    leaveScreen(run);
    await site.stop();
  }
};
