/** The command `tidegate maintenance plan`. */
import { Effect } from 'effect';
import { Argument, Command } from 'effect/cli';
import type { ExitCode } from '../exit-codes.ts';
import {
  MAINTENANCE_PLAN_FLAGS,
  type MaintenancePlanRequest,
  maintenancePlanRequest,
} from './maintenance-plan-request.ts';

/** The implementation. */
export interface MaintenancePlanRoles {
  readonly maintenancePlan: (request: MaintenancePlanRequest) => Promise<ExitCode>;
}

/** The command. */
export const maintenancePlanCommand = (
  roles: MaintenancePlanRoles,
  end: (code: ExitCode) => void,
) =>
  Command.make(
    'plan',
    {
      source: Argument.String('maintenance').pipe(
        Argument.withDescription('A file with a NodeMaintenance, - for stdin, or the name of one'),
      ),
      ...MAINTENANCE_PLAN_FLAGS,
    },
    (parsed) => {
      const request = maintenancePlanRequest(parsed);
      return Effect.promise(() => roles.maintenancePlan(request).then(end));
    },
  ).pipe(
    Command.withDescription(
      'Previews a maintenance of nodes: which nodes are drained in which wave, which pods leave ' +
        'in which order, and what would block them. With --simulate, it also plays the ' +
        'maintenance on a copy of the cluster in memory. Read-only.',
    ),
    Command.withShortDescription('Preview a maintenance of nodes'),
    Command.withExamples([
      { command: 'tidegate maintenance plan kernel.yaml' },
      { command: 'tidegate maintenance plan kernel -o json' },
      { command: 'tidegate maintenance plan kernel --simulate --node-work=5m' },
    ]),
  );
