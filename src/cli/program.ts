/**
 * The command line: what can be asked of this program, and how it answers.
 *
 * Promises: a command line that cannot be used ends with exit code 2 and one line on stderr; help
 * and version go to stdout; a command that crashes ends with 1 and its reason, never with a stack.
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
import { normalizedArguments } from './arguments.ts';
import { type ChartRoles, chartsCommand } from './charts-commands.ts';
import { demoCommand, type DemoRoles } from './demo-request.ts';
import { drainCommand, type DrainRoles } from './drain-commands.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { EXPLAIN_FLAGS, type ExplainRequest, explainRequest } from './explain-request.ts';
import { flagsOf, givenFlags } from './option-flags.ts';
import { replayCommand, type ReplayRoles } from './replay-command.ts';
import type { Terminal } from './terminal.ts';
import { usageError } from './usage-error.ts';
import { VERSION } from './version.ts';

/** Flags by name, as given. */
export type GivenFlags = Readonly<Record<string, string>>;

/** What stands behind the commands. Each runs to its end and says how it ended. */
export interface Roles extends ChartRoles, DemoRoles, DrainRoles, ReplayRoles {
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
      'Runs the operator of one cluster: tells the fleet what is wanted, shows what is coming. ' +
        'Flags without a command mean this one.',
    ),
    Command.withShortDescription('Run the operator of one cluster'),
    Command.withExamples([
      {
        command: 'tidegate operator --cluster-id=prod-1 --shard-addr=shard.fleet.svc:7700',
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
      'Makes a CapacityRequest for every pod of the cluster, so that what the pods need is what ' +
        'the fleet is asked for. The same as `tidegate operator --with-pods`, in a process of ' +
        'its own.',
    ),
    Command.withShortDescription('Ask the fleet for what pods need'),
    Command.withExamples([
      { command: 'tidegate pods', description: 'Run in a pod' },
      {
        command: 'tidegate pods --priority-class-defaults-file=penalties.yaml ' +
          "--namespace-selector='!sandbox'",
        description: 'Price pods by their PriorityClass; leave labelled namespaces out',
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
      'Runs a stand-in fleet: a shard and its machines that exist only in memory, for trying the ' +
        'operator and for tests.',
    ),
    Command.withShortDescription('Run a stand-in fleet'),
    Command.withExamples([
      { command: 'tidegate fleet --seed-machines=50', description: 'Fifty machines, plaintext' },
      {
        command: 'tidegate fleet --kubeconfig=$HOME/.kube/config --bindings-file=fleet.json',
        description: 'Make Nodes, and remember the bindings over a restart',
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
      'Runs an embedded cluster: an API server, controllers and kubelets that exist only in ' +
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
        description: 'A minute in every second',
      },
    ]),
  );

const explainCommand = (roles: Roles, end: Ending) =>
  Command.make(
    'explain',
    {
      kind: Argument.String('kind').pipe(
        Argument.withDescription(
          'capacityrequest (cr), machine, node, pod, or upcomingnode (upn); without a name, a node',
        ),
      ),
      name: Argument.String('name').pipe(
        Argument.withDescription(
          'NAMESPACE/NAME of a request or pod, id of a machine, or object name',
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
      'Says what an object is, what state it is in, why, what it waits for, and who can act. ' +
        'Reads the cluster and changes nothing.',
    ),
    Command.withShortDescription('Say why an object is as it is'),
    Command.withExamples([
      { command: 'tidegate explain capacityrequest team-a/batch-7' },
      { command: 'tidegate explain cr batch-7 -n team-a -o json' },
      { command: 'tidegate explain pod team-a/web-7', description: 'What a pod asks for' },
      { command: 'tidegate explain machine m-0042' },
      { command: 'tidegate explain node-7', description: 'A node and its drain' },
    ]),
  );

const rootCommand = (roles: Roles, end: Ending) =>
  Command.make('tidegate').pipe(
    Command.withDescription(
      "The cluster's edge of a fleet autoscaler: demand up, machines in, nodes back.",
    ),
    Command.withSubcommands([
      operatorCommand(roles, end),
      podsCommand(roles, end),
      fleetCommand(roles, end),
      clusterCommand(roles, end),
      explainCommand(roles, end),
      drainCommand(roles, end),
      chartsCommand(roles, end),
      replayCommand(roles, end),
      demoCommand(roles, end),
    ]),
  );

/** Help and version to stdout; what is wrong to stderr, in one line. */
const presenter = (terminal: Terminal): CliOutput.Presenter => ({
  present: (event) =>
    Effect.gen(function* () {
      const formatter = yield* CliOutput.Formatter;
      switch (event._tag) {
        case 'InvalidInvocation':
          return terminal.report(usageError(event.errors, event.commandPath));
        case 'Version':
          return terminal.print(`${event.name} ${event.version}\n`);
        default:
          return terminal.print(`${formatter.formatHelpDoc(event.helpDoc).trim()}\n`);
      }
    }),
});

/**
 * What `effect/cli` asks of the runtime. The package `@effect/platform-node` bundles the same, and
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
  const command = rootCommand(roles, (ending) => {
    code = ending;
  });
  const run = Command.runWith(command, { version: VERSION });
  const services = Layer.mergeAll(
    nodeServices,
    CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
    CliOutput.layer(CliOutput.defaultFormatter({ colors: terminal.colors })),
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
