/** The command `tidegate maintenance`: its verbs are subcommands, so that no name collides. */
import { Effect } from 'effect';
import { Argument, Command } from 'effect/cli';
import type { ExitCode } from '../exit-codes.ts';
import { maintenancePlanCommand, type MaintenancePlanRoles } from './maintenance-plan-command.ts';
import {
  type MaintenanceMoveRequest,
  maintenanceMoveRequest,
  type MaintenanceShowRequest,
  maintenanceShowRequest,
  type MaintenanceStartRequest,
  maintenanceStartRequest,
  MOVE_FLAGS,
  SHOW_FLAGS,
  type StageVerb,
  START_FLAGS,
} from './maintenance-request.ts';

/** The implementations. */
export interface MaintenanceRoles extends MaintenancePlanRoles {
  /** `maintenance list`, and with a name `maintenance status`. */
  readonly maintenanceShow: (request: MaintenanceShowRequest) => Promise<ExitCode>;
  readonly maintenanceStart: (request: MaintenanceStartRequest) => Promise<ExitCode>;
  /** `maintenance cordon`, `drain` and `complete`. */
  readonly maintenanceMove: (request: MaintenanceMoveRequest) => Promise<ExitCode>;
}

type Ending = (code: ExitCode) => void;

const nameArgument = Argument.String('name').pipe(
  Argument.withDescription('Name of the NodeMaintenance'),
);

const listCommand = (roles: MaintenanceRoles, end: Ending) =>
  Command.make('list', SHOW_FLAGS, (parsed) => {
    const request = maintenanceShowRequest(parsed);
    return Effect.promise(() => roles.maintenanceShow(request).then(end));
  }).pipe(
    Command.withDescription(
      'Shows the NodeMaintenances of a cluster: the stage of each, what it waits for, and how ' +
        'many of its nodes are drained. Read-only.',
    ),
    Command.withShortDescription('List maintenances'),
    Command.withExamples([
      { command: 'tidegate maintenance list' },
      { command: 'tidegate maintenance list -o wide --watch' },
    ]),
  );

const statusCommand = (roles: MaintenanceRoles, end: Ending) =>
  Command.make('status', { name: nameArgument, ...SHOW_FLAGS }, (parsed) => {
    const request = maintenanceShowRequest(parsed);
    return Effect.promise(() => roles.maintenanceShow(request).then(end));
  }).pipe(
    Command.withDescription(
      'Shows the nodes of one NodeMaintenance: which are drained, how many pods are left on the ' +
        'others, and what each waits for. Read-only.',
    ),
    Command.withShortDescription('Show the nodes of a maintenance'),
    Command.withExamples([
      { command: 'tidegate maintenance status kernel' },
      { command: 'tidegate maintenance status kernel -o json' },
    ]),
  );

const startCommand = (roles: MaintenanceRoles, end: Ending) =>
  Command.make('start', { name: nameArgument, ...START_FLAGS }, (parsed) => {
    const request = maintenanceStartRequest(parsed);
    return Effect.promise(() => roles.maintenanceStart(request).then(end));
  }).pipe(
    Command.withDescription(
      'Creates a NodeMaintenance of nodes, by name or by label. In stage Idle nothing is touched ' +
        'and its status previews the drain; "cordon", "drain" and "complete" move it on.',
    ),
    Command.withShortDescription('Create a maintenance'),
    Command.withExamples([
      { command: 'tidegate maintenance start kernel --nodes=node-7,node-8' },
      {
        command: 'tidegate maintenance start kernel -l example.com/rack=r1 --reason=kernel ' +
          '--stage=Drain --max-nodes-at-once=2 --wait',
        description: 'Drains a rack, two nodes at a time',
      },
    ]),
  );

/** What a verb does, in its help. */
interface VerbText {
  readonly short: string;
  readonly description: string;
}

const VERB_TEXTS: Readonly<Record<StageVerb, VerbText>> = {
  cordon: {
    short: 'Cordon the nodes of a maintenance',
    description: 'Moves a NodeMaintenance to stage Cordon: its nodes get no new pods, and an ' +
      'uncordon by others is reverted.',
  },
  drain: {
    short: 'Drain the nodes of a maintenance',
    description: 'Moves a NodeMaintenance to stage Drain: its nodes are cordoned, and their pods ' +
      'leave in the order of its plan.',
  },
  complete: {
    short: 'Give the nodes of a maintenance back',
    description: 'Moves a NodeMaintenance to stage Complete: its cordons are removed. A node ' +
      'becomes schedulable unless a person, the fleet or another maintenance holds it.',
  },
};

const moveCommand = (verb: StageVerb, roles: MaintenanceRoles, end: Ending) =>
  Command.make(verb, { name: nameArgument, ...MOVE_FLAGS }, (parsed) => {
    const request = maintenanceMoveRequest(verb, parsed);
    return Effect.promise(() => roles.maintenanceMove(request).then(end));
  }).pipe(
    Command.withDescription(`${VERB_TEXTS[verb].description} Stages go forward only.`),
    Command.withShortDescription(VERB_TEXTS[verb].short),
    Command.withExamples([
      { command: `tidegate maintenance ${verb} kernel` },
      {
        command: `tidegate maintenance ${verb} kernel --wait --timeout=30m`,
        description: 'With its progress; exits with 0 when the work of the stage is done',
      },
    ]),
  );

/** The command with its verbs; further ones join the list. */
export const maintenanceCommand = (roles: MaintenanceRoles, end: Ending) =>
  Command.make('maintenance').pipe(
    Command.withDescription(
      'Takes nodes out of service and gives them back, by a NodeMaintenance that the role ' +
        '"maintenance" of the operator works on.',
    ),
    Command.withShortDescription('Maintain nodes'),
    Command.withSubcommands([
      startCommand(roles, end),
      moveCommand('cordon', roles, end),
      moveCommand('drain', roles, end),
      moveCommand('complete', roles, end),
      listCommand(roles, end),
      statusCommand(roles, end),
      maintenancePlanCommand(roles, end),
    ]),
  );
