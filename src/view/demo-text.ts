/**
 * A demo as text: the changes between two scenes line by line, and a scene as a terminal picture.
 *
 * Promises: pure; one line per change; a picture never exceeds its columns.
 */
import { cutText } from '../domain/text.ts';
import type { DemoMachine, DemoScene } from './demo-scene.ts';
import type { DrainStatus } from './drain-status.ts';
import { oneLine, tableText } from './table.ts';

/** One line: the subject, and what happened. */
export interface DemoLine {
  readonly who: string;
  readonly what: string;
}

/** The progress of a drain and its blockers. */
const drainText = (drain: DrainStatus | undefined): string => {
  if (drain === undefined || drain.state === 'Cordoned') return '';
  if (drain.state === 'Drained') return 'empty';
  const { left, leaving } = drain.pods;
  const [blocker] = drain.blockers;
  return [
    `${left} left`,
    ...(leaving > 0 ? [`${leaving} leaving`] : []),
    ...(blocker === undefined ? [] : [`${blocker.reason}: ${blocker.text}`]),
  ].join(', ');
};

const countLine = (who: string, before: string, now: string): readonly DemoLine[] =>
  before === now ? [] : [{ who, what: now }];

const podsText = ({ pods: { running, all } }: DemoScene): string =>
  all === 0 ? 'none' : `${running} of ${all} running`;

const requestsText = ({ requests: { acknowledged, all } }: DemoScene): string =>
  all === 0 ? 'none' : `${acknowledged} of ${all} acknowledged by the fleet`;

const machineLines = (before: DemoScene, now: DemoScene): readonly DemoLine[] => {
  const known = new Map(before.machines.map((machine) => [machine.name, machine]));
  const moved = now.machines.flatMap((machine): readonly DemoLine[] => {
    const old = known.get(machine.name);
    known.delete(machine.name);
    if (machine.phase === '' || machine.phase === old?.phase) return [];
    const from = old === undefined || old.phase === '' ? '' : `${old.phase} → `;
    return [{ who: machine.name, what: from + machine.phase }];
  });
  return [
    ...moved,
    ...[...known.keys()].map((name) => ({ who: name, what: 'returned to the fleet' })),
  ];
};

/** The changes between two scenes, causes before effects. */
export const demoLines = (before: DemoScene, now: DemoScene): readonly DemoLine[] => {
  const printedLines = new Set(before.timeline.map(({ id }) => id));
  return [
    ...countLine('requests', requestsText(before), requestsText(now)),
    ...machineLines(before, now),
    ...now.timeline.filter(({ id }) => !printedLines.has(id)).map(({ about, reason, note }) => ({
      who: reason,
      what: `${about}: ${note}`,
    })),
    ...countLine('pods', podsText(before), podsText(now)),
  ];
};

const MACHINE_COLUMNS = [
  { heading: 'MACHINE', cell: ({ name }: DemoMachine) => name },
  { heading: 'PHASE', cell: ({ phase }: DemoMachine) => phase },
  { heading: 'PODS', cell: ({ node, pods }: DemoMachine) => node === '' ? '' : String(pods) },
  { heading: 'DRAIN', cell: ({ drain }: DemoMachine) => drainText(drain) },
];

/** The text around the scene in a picture. */
export interface DemoFrame {
  readonly title: string;
  readonly elapsed: string;
  readonly printedLines: readonly string[];
  readonly columns: number;
  readonly rows: number;
}

const budgetsText = ({ budgets }: DemoScene): readonly string[] =>
  budgets.map(({ name, healthy, wanted, all }) =>
    `budget ${name}: ${healthy} of ${all} pods healthy, ${wanted} required`
  );

const cut = (line: string, columns: number): string =>
  line.length > columns ? cutText(line, columns - 1, '…') : line;

/** Renders a scene as a terminal picture. */
export const demoPicture = (scene: DemoScene, frame: DemoFrame): readonly string[] => {
  const { title, elapsed, printedLines, columns, rows } = frame;
  const above = [
    `${title}${elapsed.padStart(Math.max(1, columns - title.length))}`,
    '',
    `pods      ${podsText(scene)}`,
    `requests  ${requestsText(scene)}`,
    ...budgetsText(scene),
    '',
    ...tableText(MACHINE_COLUMNS, scene.machines).trimEnd().split('\n'),
    '',
  ];
  const room = Math.max(3, rows - above.length - 1);
  return [...above, ...printedLines.slice(-room)].map((line) => cut(oneLine(line), columns));
};
