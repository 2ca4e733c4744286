/** `tidegate charts` on the command line: the lifecycles as pictures, and what became of them. */
import { Effect } from 'effect';
import { Argument, Command } from 'effect/cli';
import {
  type ChartsDiffRequest,
  chartsDiffRequest,
  type ChartsExportRequest,
  chartsExportRequest,
  DIFF_FLAGS,
  EXPORT_FLAGS,
} from './charts-request.ts';
import type { ExitCode } from './exit-codes.ts';

/** What stands behind the commands about charts. */
export interface ChartRoles {
  readonly chartsExport: (request: ChartsExportRequest) => Promise<ExitCode>;
  readonly chartsDiff: (request: ChartsDiffRequest) => Promise<ExitCode>;
}

type Ending = (code: ExitCode) => void;

const machinesArgument = Argument.String('machine').pipe(
  Argument.withDescription('Machines by name, such as nodeDrain; without any, all of them'),
  Argument.variadic(),
);

const exportCommand = (roles: ChartRoles, end: Ending) =>
  Command.make(
    'export',
    { machines: machinesArgument, ...EXPORT_FLAGS },
    (parsed) => Effect.promise(() => roles.chartsExport(chartsExportRequest(parsed)).then(end)),
  ).pipe(
    Command.withDescription(
      'Draws the lifecycles of this version: as SVG, as Mermaid, and as the JSON that the editor ' +
        'of Stately and the inspector of XState understand.',
    ),
    Command.withShortDescription('Draw lifecycles'),
    Command.withExamples([
      { command: 'tidegate charts export nodeDrain > node-drain.svg' },
      { command: 'tidegate charts export --out charts' },
      { command: 'tidegate charts export budget --format=mermaid' },
    ]),
  );

const diffCommand = (roles: ChartRoles, end: Ending) =>
  Command.make(
    'diff',
    {
      revision: Argument.String('revision').pipe(
        Argument.withDescription('Revision of the repository, such as main or v1.2.0'),
      ),
      machines: machinesArgument,
      ...DIFF_FLAGS,
    },
    (parsed) => Effect.promise(() => roles.chartsDiff(chartsDiffRequest(parsed)).then(end)),
  ).pipe(
    Command.withDescription(
      'Says which states and transitions were added, removed and changed since a revision, and ' +
        'draws them in colour. Runs inside of the repository.',
    ),
    Command.withShortDescription('Compare lifecycles with a revision'),
    Command.withExamples([
      { command: 'tidegate charts diff main' },
      { command: 'tidegate charts diff HEAD~1 nodeDrain --out /tmp/charts' },
    ]),
  );

/** The command with its subcommands. */
export const chartsCommand = (roles: ChartRoles, end: Ending) =>
  Command.make('charts').pipe(
    Command.withDescription('Shows the lifecycles that this program is made of.'),
    Command.withShortDescription('Draw lifecycles, or compare them with a revision'),
    Command.withSubcommands([exportCommand(roles, end), diffCommand(roles, end)]),
  );
