/**
 * `tidegate drain NODE…`: drains nodes as `kubectl drain` does, by a NodeMaintenance for each from
 * which pods leave.
 *
 * Promises: the filters of all nodes are checked before anything is made; a node that they refuse
 * is left alone, and the others are drained; a drained node stays cordoned, by a person, and its
 * NodeMaintenance is deleted. Exit code 0 when every node is drained and 1 otherwise, as kubectl; 4
 * when the cluster cannot be reached, 2 for invalid arguments.
 */
import type { ClusterTime } from '../../domain/cluster-time.ts';
import { quoted } from '../../domain/text.ts';
import type { Time } from '../../domain/time.ts';
import { Effect } from 'effect';
import { readNodesToDrain } from '../../effects/drained-pods.ts';
import {
  createMaintenance,
  type MaintenanceOutcome,
  readMaintenances,
} from '../../effects/maintenance-objects.ts';
import {
  type Answer,
  answered,
  askCluster,
  commandTime,
  logUnreachable,
  silent,
} from '../cluster-question.ts';
import { drainEmptyNodes } from './drain-empty-nodes.ts';
import { filteredNodes } from './drain-node-filtering.ts';
import { followNodeDrains } from './drain-node-following.ts';
import { maintenanceOf, newMaintenance } from '../maintenance/maintenance-of-node.ts';
import { type DrainNodesRequest, type DrainQuestion, drainQuestion } from './drain-node-request.ts';
import { drainLines, type FilteredNode } from './drain-node-text.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { Terminal } from '../terminal/terminal.ts';

interface GivenEnvironment {
  readonly terminal: Terminal;
  readonly time: Pick<Time, 'now' | 'schedule'>;
}

interface CommandEnvironment extends GivenEnvironment {
  readonly time: GivenEnvironment['time'] & Pick<ClusterTime, 'observe'>;
}

const printTrial = (
  nodes: readonly FilteredNode[],
  { dryRun }: DrainQuestion,
  { print }: Terminal,
): void => {
  const lines = drainLines(dryRun);
  for (const { name, wasCordoned, pods } of nodes) {
    print(lines.cordoned(name, wasCordoned));
    for (const { pod, verdict } of pods) {
      if (verdict._tag === 'Leaves' || verdict._tag === 'Removed') print(lines.evicting(pod));
    }
    print(lines.drained(name));
  }
};

const trialProblem = (name: string, outcome: MaintenanceOutcome): string | undefined =>
  outcome._tag === 'Refused'
    ? `Cannot drain node ${quoted(name)}: creating its NodeMaintenance is refused: ${outcome.why}`
    : undefined;

/** Lets the API server check what would be made; the problems. */
const triedOnServer = (
  request: DrainNodesRequest,
  question: DrainQuestion,
  nodes: readonly FilteredNode[],
) =>
  askCluster(
    request,
    Effect.forEach(nodes, ({ name }) =>
      createMaintenance(newMaintenance(name, question), { isTrial: true }).pipe(
        Effect.map((outcome) =>
          trialProblem(name, outcome)
        ),
      )).pipe(Effect.map((problems) => answered(problems.filter((one) => one !== undefined)))),
  );

/** Prints what would be done. */
const tried = async (
  { request, nodes, question, terminal }: {
    readonly request: DrainNodesRequest;
    readonly nodes: readonly FilteredNode[];
    readonly question: DrainQuestion;
    readonly terminal: Terminal;
  },
): Promise<ExitCode> => {
  if (question.dryRun === 'server') {
    const answer = await triedOnServer(request, question, nodes);
    if (answer._tag === 'Silent') return logUnreachable(answer, terminal);
    for (const problem of answer.value) terminal.report(problem);
    if (answer.value.length > 0) return EXIT.failure;
  }
  printTrial(nodes, question, terminal);
  return EXIT.ok;
};

/** Nothing is followed that the API server does not serve, or not to this user. */
const followable = (
  cluster: DrainNodesRequest,
  [first]: readonly FilteredNode[],
): Promise<Answer<true>> =>
  askCluster(
    cluster,
    readMaintenances(maintenanceOf(first?.name ?? '')).pipe(
      Effect.map((read) =>
        read._tag === 'Refused'
          ? silent(EXIT.failure, `Cannot list NodeMaintenances: ${read.why}`)
          : answered(true)
      ),
    ),
  );

/** Drains the nodes, of which those without a pod that leaves need only a cordon. */
const drained = async (
  { request, nodes, question }: {
    readonly request: DrainNodesRequest;
    readonly nodes: readonly FilteredNode[];
    readonly question: DrainQuestion;
  },
  environment: CommandEnvironment,
): Promise<ExitCode> => {
  const answer = await drainEmptyNodes({ cluster: request, question, nodes }, environment);
  if (answer._tag === 'Silent') return logUnreachable(answer, environment.terminal);
  const { nodes: left, areAll } = answer.value;
  if (left.length === 0) return areAll ? EXIT.ok : EXIT.failure;
  const maintenances = await followable(request, left);
  if (maintenances._tag === 'Silent') return logUnreachable(maintenances, environment.terminal);
  const code = await followNodeDrains({ cluster: request, question, nodes: left }, environment);
  return code === EXIT.ok && !areAll ? EXIT.failure : code;
};

/** Drains nodes. */
export const runDrainNodes = async (
  request: DrainNodesRequest,
  given: GivenEnvironment,
): Promise<ExitCode> => {
  const environment = { ...given, time: commandTime(given.time) };
  const { terminal, time } = environment;
  const question = drainQuestion(request);
  if (typeof question === 'string') {
    terminal.report(question);
    return EXIT.usage;
  }
  const look = await askCluster(
    request,
    readNodesToDrain(question).pipe(
      Effect.map((read) => typeof read === 'string' ? silent(EXIT.failure, read) : answered(read)),
    ),
    time.observe,
  );
  if (look._tag === 'Silent') return logUnreachable(look, terminal);
  const readings = look.value;
  if (readings.length === 0) {
    terminal.report('No node has the labels of --selector');
    return EXIT.ok;
  }
  const nodes = filteredNodes(readings, question, environment);
  const areAll = nodes.length === readings.length;
  if (nodes.length === 0) return EXIT.failure;
  const code = question.dryRun === 'none'
    ? await drained({ request, nodes, question }, environment)
    : await tried({ request, nodes, question, terminal });
  return code === EXIT.ok && !areAll ? EXIT.failure : code;
};
