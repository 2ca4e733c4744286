/** The command `tidegate charts`: lifecycles as pictures, and their changes. */
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
import type { ExitCode } from '../exit-codes.ts';

/** The implementations of the chart commands. */
export interface ChartRoles {
  readonly chartsExport: (request: ChartsExportRequest) => Promise<ExitCode>;
  readonly chartsDiff: (request: ChartsDiffRequest) => Promise<ExitCode>;
}

type Ending = (code: ExitCode) => void;

const machinesArgument = Argument.String('machine').pipe(
  Argument.withDescription('Machine names, such as nodeDrain (default all)'),
  Argument.variadic(),
);

const exportCommand = (roles: ChartRoles, end: Ending) =>
  Command.make(
    'export',
    { machines: machinesArgument, ...EXPORT_FLAGS },
    (parsed) => Effect.promise(() => roles.chartsExport(chartsExportRequest(parsed)).then(end)),
  ).pipe(
    Command.withDescription(
      'Exports the lifecycles of this version as SVG, as Mermaid, and as JSON for the editor ' +
        'of Stately and the inspector of XState.',
    ),
    Command.withShortDescription('Export lifecycles'),
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
      'Lists the states and transitions that were added, removed and changed since a revision, ' +
        'and draws them in colour. Runs inside the repository.',
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
    Command.withDescription('Shows the lifecycles of this program.'),
    Command.withShortDescription('Export lifecycles, or compare them with a revision'),
    Command.withSubcommands([exportCommand(roles, end), diffCommand(roles, end)]),
  );
