/**
 * `tidegate maintenance plan`: reads the cluster and prints what a NodeMaintenance would meet; with
 * `--simulate` also what it would do, on an embedded cluster.
 *
 * Promises: exit code 0 when nothing stands in its way, 5 when blockers are predicted or the
 * simulation does not end well, 3 when the NodeMaintenance does not exist, 4 when the cluster
 * cannot be reached, 2 for invalid arguments; sends nothing but GET, and nothing at all once the
 * simulation begins.
 */
import { Effect } from 'effect';
import { stringify } from 'yaml';
import { goDurationMs } from '../../domain/go-duration.ts';
import type { JsonRecord } from '../../domain/json.ts';
import type { Time } from '../../domain/time.ts';
import type { KubeApi, KubeFault } from '../../effects/kube-api.ts';
import { type ListsRead, readLists } from '../../effects/maintenance-lists.ts';
import { readMaintained } from '../../effects/maintenance-reads.ts';
import { readOnly } from '../../effects/read-only-api.ts';
import { duration } from '../../view/duration.ts';
import { maintenancePlan, type MaintenancePlanView } from '../../view/maintenance-plan.ts';
import { maintenancePlanText } from '../../view/maintenance-plan-text.ts';
import { isSmooth, type MaintenanceSimulationView } from '../../view/maintenance-simulation.ts';
import { maintenanceSimulationText } from '../../view/maintenance-simulation-text.ts';
import { type Answer, answered, askCluster, logUnreachable, silent } from '../cluster-question.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { unknownWord } from '../failures.ts';
import { jsonText } from '../terminal/json-text.ts';
import {
  MAINTENANCE_PLAN_FORMATS,
  type MaintenancePlanFormat,
  type MaintenancePlanRequest,
} from './maintenance-plan-request.ts';
import type { SimulationTiming } from './maintenance-simulation.ts';
import { readSource } from './maintenance-source.ts';
import { loadEmbeddedKubernetes } from '../on-demand-packages.ts';
import type { ProgressLine } from '../terminal/progress-line.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** What the command needs of its process. */
export interface MaintenancePlanEnvironment {
  readonly terminal: Terminal;
  readonly time: Pick<Time, 'now'>;
  readonly progress: ProgressLine;
}

/** A valid request. */
interface Question {
  readonly source: string;
  readonly format: MaintenancePlanFormat;
  /** Undefined: nothing is simulated. */
  readonly timing: SimulationTiming | undefined;
}

/** What was read. */
interface Planned {
  readonly plan: MaintenancePlanView;
  readonly written: JsonRecord;
  readonly lists: Extract<ListsRead, { readonly _tag: 'Read' }> | undefined;
}

/** A flag of a duration in milliseconds, or one line about its problem. */
const durationFlag = (flag: string, given: string): number | string => {
  const ms = goDurationMs(given);
  return ms === undefined || ms < 0
    ? `Cannot use ${flag} "${given}": it is not a duration; write a number with its unit, such ` +
      'as 10s'
    : ms;
};

const timingOf = (request: MaintenancePlanRequest): SimulationTiming | string => {
  const podStartupMs = durationFlag('--pod-startup', request.podStartup);
  if (typeof podStartupMs === 'string') return podStartupMs;
  const nodeWorkMs = durationFlag('--node-work', request.nodeWork);
  if (typeof nodeWorkMs === 'string') return nodeWorkMs;
  if (request.podShutdown === undefined) {
    return { podStartupMs, nodeWorkMs, podShutdownMs: undefined };
  }
  const podShutdownMs = durationFlag('--pod-shutdown', request.podShutdown);
  if (typeof podShutdownMs === 'string') return podShutdownMs;
  return { podStartupMs, nodeWorkMs, podShutdownMs };
};

/** The request, or one line about its problem. */
const questionOf = (request: MaintenancePlanRequest): Question | string => {
  const { source } = request;
  const format = MAINTENANCE_PLAN_FORMATS.find((candidate) => candidate === request.format);
  if (format === undefined) {
    return unknownWord('--output', request.format, MAINTENANCE_PLAN_FORMATS);
  }
  const timing = timingOf(request);
  if (typeof timing === 'string') return timing;
  return { source, format, timing: request.simulate ? timing : undefined };
};

const answerTo = (
  { source, timing }: Question,
): Effect.Effect<Answer<Planned>, KubeFault, KubeApi> =>
  Effect.gen(function* () {
    const sourced = yield* readSource(source);
    if (sourced._tag === 'Silent') return sourced;
    const { maintenance, raw: written } = sourced.value;
    const read = yield* readMaintained(maintenance.spec.nodeSelector);
    if (read._tag === 'Refused') return silent(EXIT.failure, read.why);
    const plan = maintenancePlan(maintenance, read.reading);
    if (timing === undefined) return answered({ plan, written, lists: undefined });
    const lists = yield* readLists;
    return lists._tag === 'Refused'
      ? silent(EXIT.failure, lists.why)
      : answered({ plan, written, lists });
  });

/** Simulates; the packages that this needs are loaded now. */
const simulated = async (
  { lists, written }: Planned,
  timing: SimulationTiming | undefined,
  { time, progress }: MaintenancePlanEnvironment,
): Promise<Answer<MaintenanceSimulationView | undefined>> => {
  if (timing === undefined || lists === undefined) return answered(undefined);
  const embedded = await loadEmbeddedKubernetes('maintenance plan --simulate');
  const { simulateMaintenance } = await import('./maintenance-simulation.ts');
  const outcome = await simulateMaintenance(embedded, {
    ...lists,
    written,
    timing,
    startMs: time.now(),
    onProgress: (elapsedMs, drained) =>
      progress.show(`Simulating: ${duration(elapsedMs)}, ${drained} nodes drained`),
  });
  progress.clear();
  return outcome._tag === 'Refused'
    ? silent(EXIT.usage, `Cannot simulate the NodeMaintenance: ${outcome.why}; correct its spec`)
    : answered(outcome.view);
};

const printed = (
  plan: MaintenancePlanView,
  simulation: MaintenanceSimulationView | undefined,
  format: MaintenancePlanFormat,
): string => {
  const all = simulation === undefined ? plan : { ...plan, simulation };
  if (format === 'json') return jsonText(all);
  if (format === 'yaml') return stringify(all);
  const text = maintenancePlanText(plan);
  return simulation === undefined ? text : `${text}\n${maintenanceSimulationText(simulation)}`;
};

/** Previews a maintenance. */
export const runMaintenancePlan = async (
  request: MaintenancePlanRequest,
  environment: MaintenancePlanEnvironment,
): Promise<ExitCode> => {
  const { terminal } = environment;
  const question = questionOf(request);
  if (typeof question === 'string') {
    terminal.report(question);
    return EXIT.usage;
  }
  const answer = await askCluster(request, readOnly(answerTo(question)));
  if (answer._tag === 'Silent') return logUnreachable(answer, terminal);
  const { plan } = answer.value;
  const simulation = await simulated(answer.value, question.timing, environment);
  if (simulation._tag === 'Silent') return logUnreachable(simulation, terminal);
  terminal.print(printed(plan, simulation.value, question.format));
  const isOpen = simulation.value === undefined
    ? plan.blockers.length === 0
    : isSmooth(simulation.value);
  return isOpen ? EXIT.ok : EXIT.blocked;
};
