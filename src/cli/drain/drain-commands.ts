/** The command `tidegate drain`. */
import { Effect } from 'effect';
import { Argument, Command } from 'effect/cli';
import {
  ACKNOWLEDGE_FLAGS,
  type DrainAcknowledgeRequest,
  drainAcknowledgeRequest,
  type DrainPlanRequest,
  drainPlanRequest,
  type DrainStatusRequest,
  drainStatusRequest,
  PLAN_FLAGS,
  STATUS_FLAGS,
} from './drain-request.ts';
import {
  DRAIN_FLAGS,
  type DrainNodesRequest,
  drainNodesRequest,
} from '../drain-node/drain-node-request.ts';
import type { ExitCode } from '../exit-codes.ts';

/** The implementations of the drain commands. */
export interface DrainRoles {
  readonly drainNodes: (request: DrainNodesRequest) => Promise<ExitCode>;
  readonly drainStatus: (request: DrainStatusRequest) => Promise<ExitCode>;
  readonly drainPlan: (request: DrainPlanRequest) => Promise<ExitCode>;
  readonly drainAcknowledge: (request: DrainAcknowledgeRequest) => Promise<ExitCode>;
}

type Ending = (code: ExitCode) => void;

const statusCommand = (roles: DrainRoles, end: Ending) =>
  Command.make(
    'status',
    {
      nodes: Argument.String('node').pipe(
        Argument.withDescription('Nodes to show (default: all with a current or past drain)'),
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
      'Shows the drains of a cluster: the owners of each drain, its remaining time and pods, ' +
        'and its blockers. Read-only.',
    ),
    Command.withShortDescription('Show drains and their blockers'),
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
      node: Argument.String('node').pipe(Argument.withDescription('Node whose drain to preview')),
      ...PLAN_FLAGS,
    },
    (parsed) => {
      const request = drainPlanRequest(parsed);
      return Effect.promise(() => roles.drainPlan(request).then(end));
    },
  ).pipe(
    Command.withDescription(
      'Previews the drain of a node: which pods would leave in which order, what would ' +
        'block them, which data would be lost, and what cannot be predicted. Read-only.',
    ),
    Command.withShortDescription('Preview the drain of a node'),
    Command.withExamples([
      { command: 'tidegate drain plan node-7' },
      { command: 'tidegate drain plan node-7 --grace=10m --dry-run=server' },
      { command: 'tidegate drain plan node-7 -o json' },
    ]),
  );

const acknowledgeCommand = (roles: DrainRoles, end: Ending) =>
  Command.make(
    'acknowledge',
    {
      node: Argument.String('node').pipe(Argument.withDescription('Node whose pods may stay')),
      ...ACKNOWLEDGE_FLAGS,
    },
    (parsed) => {
      const request = drainAcknowledgeRequest(parsed);
      return Effect.promise(() => roles.drainAcknowledge(request).then(end));
    },
  ).pipe(
    Command.withDescription(
      'Accepts that the pods whose data is on a node only stay there, so that its drain ends ' +
        'when all others are gone. It names the pods of now: a pod that comes later needs ' +
        'another one, and so does the next drain.',
    ),
    Command.withShortDescription('Accept that pods with local data stay'),
    Command.withExamples([
      { command: 'tidegate drain acknowledge node-7' },
      { command: 'tidegate drain acknowledge node-7 --why="the databases stay"' },
    ]),
  );

/** The command with its subcommands; a node of their name is named as `node/status`. */
export const drainCommand = (roles: DrainRoles, end: Ending) =>
  Command.make(
    'drain',
    {
      nodes: Argument.String('node').pipe(
        Argument.withDescription('Nodes to drain; "node/status" for a node that is named "status"'),
        Argument.variadic(),
      ),
      ...DRAIN_FLAGS,
    },
    (parsed) => {
      const request = drainNodesRequest(parsed);
      return Effect.promise(() => roles.drainNodes(request).then(end));
    },
  ).pipe(
    Command.withDescription(
      'Drains nodes as "kubectl drain" does: with its flags, output and exit codes, and by a ' +
        'NodeMaintenance for each node, which the role "maintenance" of the operator works on. ' +
        'The nodes stay cordoned.',
    ),
    Command.withShortDescription('Drain nodes, show drains, or preview one'),
    Command.withExamples([
      { command: 'tidegate drain node-7 --ignore-daemonsets' },
      {
        command: 'tidegate drain -l example.com/rack=r1 --ignore-daemonsets --timeout=30m',
        description: 'All nodes of a rack, side by side',
      },
      { command: 'tidegate drain node-7 --dry-run=client' },
    ]),
    Command.withSubcommands([
      statusCommand(roles, end),
      planCommand(roles, end),
      acknowledgeCommand(roles, end),
    ]),
  );
