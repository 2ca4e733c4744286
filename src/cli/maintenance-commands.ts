/** The command `tidegate maintenance`: its verbs are subcommands, so that no name collides. */
import { Effect } from 'effect';
import { Argument, Command } from 'effect/cli';
import type { ExitCode } from './exit-codes.ts';
import { maintenancePlanCommand, type MaintenancePlanRoles } from './maintenance-plan-command.ts';
import {
  type MaintenanceShowRequest,
  maintenanceShowRequest,
  SHOW_FLAGS,
} from './maintenance-request.ts';

/** The implementations. */
export interface MaintenanceRoles extends MaintenancePlanRoles {
  /** `maintenance list`, and with a name `maintenance status`. */
  readonly maintenanceShow: (request: MaintenanceShowRequest) => Promise<ExitCode>;
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

/** The command with its verbs; further ones join the list. */
export const maintenanceCommand = (roles: MaintenanceRoles, end: Ending) =>
  Command.make('maintenance').pipe(
    Command.withDescription(
      'Takes nodes out of service and gives them back, by a NodeMaintenance that the role ' +
        '"maintenance" of the operator works on.',
    ),
    Command.withShortDescription('Maintain nodes'),
    Command.withSubcommands([
      listCommand(roles, end),
      statusCommand(roles, end),
      maintenancePlanCommand(roles, end),
    ]),
  );
