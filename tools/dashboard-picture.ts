/**
 * Draws panels of the dashboard from a real run into docs/pictures/dashboard.svg: an operator with
 * all roles on an embedded cluster, watched by Prometheus from its start for a minute.
 *
 * Grafana is not part of it: the lines are those of Prometheus, the drawing is this tool's.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { listOrEmptyAt, textRecordOrEmptyAt } from '../src/domain/json.ts';
import { realTime } from '../src/effects/real-time.ts';
import { dashboardQueries, type PanelQuery } from '../test/support/monitoring/dashboard-queries.ts';
import { type MonitoredRun, monitoredRun } from '../test/support/monitoring/monitored-run.ts';
import { spawnTidegate } from '../test/support/processes/tidegate-child.ts';
import { prometheus } from './testbed/observability.ts';

const PICTURE = fileURLToPath(new URL('../docs/pictures/dashboard.svg', import.meta.url));
const RUN_MS = 60_000;
/** A panel of each row, and those that drains and a lost node move. */
const DRAWN: readonly string[] = [
  'tidegate_session_state',
  'tidegate_pod_demands',
  'tidegate_machines',
  'tidegate_nodes',
  'tidegate_lost_pods_total',
  'tidegate_drains',
  'tidegate_pod_evictions',
  'tidegate_evictions_total',
  'tidegate_serving_gates',
  'tidegate_eviction_requests',
  'rest_client_requests_total',
  'tidegate_write_wait_seconds (99th percentile)',
];

const COLUMNS = 3;
const PANEL = { width: 300, height: 150, top: 34, bottom: 26, left: 12, gap: 12 };
const HEAD = 44;
const COLORS = ['#3b7dd8', '#d8703b', '#2f9e6e', '#a04fc4', '#c43f5b', '#8a8a2a'];
const LEGEND_MAX = 4;

/** A line: its legend, and points of seconds and values. */
interface Line {
  readonly legend: string;
  readonly points: readonly (readonly [number, number])[];
}

interface Panel {
  readonly query: PanelQuery;
  readonly lines: readonly Line[];
}

const pointOf = (sample: unknown): readonly (readonly [number, number])[] => {
  if (!Array.isArray(sample)) return [];
  const [seconds, value]: readonly unknown[] = sample;
  const number = Number(value);
  return Number.isFinite(number) ? [[Number(seconds), number]] : [];
};

const panelOf = async (
  { ask }: MonitoredRun,
  query: PanelQuery,
  span: Readonly<Record<'start' | 'end' | 'step', string>>,
): Promise<Panel> => {
  const data = await ask('query_range', { query: query.expr, ...span });
  const lines = listOrEmptyAt(data, 'result').map((series) => ({
    legend: Object.values(textRecordOrEmptyAt(series, 'metric')).join(' '),
    points: listOrEmptyAt(series, 'values').flatMap(pointOf),
  }));
  const moves = ({ points }: Line): boolean => points.some(([, value]) => value > 0);
  return { query, lines: lines.filter(moves) };
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const numberText = (value: number): string =>
  value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)));

/** Grafana's name of numbers without a unit says nothing here. */
const panelUnit = ({ unit }: PanelQuery): string => unit === 'short' ? '' : ` ${escaped(unit)}`;

const rangeText = (top: number, unit: string): string =>
  top > 0 ? `up to ${numberText(top)}${unit}` : 'always 0';

const panelSvg = (
  { query, lines }: Panel,
  index: number,
  [from, to]: readonly number[],
): string => {
  const x = (index % COLUMNS) * (PANEL.width + PANEL.gap) + PANEL.gap;
  const y = Math.floor(index / COLUMNS) * (PANEL.height + PANEL.gap) + HEAD;
  const top = Math.max(...lines.flatMap(({ points }) => points.map(([, value]) => value)), 0);
  const wide = PANEL.width - 2 * PANEL.left;
  const high = PANEL.height - PANEL.top - PANEL.bottom;
  const at = ([seconds, value]: readonly [number, number]): string => {
    const right = PANEL.left + ((seconds - (from ?? 0)) / ((to ?? 1) - (from ?? 0))) * wide;
    return `${right.toFixed(1)},${(PANEL.top + high - (value / top) * high).toFixed(1)}`;
  };
  const drawn = lines.map(({ points }, line) =>
    `<polyline fill="none" stroke="${COLORS[line % COLORS.length]}" stroke-width="1.5" ` +
    `points="${points.map(at).join(' ')}"/>`
  );
  const legend = lines.slice(0, LEGEND_MAX).map((line, turn) =>
    `<tspan fill="${COLORS[turn % COLORS.length]}">${escaped(line.legend || query.legend)} </tspan>`
  );
  const more = lines.length > LEGEND_MAX ? ` and ${lines.length - LEGEND_MAX} more` : '';
  return [
    `<g transform="translate(${x} ${y})">`,
    `<rect width="${PANEL.width}" height="${PANEL.height}" rx="4" fill="#fff" stroke="#d0d4da"/>`,
    `<text x="${PANEL.left}" y="16" font-weight="600">${escaped(query.title)}</text>`,
    `<text x="${PANEL.left}" y="29" class="note">${rangeText(top, panelUnit(query))}</text>`,
    ...drawn,
    `<text x="${PANEL.left}" y="${PANEL.height - 9}">${legend.join('')}${more}</text>`,
    '</g>',
  ].join('\n');
};

const pictureOf = (panels: readonly Panel[], span: readonly number[]): string => {
  const width = COLUMNS * (PANEL.width + PANEL.gap) + PANEL.gap;
  const height = Math.ceil(panels.length / COLUMNS) * (PANEL.height + PANEL.gap) + HEAD;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
    `viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="10">`,
    '<style>text{fill:#1f2328}.note{fill:#59636e}</style>',
    `<rect width="${width}" height="${height}" fill="#f4f5f7"/>`,
    `<text x="${PANEL.gap}" y="20" font-size="14" font-weight="600">Tidegate</text>`,
    `<text x="${PANEL.gap}" y="35" class="note">Answers of Prometheus to queries of the dashboard ` +
    'in a minute of a real run; drawn by tools/dashboard-picture.ts, not by Grafana</text>',
    ...panels.map((panel, index) => panelSvg(panel, index, span)),
    '</svg>',
    '',
  ].join('\n');
};

const folder = await mkdtemp(join(tmpdir(), 'tidegate-picture-'));
const beganMs = realTime.now();
const run = await monitoredRun({ start: spawnTidegate, prometheus: await prometheus(), folder });
try {
  await new Promise<void>((resolve) => {
    realTime.schedule(Math.max(0, beganMs + RUN_MS - realTime.now()), resolve);
  });
  const start = Math.floor(beganMs / 1000);
  const end = start + RUN_MS / 1000;
  const span = { start: String(start), end: String(end), step: '1' };
  const queries = dashboardQueries('15s');
  const chosen = DRAWN.flatMap((title) => queries.find((query) => query.title === title) ?? []);
  const panels: Panel[] = [];
  for (const query of chosen) panels.push(await panelOf(run, query, span));
  await writeFile(PICTURE, pictureOf(panels, [start, end]));
  process.stdout.write(`wrote ${PICTURE}\n`);
} finally {
  await run.stop();
  await rm(folder, { recursive: true, force: true });
}
