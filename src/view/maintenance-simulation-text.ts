/** The outcome of a simulated maintenance as text. */
import { plural } from '../domain/drain/verdict.ts';
import type { PreviewFinding } from '../domain/node-maintenance/preview.ts';
import { duration } from './duration.ts';
import type {
  MaintenanceSimulationView,
  SimulatedNode,
  SimulatedShortfall,
  SimulatedUnplaced,
} from './maintenance-simulation.ts';
import { type Column, tableText } from './table.ts';

const time = (seconds: number | null): string =>
  seconds === null ? 'never' : duration(seconds * 1000);

/** The columns of the picture. */
const PICTURE_COLUMNS = 40;

/** `...###....`: when the node is drained, of the whole time. */
const pictureOf = ({ beganSeconds, endedSeconds }: SimulatedNode, total: number): string => {
  const at = (seconds: number): number =>
    total === 0 ? 0 : Math.round(PICTURE_COLUMNS * seconds / total);
  const begin = Math.min(PICTURE_COLUMNS - 1, at(beganSeconds));
  const end = Math.max(begin + 1, at(endedSeconds ?? total));
  return '.'.repeat(begin) + '#'.repeat(end - begin) + '.'.repeat(PICTURE_COLUMNS - end);
};

const nodeColumns = (total: number): readonly Column<SimulatedNode>[] => [
  { heading: 'NODE', cell: ({ node }) => node },
  { heading: 'WAVE', cell: ({ wave }) => `${wave}` },
  { heading: 'BEGIN', cell: ({ beganSeconds }) => time(beganSeconds) },
  { heading: 'END', cell: ({ endedSeconds }) => time(endedSeconds) },
  { heading: 'DRAIN', cell: (node) => pictureOf(node, total) },
];

const SHORTFALL_COLUMNS: readonly Column<SimulatedShortfall>[] = [
  { heading: 'OBJECT', cell: ({ object }) => object },
  { heading: 'BEFORE', cell: ({ ready }) => `${ready}` },
  { heading: 'WANTED', cell: ({ wanted }) => `${wanted}` },
  { heading: 'LOWEST', cell: ({ lowest }) => `${lowest}` },
  { heading: 'FOR', cell: ({ lowestSeconds }) => time(lowestSeconds) },
  { heading: 'BELOW BEFORE', cell: ({ belowSeconds }) => time(belowSeconds) },
];

const UNPLACED_COLUMNS: readonly Column<SimulatedUnplaced>[] = [
  { heading: 'OWNER', cell: ({ owner }) => owner },
  { heading: 'PODS', cell: ({ pods }) => `${pods}` },
  { heading: 'LEFT', cell: ({ left }) => `${left}` },
  { heading: 'LONGEST', cell: ({ seconds }) => time(seconds) },
  { heading: 'CAUSE', cell: ({ message }) => message },
];

const BLOCKER_COLUMNS: readonly Column<PreviewFinding>[] = [
  { heading: 'REASON', cell: ({ reason }) => reason },
  { heading: 'PODS', cell: ({ pods }) => `${pods}` },
  { heading: 'CAUSE', cell: ({ message }) => message },
];

const section = <Row>(
  title: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): readonly string[] =>
  rows.length === 0
    ? []
    : ['', title, ...tableText(columns, rows).trimEnd().split('\n').map((line) => `  ${line}`)];

const headline = (view: MaintenanceSimulationView): string => {
  const { drained, seconds, podStartupSeconds, podShutdownSeconds } = view;
  const ended = view.nodes.filter(({ endedSeconds }) => endedSeconds !== null).length;
  const outcome = drained
    ? `drained in ${time(seconds)}`
    : `nothing moved any more after ${time(seconds)}, with ${plural(ended, 'node')} drained`;
  const stop = podShutdownSeconds === null ? 'their grace' : time(podShutdownSeconds);
  return `Simulated: ${outcome} (pods take ${time(podStartupSeconds)} to start, ${stop} to stop)`;
};

/** The outcome as text that ends in a line break. */
export const maintenanceSimulationText = (view: MaintenanceSimulationView): string =>
  [
    headline(view),
    ...section('Nodes in order', nodeColumns(view.seconds), view.nodes),
    ...section('Fewer ready pods than before', SHORTFALL_COLUMNS, view.shortfalls),
    ...section('Pods without a place', UNPLACED_COLUMNS, view.unplaced),
    ...section('Blocked at the end', BLOCKER_COLUMNS, view.blockers),
    '',
    'Not known to the simulation',
    ...view.unknown.map((one) => `  ${one}`),
    '',
  ].join('\n');
