/**
 * `tidegate maintenance plan`: reads the cluster and prints what a NodeMaintenance would meet.
 *
 * Promises: exit code 0 when nothing stands in its way, 5 when blockers are predicted, 3 when the
 * NodeMaintenance does not exist, 4 when the cluster cannot be reached, 2 for invalid arguments;
 * sends nothing but GET.
 */
import { Effect } from 'effect';
import { stringify } from 'yaml';
import type { KubeApi, KubeFault } from '../effects/kube-api.ts';
import { readMaintained } from '../effects/maintenance-reads.ts';
import { readOnly } from '../effects/read-only-api.ts';
import { maintenancePlan, type MaintenancePlanView } from '../view/maintenance-plan.ts';
import { maintenancePlanText } from '../view/maintenance-plan-text.ts';
import { type Answer, answered, askCluster, logUnreachable, silent } from './cluster-question.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { unknownWord } from './failures.ts';
import {
  MAINTENANCE_PLAN_FORMATS,
  type MaintenancePlanFormat,
  type MaintenancePlanRequest,
} from './maintenance-plan-request.ts';
import { readSource } from './maintenance-source.ts';
import type { Terminal } from './terminal.ts';

const answerTo = (
  { source }: MaintenancePlanRequest,
): Effect.Effect<Answer<MaintenancePlanView>, KubeFault, KubeApi> =>
  Effect.gen(function* () {
    const sourced = yield* readSource(source);
    if (sourced._tag === 'Silent') return sourced;
    const { maintenance } = sourced.value;
    const read = yield* readMaintained(maintenance.spec.nodeSelector);
    if (read._tag === 'Refused') return silent(EXIT.failure, read.why);
    return answered(maintenancePlan(maintenance, read.reading));
  });

const printed = (plan: MaintenancePlanView, format: MaintenancePlanFormat): string => {
  if (format === 'json') return `${JSON.stringify(plan, null, 2)}\n`;
  return format === 'yaml' ? stringify(plan) : maintenancePlanText(plan);
};

/** Previews a maintenance. */
export const runMaintenancePlan = async (
  request: MaintenancePlanRequest,
  terminal: Terminal,
): Promise<ExitCode> => {
  const format = MAINTENANCE_PLAN_FORMATS.find((candidate) => candidate === request.format);
  if (format === undefined) {
    terminal.report(unknownWord('--output', request.format, MAINTENANCE_PLAN_FORMATS));
    return EXIT.usage;
  }
  const answer = await askCluster(request, readOnly(answerTo(request)));
  if (answer._tag === 'Silent') return logUnreachable(answer, terminal);
  terminal.print(printed(answer.value, format));
  return answer.value.blockers.length === 0 ? EXIT.ok : EXIT.blocked;
};
