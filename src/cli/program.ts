/**
 * The command line of this program.
 *
 * Promises: an invalid command line exits with code 2 and one line on stderr; help and version go
 * to stdout; a crashed command exits with 1 and its cause, never with a stack.
 */
import { layer as nodeChildProcesses } from '@effect/platform-node-shared/NodeChildProcessSpawner';
import { layer as nodeFileSystem } from '@effect/platform-node-shared/NodeFileSystem';
import { layer as nodePath } from '@effect/platform-node-shared/NodePath';
import { layer as nodeStdio } from '@effect/platform-node-shared/NodeStdio';
import { layer as nodeTerminal } from '@effect/platform-node-shared/NodeTerminal';
import { Effect, Layer } from 'effect';
import { Argument, CliConfig, CliOutput, Command, GlobalFlag } from 'effect/cli';
import { CLUSTER_OPTIONS, CLUSTER_VARIABLES } from '../effects/cluster-options.ts';
import { FLEET_OPTIONS } from '../effects/fleet-options.ts';
import { OPERATOR_OPTIONS } from '../effects/operator-options.ts';
import { POD_OPTIONS, POD_VARIABLES } from '../effects/pod-settings.ts';
import { FLEET_VARIABLES, OPERATOR_VARIABLES } from '../effects/settings.ts';
import { completionCommand, versionCommand } from './about-commands.ts';
import { normalizedArguments } from './arguments.ts';
import { type ChartRoles, chartsCommand } from './charts/charts-commands.ts';
import { demoCommand, type DemoRoles } from './demo/demo-request.ts';
import { doctorCommand, type DoctorRoles } from './doctor/doctor-command.ts';
import { drainCommand, type DrainRoles } from './drain/drain-commands.ts';
import {
  evictCommand,
  type EvictionRoles,
  evictionsCommand,
} from './evictions/evictions-commands.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { EXPLAIN_FLAGS, type ExplainRequest, explainRequest } from './explain/explain-request.ts';
import { helpText } from './help-text.ts';
import { maintenanceCommand, type MaintenanceRoles } from './maintenance/maintenance-commands.ts';
import { nodeCommand, type NodeRoles } from './node/node-commands.ts';
import { flagsOf, givenFlags } from './option-flags.ts';
import { replayCommand, type ReplayRoles } from './replay/replay-command.ts';
import type { Terminal } from './terminal/terminal.ts';
import { treeCommand, type TreeRoles } from './explain/tree-command.ts';
import { usageError } from './usage-error.ts';
import { VERSION } from './version.ts';

/** Flags by name, as given. */
export type GivenFlags = Readonly<Record<string, string>>;

/** The implementations of the commands. Each runs to its end and returns its exit code. */
export interface Roles
  extends
    ChartRoles,
    DemoRoles,
    DoctorRoles,
    DrainRoles,
    EvictionRoles,
    MaintenanceRoles,
    NodeRoles,
    ReplayRoles,
    TreeRoles {
  readonly operator: (flags: GivenFlags) => Promise<ExitCode>;
  readonly pods: (flags: GivenFlags) => Promise<ExitCode>;
  readonly fleet: (flags: GivenFlags) => Promise<ExitCode>;
  readonly cluster: (flags: GivenFlags) => Promise<ExitCode>;
  readonly explain: (request: ExplainRequest) => Promise<ExitCode>;
}

type Ending = (code: ExitCode) => void;

const operatorCommand = (roles: Roles, end: Ending) =>
  Command.make(
    'operator',
    flagsOf(OPERATOR_OPTIONS, OPERATOR_VARIABLES),
    (parsed) => Effect.promise(() => roles.operator(givenFlags(parsed)).then(end)),
  ).pipe(
    Command.withDescription(
      'Runs the operator of one cluster: reports demand to the fleet and drains nodes. ' +
        'This is the default command.',
    ),
    Command.withShortDescription('Run the operator of one cluster'),
    Command.withExamples([
      {
        command: 'tidegate operator --cluster-id=prod-1 --shard-addr=shard.fleet.svc:7700 ' +
          '--insecure-plaintext',
        description: 'Run in a pod, in plaintext',
      },
      {
        command: 'tidegate --cluster-id=prod-1 --shard-addr=shard.fleet:7700 ' +
          '--tls-cert=tls.crt --tls-key=tls.key --tls-ca=ca.crt',
        description: 'Run with mTLS',
      },
    ]),
  );

