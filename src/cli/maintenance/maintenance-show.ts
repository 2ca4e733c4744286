/**
 * `tidegate maintenance list` and `status`: reads NodeMaintenances and prints them.
 *
 * Promises: read-only; exit code 3 when the requested maintenance does not exist, 4 when the
 * cluster cannot be reached, 2 for invalid arguments; stdout has only records; a watch ends when
 * it has no reader any more.
 */
import { Effect } from 'effect';
import { stringify } from 'yaml';
import type { ObservedMaintenance } from '../../domain/node-maintenance/observed-maintenance.ts';
import { quoted } from '../../domain/text.ts';
import type { Time } from '../../domain/time.ts';
import { readMaintenances } from '../../effects/maintenance-objects.ts';
import {
  byMaintenanceName,
  maintainedNodeColumns,
  type MaintainedNodeView,
  maintenanceColumns,
  type MaintenanceView,
  maintenanceView,
} from '../../view/maintenance-view.ts';
import { type Answer, answered, askCluster, logUnreachable, silent } from '../cluster-question.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { unknownWord } from '../failures.ts';
import { jsonText } from '../terminal/json-text.ts';
import { MAINTENANCE_FORMATS, type MaintenanceShowRequest } from './maintenance-request.ts';
import { type MaintenanceWatch, startMaintenanceWatch } from './maintenance-watch.ts';
import { followRecords } from '../terminal/record-following.ts';
import {
  type RecordFormat,
  type RecordKind,
  type RecordPrinter,
  recordPrinter,
  recordsText,
} from '../terminal/record-printer.ts';
import type { Terminal } from '../terminal/terminal.ts';

const resourceName = (name: string): string => `nodemaintenance.lifecycle.tidegate.dev/${name}`;

const MAINTENANCES: RecordKind<MaintenanceView> = {
  command: 'tidegate maintenance list --watch',
  empty: 'No node is maintained',
  columns: maintenanceColumns,
  keyOf: ({ name }) => name,
  stateOf: (view) => JSON.stringify(view),
  gone: (view) => ({ ...view, phase: 'Gone' }),
  nameOf: ({ name }) => resourceName(name),
};

const nodesOf = (name: string): RecordKind<MaintainedNodeView> => ({
  command: `tidegate maintenance status ${name} --watch`,
  empty: 'The maintenance has no node',
  columns: (_, wide) => maintainedNodeColumns(wide),
  keyOf: ({ node }) => node,
  stateOf: (view) => JSON.stringify(view),
  gone: (view) => ({ ...view, state: 'Gone' }),
  nameOf: ({ node }) => `node/${node}`,
});

const viewsOf = (maintenances: readonly ObservedMaintenance[]): readonly MaintenanceView[] =>
  maintenances.map(maintenanceView).toSorted(byMaintenanceName);

const lookOnce = (
  request: MaintenanceShowRequest,
): Promise<Answer<readonly MaintenanceView[]>> =>
  askCluster(
    request,
    readMaintenances(request.name).pipe(
      Effect.map((read): Answer<readonly MaintenanceView[]> => {
        if (read._tag === 'Refused') {
          return silent(EXIT.failure, `Cannot list NodeMaintenances: ${read.why}`);
        }
        return request.name !== undefined && read.objects.length === 0
          ? silent(
            EXIT.notMet,
            `Cannot find NodeMaintenance ${quoted(request.name)}: it does not exist`,
          )
          : answered(viewsOf(read.objects));
      }),
    ),
  );

/** Documents are of maintenances; a table of one maintenance has its nodes. */
const isDocument = (format: RecordFormat): boolean =>
  format === 'json' || format === 'yaml' || format === 'name';

const heading = ({ name, stage, phase, nodes, reason, message }: MaintenanceView): string =>
  [
    `NodeMaintenance ${quoted(name)}: stage ${stage}${phase === stage ? '' : `, ${phase}`}`,
    ...(nodes === '' ? [] : [`${nodes} nodes drained`]),
    ...(reason === '' ? [] : [reason]),
    ...(message === '' ? [] : [message]),
  ].join('; ');

const printOnce = (
  views: readonly MaintenanceView[],
  { name, format, terminal, nowMs }: {
    readonly name: string | undefined;
    readonly format: RecordFormat;
    readonly terminal: Terminal;
    readonly nowMs: number;
  },
): void => {
  const [only] = views;
  if (name !== undefined && only !== undefined && !isDocument(format)) {
    terminal.report(heading(only));
    if (only.nodeStatuses.length > 0) {
      terminal.print(recordsText(only.nodeStatuses, nodesOf(name), { format, nowMs }));
    }
  } else if (name !== undefined && only !== undefined && format !== 'name') {
    terminal.print(format === 'json' ? jsonText(only) : stringify(only));
  } else if (views.length === 0 && !isDocument(format)) {
    terminal.report(MAINTENANCES.empty);
  } else terminal.print(recordsText(views, MAINTENANCES, { format, nowMs }));
};

/** Watched records of either kind. */
const changingPrinter = (
  terminal: Terminal,
  name: string | undefined,
  format: RecordFormat,
): RecordPrinter<MaintenanceView> => {
  if (name === undefined || isDocument(format)) {
    return recordPrinter(terminal, MAINTENANCES, format);
  }
  const print = recordPrinter(terminal, nodesOf(name), format);
  return {
    ...print,
    show: (views, nowMs) => print.show(views.flatMap(({ nodeStatuses }) => nodeStatuses), nowMs),
  };
};

/** Prints maintenances once, or watches them. */
export const runMaintenanceShow = async (
  request: MaintenanceShowRequest,
  { terminal, time }: { readonly terminal: Terminal; readonly time: Pick<Time, 'now'> },
): Promise<ExitCode> => {
  const { name } = request;
  const format = MAINTENANCE_FORMATS.find((candidate) => candidate === request.format);
  if (format === undefined) {
    terminal.report(unknownWord('--output', request.format, MAINTENANCE_FORMATS));
    return EXIT.usage;
  }
  const look = await lookOnce(request);
  if (look._tag === 'Silent') return logUnreachable(look, terminal);
  if (!request.watch) {
    printOnce(look.value, { name, format, terminal, nowMs: time.now() });
    return EXIT.ok;
  }
  const print = changingPrinter(terminal, name, format);
  let watch: MaintenanceWatch | undefined;
  await followRecords({
    cluster: request,
    report: print.report,
    start: (environment) => watch = startMaintenanceWatch(environment, name),
    show: (nowMs) => print.show(viewsOf(watch?.maintenances() ?? []), nowMs),
    ended: terminal.readerGone,
  });
  print.close();
  return EXIT.ok;
};
