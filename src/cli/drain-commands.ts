/** `tidegate drain` on the command line: what can be asked about drains. */
import { Effect } from 'effect';
import { Argument, Command } from 'effect/cli';
import {
  type DrainPlanRequest,
  drainPlanRequest,
  type DrainStatusRequest,
  drainStatusRequest,
  PLAN_FLAGS,
  STATUS_FLAGS,
} from './drain-request.ts';
import type { ExitCode } from './exit-codes.ts';

/** What stands behind the commands about drains. */
export interface DrainRoles {
  readonly drainStatus: (request: DrainStatusRequest) => Promise<ExitCode>;
  readonly drainPlan: (request: DrainPlanRequest) => Promise<ExitCode>;
}

type Ending = (code: ExitCode) => void;

const statusCommand = (roles: DrainRoles, end: Ending) =>
  Command.make(
    'status',
    {
      nodes: Argument.String('node').pipe(
        Argument.withDescription('Nodes to show; without any, all that are drained or were'),
        Argument.variadic(),
      ),
      ...STATUS_FLAGS,
    },
    (parsed) => {
      const request = drainStatusRequest(parsed);
      return Effect.promise(() => roles.drainStatus(request).then(end));
    },
  ).pipe(
    Command.withDescription(
      'Shows the drains of a cluster: who wants each node, how much time and how many pods are ' +
        'left, and what holds them up. Reads the cluster and changes nothing.',
    ),
    Command.withShortDescription('Show drains and what holds them up'),
    Command.withExamples([
      { command: 'tidegate drain status' },
      { command: 'tidegate drain status node-7 -o wide' },
      { command: 'tidegate drain status --watch' },
    ]),
  );

const planCommand = (roles: DrainRoles, end: Ending) =>
  Command.make(
    'plan',
    {
      node: Argument.String('node').pipe(Argument.withDescription('Node to foresee the drain of')),
      ...PLAN_FLAGS,
    },
    (parsed) => {
      const request = drainPlanRequest(parsed);
      return Effect.promise(() => roles.drainPlan(request).then(end));
    },
  ).pipe(
    Command.withDescription(
      'Says before anything is done which pods of a node would leave in which order, what would ' +
        'hold them up, what is lost with them, and what cannot be known. Changes nothing.',
    ),
    Command.withShortDescription('Foresee the drain of a node'),
    Command.withExamples([
      { command: 'tidegate drain plan node-7' },
      { command: 'tidegate drain plan node-7 --grace=10m --dry-run=server' },
      { command: 'tidegate drain plan node-7 -o json' },
    ]),
  );

/** The command with its subcommands. */
export const drainCommand = (roles: DrainRoles, end: Ending) =>
  Command.make('drain').pipe(
    Command.withDescription('Shows how nodes are given back: drains that run, and drains to come.'),
    Command.withShortDescription('Show drains, or foresee one'),
    Command.withSubcommands([statusCommand(roles, end), planCommand(roles, end)]),
  );
