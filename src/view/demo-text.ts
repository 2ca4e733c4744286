/**
 * A demo as text: its numbers, and a scene as a terminal picture.
 *
 * Promises: pure; a picture never exceeds its columns.
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
  const [blocker] = [...drain.blockers, ...drain.waits];
  return [
    `${left} left`,
    ...(leaving > 0 ? [`${leaving} leaving`] : []),
    ...(blocker === undefined ? [] : [`${blocker.reason}: ${blocker.text}`]),
  ].join(', ');
};

/** How many pods run. */
export const podsText = ({ pods: { running, all } }: DemoScene): string =>
  all === 0 ? 'none' : `${running} of ${all} running`;

/** How many requests the fleet acknowledged. */
export const requestsText = ({ requests: { acknowledged, all } }: DemoScene): string =>
  all === 0 ? 'none' : `${acknowledged} of ${all} acknowledged by the fleet`;

const BAR_COLUMNS = 24;

/** A progress bar; empty when there is nothing to do. */
const barOf = (done: number, all: number): string => {
  const full = all === 0 ? 0 : Math.round(BAR_COLUMNS * Math.min(1, done / all));
  return '█'.repeat(full) + '░'.repeat(BAR_COLUMNS - full);
};

const MACHINE_COLUMNS = [
  { heading: 'MACHINE', cell: ({ name }: DemoMachine) => name },
  { heading: 'PHASE', cell: ({ phase }: DemoMachine) => phase },
  { heading: 'PODS', cell: ({ node, pods }: DemoMachine) => node === '' ? '' : String(pods) },
  { heading: 'DRAIN', cell: ({ drain }: DemoMachine) => drainText(drain) },
];

/** Who is asked to let each pod leave. */
const evictionsText = ({ evictions }: DemoScene): readonly string[] =>
  evictions.map(({ pod, phase, active, message }) =>
    `eviction of ${pod}: ${phase}${active === null ? '' : ` ${active}`}${
      message === '' ? '' : `, ${message}`
    }`
  );

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
    `requests  ${barOf(scene.requests.acknowledged, scene.requests.all)}  ${requestsText(scene)}`,
    `pods      ${barOf(scene.pods.running, scene.pods.all)}  ${podsText(scene)}`,
    ...budgetsText(scene),
    ...evictionsText(scene),
    '',
    ...tableText(MACHINE_COLUMNS, scene.machines).trimEnd().split('\n'),
    '',
  ];
  const room = Math.max(3, rows - above.length - 1);
  return [...above, ...printedLines.slice(-room)].map((line) => cut(oneLine(line), columns));
};