const podsCommand = (roles: Roles, end: Ending) =>
  Command.make(
    'pods',
    flagsOf(POD_OPTIONS, POD_VARIABLES),
    (parsed) => Effect.promise(() => roles.pods(givenFlags(parsed)).then(end)),
  ).pipe(
    Command.withDescription(
      'Creates a CapacityRequest for every pod of the cluster, so that the fleet provides what ' +
        'the pods need. The same as `tidegate operator --with-pods`, in a process of ' +
        'its own.',
    ),
    Command.withShortDescription('Create CapacityRequests for pods'),
    Command.withExamples([
      { command: 'tidegate pods', description: 'Run in a pod' },
      {
        command: 'tidegate pods --priority-class-defaults-file=penalties.yaml ' +
          "--namespace-selector='!sandbox'",
        description: 'Price pods by their PriorityClass; exclude labelled namespaces',
      },
    ]),
  );

const fleetCommand = (roles: Roles, end: Ending) =>
  Command.make(
    'fleet',
    flagsOf(FLEET_OPTIONS, FLEET_VARIABLES),
    (parsed) => Effect.promise(() => roles.fleet(givenFlags(parsed)).then(end)),
  ).pipe(
    Command.withDescription(
      'Runs a stand-in fleet: a shard and its machines in memory, for trying the ' +
        'operator and for tests.',
    ),
    Command.withShortDescription('Run a stand-in fleet'),
    Command.withExamples([
      { command: 'tidegate fleet --seed-machines=50', description: 'Fifty machines, plaintext' },
      {
        command: 'tidegate fleet --kubeconfig=$HOME/.kube/config --bindings-file=fleet.json',
        description: 'Create Nodes, and keep the bindings over a restart',
      },
    ]),
  );

const clusterCommand = (roles: Roles, end: Ending) =>
  Command.make(
    'cluster',
    flagsOf(CLUSTER_OPTIONS, CLUSTER_VARIABLES),
    (parsed) => Effect.promise(() => roles.cluster(givenFlags(parsed)).then(end)),
  ).pipe(
    Command.withDescription(
      'Runs an embedded cluster: an API server, controllers and kubelets in ' +
        'memory, for kubectl, for the operator and for tests.',
    ),
    Command.withShortDescription('Run an embedded cluster'),
    Command.withExamples([
      {
        command: 'tidegate cluster --nodes=20 --write-kubeconfig=kubeconfig',
        description: 'Twenty nodes; then: kubectl --kubeconfig=kubeconfig get nodes',
      },
      {
        command: 'tidegate cluster --time-rate=60',
        description: 'A minute per second',
      },
    ]),
  );

const explainCommand = (roles: Roles, end: Ending) =>
  Command.make(
    'explain',
    {
      kind: Argument.String('kind').pipe(
        Argument.withDescription(
          'capacityrequest (cr), evictionrequest, machine, node, nodemaintenance (nm), pod, ' +
            'poddisruptionbudget (pdb), or upcomingnode (upn); without a name, a node',
        ),
      ),
      name: Argument.String('name').pipe(
        Argument.withDescription(
          'NAMESPACE/NAME of a request, pod or budget, id of a machine, or object name',
        ),
        Argument.optional,
      ),
      ...EXPLAIN_FLAGS,
    },
    (parsed) => {
      const request = explainRequest(parsed);
      return Effect.promise(() => roles.explain(request).then(end));
    },
  ).pipe(
    Command.withDescription(
      'Explains an object: what it is, its state and cause, what it waits for, and who can act. ' +
        'Read-only.',
    ),
    Command.withShortDescription('Explain the state of an object'),
    Command.withExamples([
      { command: 'tidegate explain capacityrequest team-a/batch-7' },
      { command: 'tidegate explain cr batch-7 -n team-a -o json' },
      {
        command: 'tidegate explain pod team-a/web-7',
        description: 'The demand of a pod, or who is asked to let it leave',
      },
      {
        command: 'tidegate explain pdb team-a/db',
        description: 'A budget, and the drains that wait for it',
      },
      { command: 'tidegate explain machine m-0042' },
      { command: 'tidegate explain node-7', description: 'A node and its drain' },
    ]),
  );

