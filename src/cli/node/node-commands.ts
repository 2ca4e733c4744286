/** The command `tidegate node`: its verbs are subcommands, so that no name of a node collides. */
import { Effect } from 'effect';
import { Argument, Command } from 'effect/cli';
import type { ExitCode } from '../exit-codes.ts';
import {
  NODE_DISABLE_FLAGS,
  NODE_ENABLE_FLAGS,
  NODE_GONE_FLAGS,
  NODE_STATUS_FLAGS,
  type NodeDisableRequest,
  nodeDisableRequest,
  type NodeEnableRequest,
  nodeEnableRequest,
  type NodeGoneRequest,
  nodeGoneRequest,
  type NodeStatusRequest,
  nodeStatusRequest,
} from './node-request.ts';

/** The implementations. */
export interface NodeRoles {
  readonly nodeStatus: (request: NodeStatusRequest) => Promise<ExitCode>;
  readonly nodeDisable: (request: NodeDisableRequest) => Promise<ExitCode>;
  readonly nodeEnable: (request: NodeEnableRequest) => Promise<ExitCode>;
  readonly nodeConfirmGone: (request: NodeGoneRequest) => Promise<ExitCode>;
}

type Ending = (code: ExitCode) => void;

const nodeArgument = Argument.String('node').pipe(Argument.withDescription('Name of the Node'));

const statusCommand = (roles: NodeRoles, end: Ending) =>
  Command.make(
    'status',
    { node: Argument.optional(nodeArgument), ...NODE_STATUS_FLAGS },
    (parsed) => Effect.promise(() => roles.nodeStatus(nodeStatusRequest(parsed)).then(end)),
  ).pipe(
    Command.withDescription(
      'Shows the state of each node and how many of its pods are stateless or stateful; of one ' +
        'node, its pods and what is lost with it. Read-only.',
    ),
    Command.withShortDescription('Show the state of nodes'),
    Command.withExamples([
      { command: 'tidegate node status' },
      { command: 'tidegate node status node-7 -o json' },
    ]),
  );

const disableCommand = (roles: NodeRoles, end: Ending) =>
  Command.make(
    'disable',
    { node: nodeArgument, ...NODE_DISABLE_FLAGS },
    (parsed) => Effect.promise(() => roles.nodeDisable(nodeDisableRequest(parsed)).then(end)),
  ).pipe(
    Command.withDescription(
      'Takes a node out of service: it is cordoned, and the operator drains it before all other ' +
        'nodes. It stays so until it is enabled.',
    ),
    Command.withShortDescription('Take a node out of service'),
    Command.withExamples([
      { command: 'tidegate node disable node-7 --why=memory' },
      { command: 'tidegate node disable node-7 --why=memory --accept-downtime' },
    ]),
  );

const enableCommand = (roles: NodeRoles, end: Ending) =>
  Command.make(
    'enable',
    { node: nodeArgument, ...NODE_ENABLE_FLAGS },
    (parsed) => Effect.promise(() => roles.nodeEnable(nodeEnableRequest(parsed)).then(end)),
  ).pipe(
    Command.withDescription(
      'Gives a disabled node back. It becomes schedulable unless a person, the fleet or a ' +
        'maintenance holds it.',
    ),
    Command.withShortDescription('Give a disabled node back'),
    Command.withExamples([{ command: 'tidegate node enable node-7' }]),
  );

const confirmGoneCommand = (roles: NodeRoles, end: Ending) =>
  Command.make(
    'confirm-gone',
    { node: nodeArgument, ...NODE_GONE_FLAGS },
    (parsed) => Effect.promise(() => roles.nodeConfirmGone(nodeGoneRequest(parsed)).then(end)),
  ).pipe(
    Command.withDescription(
      'Confirms that the machine of a node is off and will not come back by itself: the node ' +
        'gets the taint node.kubernetes.io/out-of-service, so that Kubernetes deletes its pods ' +
        'and detaches their volumes. Lists them first. Refused for a node that is Ready.',
    ),
    Command.withShortDescription('Confirm that a machine is gone'),
    Command.withExamples([
      { command: 'tidegate node confirm-gone node-7' },
      { command: 'tidegate node confirm-gone node-7 --accept-local-loss' },
    ]),
  );

/** The command with its verbs. */
export const nodeCommand = (roles: NodeRoles, end: Ending) =>
  Command.make('node').pipe(
    Command.withDescription(
      'Shows nodes, takes them out of service and gives them back, with the role "availability" ' +
        'of the operator.',
    ),
    Command.withShortDescription('Show, disable and enable nodes'),
    Command.withSubcommands([
      statusCommand(roles, end),
      disableCommand(roles, end),
      enableCommand(roles, end),
      confirmGoneCommand(roles, end),
    ]),
  );
