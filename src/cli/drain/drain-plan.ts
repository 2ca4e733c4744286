/**
 * `tidegate drain plan`: reads the cluster and prints a preview of a drain.
 *
 * Promises: exit code 3 when the node does not exist, 4 when the cluster cannot be reached, 2 for
 * invalid arguments; changes nothing, even with `--dry-run=server`.
 */
import { Effect } from 'effect';
import { stringify } from 'yaml';
import { graceOf } from '../../domain/drain/deadline.ts';
import { goDurationMs } from '../../domain/go-duration.ts';
import type { Uid } from '../../domain/ids.ts';
import type { Time } from '../../domain/time.ts';
import { readLosing } from '../../effects/default-interceptor-reads.ts';
import { readDrains } from '../../effects/drain-reads.ts';
import { dryRunEvictions, type DryRuns } from '../../effects/dry-run-evictions.ts';
import {
  DEFAULT_INTERCEPTORS,
  defaultInterceptorsOf,
} from '../../effects/eviction-request-options.ts';
import type { KubeApi, KubeFault } from '../../effects/kube-api.ts';
import { nodeFactsOf } from '../../view/drain-facts.ts';
import { drainPlan, type DrainPlanView, evictable } from '../../view/drain-plan.ts';
import { drainPlanText } from '../../view/drain-plan-text.ts';
import {
  type Answer,
  answered,
  askCluster,
  commandTime,
  logUnreachable,
  silent,
} from '../cluster-question.ts';
import { jsonText } from '../terminal/json-text.ts';
import {
  type DrainPlanRequest,
  DRY_RUNS,
  type DryRun,
  PLAN_FORMATS,
  type PlanFormat,
} from './drain-request.ts';
import { sceneOf } from './drain-status.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { missingNodes, unknownWord } from '../failures.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** A valid request. */
interface Question {
  readonly node: string;
  readonly format: PlanFormat;
  readonly dryRun: DryRun;
  readonly graceSeconds: number;
  /** Undefined: unknown, because the settings of the operator are not in the cluster. */
  readonly defaultNames: readonly string[] | undefined;
}

/** The request, or one line about its problem. */
const questionOf = (request: DrainPlanRequest): Question | string => {
  const { node, format, dryRun, grace, defaultInterceptors } = request;
  const knownFormat = PLAN_FORMATS.find((candidate) => candidate === format);
  if (knownFormat === undefined) return unknownWord('--output', format, PLAN_FORMATS);
  const knownDryRun = DRY_RUNS.find((candidate) => candidate === dryRun);
  if (knownDryRun === undefined) return unknownWord('--dry-run', dryRun, DRY_RUNS);
  const known = DEFAULT_INTERCEPTORS.find((candidate) => candidate === defaultInterceptors);
  if (defaultInterceptors !== undefined && known === undefined) {
    return unknownWord('--default-interceptors', defaultInterceptors, DEFAULT_INTERCEPTORS);
  }
  const graceMs = grace === undefined ? 0 : goDurationMs(grace);
  if (graceMs === undefined || (grace !== undefined && graceMs <= 0)) {
    return `Cannot use --grace "${grace}": it is not a duration; write a number with its unit, ` +
      'such as 10m';
  }
  const seconds = graceOf(grace === undefined ? undefined : graceMs / 1000).seconds;
  return {
    node,
    format: knownFormat,
    dryRun: knownDryRun,
    graceSeconds: seconds,
    defaultNames: known === undefined
      ? undefined
      : defaultInterceptorsOf({ defaultInterceptors: known }, []),
  };
};

const NOT_ASKED: DryRuns = { _tag: 'Asked', answers: new Map() };

const answerTo = (
  { node, dryRun, graceSeconds, defaultNames }: Question,
  time: Pick<Time, 'now'>,
): Effect.Effect<Answer<DrainPlanView>, KubeFault, KubeApi> =>
  Effect.gen(function* () {
    const read = yield* readDrains({ _tag: 'Named', names: [node] });
    if (read._tag === 'Refused') return silent(EXIT.failure, read.why);
    const [facts] = nodeFactsOf(sceneOf(read.reading, time.now()));
    if (facts === undefined) return silent(EXIT.notMet, missingNodes([node]));
    const asks = dryRun === 'server';
    const tried = asks ? yield* dryRunEvictions(evictable(facts)) : NOT_ASKED;
    if (tried._tag === 'Forbidden') {
      return silent(EXIT.failure, `Cannot try evictions: ${tried.why}; leave out --dry-run`);
    }
    const isNone = defaultNames?.length === 0;
    const losing = isNone ? new Set<Uid>() : yield* readLosing(facts.pods, facts.budgets);
    return answered(
      drainPlan(facts, {
        graceSeconds,
        answers: asks ? tried.answers : undefined,
        interceptors: read.interceptors,
        defaults: { names: defaultNames, pods: losing },
      }),
    );
  });

const printed = (plan: DrainPlanView, format: PlanFormat): string => {
  if (format === 'json') return jsonText(plan);
  return format === 'yaml' ? stringify(plan) : drainPlanText(plan);
};

/** Previews the drain of one node. */
export const runDrainPlan = async (
  request: DrainPlanRequest,
  terminal: Terminal,
  time: Pick<Time, 'now'>,
): Promise<ExitCode> => {
  const question = questionOf(request);
  if (typeof question === 'string') {
    terminal.report(question);
    return EXIT.usage;
  }
  const clock = commandTime(time);
  const answer = await askCluster(request, answerTo(question, clock), clock.observe);
  if (answer._tag === 'Silent') return logUnreachable(answer, terminal);
  terminal.print(printed(answer.value, question.format));
  return EXIT.ok;
};