type AnyCommand = Command.Command.Any;

const rootCommand = (roles: Roles, terminal: Terminal, end: Ending) => {
  const root: () => AnyCommand = () => command;
  const command = Command.make('tidegate').pipe(
    Command.withDescription(
      "A cluster's side of a fleet autoscaler: reports demand, shows machines, drains nodes.",
    ),
    Command.withSubcommands([
      {
        group: 'Look at a cluster',
        commands: [
          explainCommand(roles, end),
          drainCommand(roles, end),
          evictionsCommand(roles, end),
          treeCommand(roles, end),
          doctorCommand(roles, end),
        ],
      },
      {
        group: 'Change a cluster',
        commands: [
          evictCommand(roles, end),
          maintenanceCommand(roles, end),
          nodeCommand(roles, end),
        ],
      },
      {
        group: 'Try it on this machine',
        commands: [demoCommand(roles, end), clusterCommand(roles, end), fleetCommand(roles, end)],
      },
      {
        group: 'Run',
        commands: [operatorCommand(roles, end), podsCommand(roles, end)],
      },
      {
        group: 'Lifecycles',
        commands: [chartsCommand(roles, end), replayCommand(roles, end)],
      },
      {
        group: 'This program',
        commands: [completionCommand(root, terminal, end), versionCommand(terminal, end)],
      },
    ]),
  );
  return command;
};

/** Longer lines are hard to read, however wide the terminal is. */
const HELP_COLUMNS_MAX = 100;

/** Help and version to stdout; problems to stderr, in one line. */
const presenter = (terminal: Terminal): CliOutput.Presenter => ({
  present: (event) =>
    Effect.sync(() => {
      const columns = Math.min(terminal.size().columns, HELP_COLUMNS_MAX);
      switch (event._tag) {
        case 'InvalidInvocation':
          return terminal.report(usageError(event.errors, event.commandPath));
        case 'Version':
          return terminal.print(`${event.name} ${event.version}\n`);
        default:
          return terminal.print(helpText(event.helpDoc, { columns, colors: terminal.colors }));
      }
    }),
});

/**
 * The runtime services of `effect/cli`. The package `@effect/platform-node` bundles the same, and
 * brings an HTTP stack and a Redis client along.
 */
const nodeServices = nodeChildProcesses.pipe(
  Layer.provideMerge(Layer.mergeAll(nodeFileSystem, nodePath, nodeStdio, nodeTerminal)),
);

/** Runs one command line to its end. */
export const runProgram = async (
  given: readonly string[],
  roles: Roles,
  terminal: Terminal,
): Promise<ExitCode> => {
  let code: ExitCode = EXIT.ok;
  const command = rootCommand(roles, terminal, (ending) => {
    code = ending;
  });
  const run = Command.runWith(command, { version: VERSION });
  const services = Layer.mergeAll(
    nodeServices,
    CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version] }),
    CliOutput.layerPresenter(presenter(terminal)),
  );
  const asked = run(normalizedArguments(given)).pipe(
    Effect.catchTag('ShowHelp', (help) =>
      Effect.sync(() => {
        if (help.errors.length > 0) code = EXIT.usage;
      })),
    Effect.provide(services),
  );
  await Effect.runPromise(asked);
  return code;
};
