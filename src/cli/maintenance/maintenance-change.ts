/**
 * `tidegate maintenance start`, `cordon`, `drain` and `complete`: creates a NodeMaintenance, or
 * moves one to a later stage.
 *
 * Promises: exit code 0 when the change is stored, and with `--wait` when the work of the stage is
 * done; 1 when the API server refuses; 3 when there is no such maintenance, it exists already, the
 * stage would go backwards, or the timeout has passed; 4 when the cluster cannot be reached, 2 for
 * invalid arguments.
 */
import { Effect } from 'effect';
import type { ObservedMaintenance } from '../../domain/node-maintenance/observed-maintenance.ts';
import { mayFollow, type Stage } from '../../domain/node-maintenance/stage.ts';
import { quoted } from '../../domain/text.ts';
import type { Time } from '../../domain/time.ts';
import type { KubeApi, KubeFault } from '../../effects/kube-api.ts';
import {
  createMaintenance,
  type MaintenanceOutcome,
  moveMaintenance,
  readMaintenances,
} from '../../effects/maintenance-objects.ts';
import { type Answer, answered, askCluster, logUnreachable, silent } from '../cluster-question.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type ChangePrinter, changePrinter } from './maintenance-printer.ts';
import {
  type ChangeQuestion,
  changeQuestion,
  type StartQuestion,
  startQuestion,
} from './maintenance-question.ts';
import {
  type MaintenanceMoveRequest,
  type MaintenanceStartRequest,
  STAGE_VERBS,
} from './maintenance-request.ts';
import { waitForMaintenance } from './maintenance-wait.ts';
import type { Terminal } from '../terminal/terminal.ts';

interface CommandEnvironment {
  readonly terminal: Terminal;
  readonly time: Pick<Time, 'now' | 'schedule'>;
}

/** What was done. */
interface Changed {
  readonly change: 'Created' | 'Moved' | 'Unchanged';
  readonly maintenance: ObservedMaintenance;
}

type Changing = Effect.Effect<Answer<Changed>, KubeFault, KubeApi>;

const absent = (name: string) =>
  silent(
    EXIT.notMet,
    `Cannot find NodeMaintenance ${
      quoted(name)
    }: it does not exist; "tidegate maintenance start" ` +
      'creates one',
  );

const refused = (what: string, outcome: MaintenanceOutcome, change: Changed['change']) => {
  switch (outcome._tag) {
    case 'Stored':
      return answered({ change, maintenance: outcome.maintenance });
    case 'Refused':
      return silent(EXIT.failure, `Cannot ${what}: ${outcome.why}`);
    case 'Conflict':
      return silent(EXIT.failure, `Cannot ${what}: it changed at the same time; try again`);
    case 'Absent':
    case 'Present':
      return silent(EXIT.notMet, `Cannot ${what}: it does not exist any more`);
  }
};

const started = ({ name, spec, isTrial }: StartQuestion): Changing =>
  createMaintenance({ metadata: { name }, spec }, { isTrial }).pipe(
    Effect.map((outcome) =>
      outcome._tag === 'Present'
        ? silent(
          EXIT.notMet,
          `Cannot create NodeMaintenance ${quoted(name)}: it exists already; write another name, ` +
            'or move it with "tidegate maintenance cordon", "drain" or "complete"',
        )
        : refused(`create NodeMaintenance ${quoted(name)}`, outcome, 'Created')
    ),
  );

/** Tries while others change the object. */
const TRIES_MAX = 5;

const moved = ({ name, isTrial }: ChangeQuestion, to: Stage): Changing =>
  Effect.gen(function* () {
    const what = `move NodeMaintenance ${quoted(name)} to ${to}`;
    let outcome: MaintenanceOutcome = { _tag: 'Conflict' };
    for (let attempt = 0; attempt < TRIES_MAX && outcome._tag === 'Conflict'; attempt += 1) {
      const read = yield* readMaintenances(name);
      if (read._tag === 'Refused') return silent(EXIT.failure, `Cannot ${what}: ${read.why}`);
      const [maintenance] = read.objects;
      if (maintenance === undefined) return absent(name);
      const { spec: { stage: from }, deleting } = maintenance;
      if (from === to) return answered<Changed>({ change: 'Unchanged', maintenance });
      if (deleting) {
        return silent(
          EXIT.notMet,
          `Cannot ${what}: it is being deleted, which completes it; start another one`,
        );
      }
      if (!mayFollow(from, to)) {
        return silent(
          EXIT.notMet,
          `Cannot ${what}: it is in stage ${from}, and stages go forward only; complete it, and ` +
            'start another one',
        );
      }
      outcome = yield* moveMaintenance(maintenance, to, { isTrial });
    }
    return refused(what, outcome, 'Moved');
  });

const finished = async (
  { answer, question, print, request, environment }: {
    readonly answer: Answer<Changed>;
    readonly question: ChangeQuestion;
    readonly print: ChangePrinter;
    readonly request: MaintenanceMoveRequest | MaintenanceStartRequest;
    readonly environment: CommandEnvironment;
  },
): Promise<ExitCode> => {
  if (answer._tag === 'Silent') return logUnreachable(answer, environment.terminal);
  const { change, maintenance } = answer.value;
  print.changed(change, maintenance);
  if (!request.wait) return EXIT.ok;
  const { timeoutMs } = question;
  return await waitForMaintenance(
    { cluster: request, maintenance, timeoutMs, print },
    environment,
  );
};

/** Creates a maintenance. */
export const runMaintenanceStart = async (
  request: MaintenanceStartRequest,
  environment: CommandEnvironment,
): Promise<ExitCode> => {
  const question = startQuestion(request);
  if (typeof question === 'string') {
    environment.terminal.report(question);
    return EXIT.usage;
  }
  const answer = await askCluster(request, started(question));
  const print = changePrinter(environment.terminal, question);
  return await finished({ answer, question, print, request, environment });
};

/** Moves a maintenance to the stage of the verb. */
export const runMaintenanceMove = async (
  request: MaintenanceMoveRequest,
  environment: CommandEnvironment,
): Promise<ExitCode> => {
  const question = changeQuestion(request);
  if (typeof question === 'string') {
    environment.terminal.report(question);
    return EXIT.usage;
  }
  const answer = await askCluster(request, moved(question, STAGE_VERBS[request.verb]));
  const print = changePrinter(environment.terminal, question);
  return await finished({ answer, question, print, request, environment });
};
