/** The plan of a maintenance as text: waves as a picture, entries, and what is in the way. */
import { plural } from '../domain/drain/verdict.ts';
import { listOrEmptyAt, numberAt, textAt, valueAt } from '../domain/json.ts';
import type { PreviewFinding } from '../domain/node-maintenance/preview.ts';
import { duration } from './duration.ts';
import { type MaintenancePlanView, type PlannedNode, wavesText } from './maintenance-plan.ts';
import { type Column, oneLine, tableText } from './table.ts';

/** More waves are shown by their number alone. */
const DRAWN_WAVES_MAX = 40;

const TURN = '#';
const NO_TURN = '.';

/** `..#.`: the third wave of four. */
const waveCell = (wave: number | null, waves: number): string => {
  if (wave === null) return 'past';
  if (waves > DRAWN_WAVES_MAX) return `${wave}`;
  return NO_TURN.repeat(wave - 1) + TURN + NO_TURN.repeat(waves - wave);
};

const nodeColumns = (
  { waves, topologyKey }: MaintenancePlanView,
): readonly Column<PlannedNode>[] => [
  { heading: 'NODE', cell: ({ node }) => node },
  ...(topologyKey === null
    ? []
    : [{ heading: 'TOPOLOGY', cell: ({ topology }: PlannedNode) => topology ?? '' }]),
  { heading: 'PODS', cell: ({ pods }) => `${pods}` },
  { heading: 'CORDONED', cell: ({ schedulable }) => schedulable ? 'no' : 'yes' },
  { heading: 'WAVE', cell: ({ wave }) => waveCell(wave, waves) },
];

const conditionText = (condition: unknown): string => {
  const values = listOrEmptyAt(condition, 'values').join(',');
  const among = values === '' ? '' : ` (${values})`;
  return `${textAt(condition, 'key') ?? ''} ${textAt(condition, 'operator') ?? ''}${among}`;
};

const selectorText = (entry: object): string =>
  listOrEmptyAt(valueAt(entry, 'podSelector'), 'matchExpressions').map(conditionText).join(', ');

const ENTRY_COLUMNS: readonly Column<object>[] = [
  { heading: 'POD TYPE', cell: (entry) => textAt(entry, 'podType') ?? '' },
  { heading: 'PRIORITY', cell: (entry) => `up to ${numberAt(entry, 'podPriority') ?? 0}` },
  { heading: 'SELECTOR', cell: selectorText },
  { heading: 'PODS', cell: (entry) => `${numberAt(entry, 'pods') ?? 0}` },
];

const FINDING_COLUMNS: readonly Column<PreviewFinding>[] = [
  { heading: 'REASON', cell: ({ reason }) => reason },
  { heading: 'PODS', cell: ({ pods }) => `${pods}` },
  { heading: 'CAUSE', cell: ({ message }) => message },
];

const indented = (table: string): readonly string[] =>
  table.trimEnd().split('\n').map((line) => `  ${line}`);

const tableSection = <Row>(
  title: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): readonly string[] => rows.length === 0 ? [] : ['', title, ...indented(tableText(columns, rows))];

const podsOf = (findings: readonly PreviewFinding[]): number =>
  findings.reduce((sum, { pods }) => sum + pods, 0);

const headline = (plan: MaintenancePlanView): string => {
  const leaving = plan.entries.reduce(
    (sum: number, entry) => sum + (numberAt(entry, 'pods') ?? 0),
    0,
  );
  const blocked = podsOf(plan.blockers);
  return `NodeMaintenance ${oneLine(plan.maintenance)} (stage ${plan.stage}): ${
    wavesText(plan)
  }, ` +
    `${plural(leaving, 'pod')} must leave, ${blocked === 0 ? 'none' : blocked} would be blocked`;
};

const orderText = ({ nodesAtOnce, topologyKey, releaseWhen }: MaintenancePlanView): string => {
  if (nodesAtOnce === null) return 'Waves: all nodes at once';
  const each = topologyKey === null ? '' : ` for each ${oneLine(topologyKey)}`;
  const when = releaseWhen === 'Done' ? 'done' : 'drained';
  return `Waves: ${nodesAtOnce} at once${each}; others follow when they are ${when}`;
};

const boundText = ({ rounds, terminationSeconds }: MaintenancePlanView): string => {
  if (rounds === null || terminationSeconds === null) {
    return 'A budget never allows an eviction: it does not end before that changes';
  }
  return `At least ${
    plural(rounds, 'eviction')
  } one after another; their terminations take up to ` +
    duration(terminationSeconds * 1000);
};

/** The plan as text that ends in a line break. */
export const maintenancePlanText = (plan: MaintenancePlanView): string =>
  [
    headline(plan),
    ...tableSection(orderText(plan), nodeColumns(plan), plan.nodes),
    ...tableSection('Pods leave in this order', ENTRY_COLUMNS, plan.entries),
    ...tableSection('Would be blocked', FINDING_COLUMNS, plan.blockers),
    ...tableSection('Would be lost', FINDING_COLUMNS, plan.losses),
    ...(plan.staticPods === 0
      ? []
      : ['', 'Stays', `  ${plural(plan.staticPods, 'static pod')}: only a kubelet stops them`]),
    ...(plan.entries.length === 0 ? [] : ['', 'Time', `  ${boundText(plan)}`]),
    ...(plan.unknown.length === 0 ? [] : ['', 'Unknown', ...plan.unknown.map((one) => `  ${one}`)]),
    '',
  ].join('\n');
