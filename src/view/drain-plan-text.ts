/** The plan of a drain as text: a table of the tiers, then warnings and unknowns. */
import { runbookUrl } from '../domain/documentation.ts';
import { TOLERATES_TEXT } from '../domain/drain/plan.ts';
import { actionText, plural } from '../domain/drain/verdict.ts';
import { duration } from './duration.ts';
import type {
  DrainPlanView,
  PlannedBlocker,
  PlannedPod,
  PlannedStay,
  PlannedTier,
} from './drain-plan.ts';
import { type Column, oneLine, tableText } from './table.ts';

/** A pod with the number of its tier, counted from 1. */
interface Row extends PlannedPod {
  readonly tier: number;
  readonly priority: number | null;
}

const goes = ({ verdict, leaving, budget, reason }: PlannedPod): string => {
  if (verdict !== 'Leaves') return `${verdict.toLowerCase()}: ${reason}`;
  if (leaving) return 'terminating';
  return budget === null ? 'immediately' : `one by one: ${budget}`;
};

const loses = ({ willNotComeBack, losesData }: PlannedPod): string =>
  [willNotComeBack ? 'not recreated' : '', losesData ? 'emptyDir data' : '']
    .filter((loss) => loss !== '').join(', ');

const COLUMNS: readonly Column<Row>[] = [
  { heading: 'TIER', cell: ({ tier }) => String(tier) },
  { heading: 'PRIORITY', cell: ({ priority }) => priority === null ? 'own' : String(priority) },
  { heading: 'POD', cell: ({ pod }) => pod },
  { heading: 'CONTROLLER', cell: ({ controller }) => controller ?? '' },
  { heading: 'GOES', cell: goes },
  { heading: 'LOST', cell: loses },
];

const rowsOf = (tiers: readonly PlannedTier[]): readonly Row[] =>
  tiers.flatMap(({ priority, pods }, at) =>
    pods.map((pod) => ({ ...pod, tier: at + 1, priority }))
  );

const headline = ({ node, tiers, staying, blockers, graceSeconds }: DrainPlanView): string => {
  const leaving = tiers.reduce((sum, { pods }) => sum + pods.length, 0);
  const blocked = blockers.reduce((sum, { pods }) => sum + pods.length, 0);
  const order = leaving === 0 ? '' : ` in ${plural(tiers.length, 'tier')}`;
  return `Node ${oneLine(node)}: ${plural(leaving, 'pod')} must leave${order}, ` +
    `${blocked === 0 ? 'none' : blocked} would be blocked; ${plural(staying.length, 'pod')} ` +
    `${staying.length === 1 ? 'stays' : 'stay'} (grace ${duration(graceSeconds * 1000)})`;
};

const orderOf = ({ tiers, tierWaitSeconds }: DrainPlanView): readonly string[] =>
  tiers.length < 2 ? [] : [
    `A tier starts when all earlier tiers are gone, when they make no progress for ${
      duration(tierWaitSeconds * 1000)
    },`,
    'or in the last quarter of the grace period.',
  ];

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${oneLine(line)}`)];

const blockerLines = ({ reason, pods, text, canAct, change, runbook }: PlannedBlocker) => {
  const action = actionText({ canAct, change });
  return [
    `${reason}: ${text}`,
    `  Pods: ${pods.join(', ')}`,
    ...(action === '' ? [] : [`  ${action}`]),
    ...(runbook === '' ? [] : [`  Runbook: ${runbookUrl(runbook)}`]),
  ];
};

const STAYS: Readonly<Record<PlannedStay['role'], string>> = {
  DaemonSet: 'is managed by a DaemonSet',
  Mirror: 'is a mirror pod of the kubelet',
  Finished: 'has finished',
  ToleratesCordon: TOLERATES_TEXT,
  StatefulLocalVolume: 'has data on this node only',
};

/** The plan as text that ends in a line break. */
export const drainPlanText = (plan: DrainPlanView): string => {
  const { forecast } = plan;
  const rows = rowsOf(plan.tiers);
  return [
    headline(plan),
    ...(rows.length === 0 ? [] : ['', tableText(COLUMNS, rows).trimEnd()]),
    ...section('Order', orderOf(plan)),
    ...section('Forecast', forecast === '' ? [] : [forecast]),
    ...section('Would be blocked', plan.blockers.flatMap(blockerLines)),
    ...section('Not recreated', plan.willNotComeBack),
    ...section('Loses emptyDir data', plan.losesData),
    ...section('Stays', plan.staying.map(({ pod, role }) => `${pod} ${STAYS[role]}`)),
    ...section('Unknown', plan.unknown),
    '',
  ].join('\n');
};
