/**
 * A placed chart as SVG, for files, the command line and the page.
 *
 * Promises: legible in light and dark mode without a script; every state and arrow carries its
 * paths as data attributes and a title, so that a page can highlight it and a screen reader can
 * read it.
 */
import { transitionText } from './chart.ts';
import {
  BOX_PADDING,
  type PlacedArrow,
  type PlacedChart,
  type PlacedState,
  type Point,
} from './chart-layout.ts';
import {
  FONT_SIZES,
  LINE_HEIGHTS,
  lineText,
  lineWidth,
  type Piece,
  type Row,
} from './chart-rows.ts';

/** The highlighting of a state or an arrow. */
export type Mark = 'added' | 'removed' | 'changed';

/** What to highlight, and whether to include the style sheet. */
export interface SvgOptions {
  /** States by path. */
  readonly states?: ReadonlyMap<string, Mark>;
  readonly arrows?: (arrow: PlacedArrow) => Mark | undefined;
  /** A page that already has the style sheet omits it. */
  readonly isStyled?: boolean;
}

/** The colours of charts, by what they are for. */
const LIGHT: Readonly<Record<string, string>> = {
  paper: '#fbfcfd',
  box: '#ffffff',
  outer: '#f3f6f9',
  line: '#c3ccd6',
  ink: '#17212b',
  soft: '#5b6875',
  arrow: '#7b8896',
  cause: '#0b5cad',
  condition: '#7a4b00',
  action: '#5f3dc4',
  reason: '#8a5a00',
  'reason-paper': '#fff3d6',
  final: '#2b7a4b',
  added: '#1a7f37',
  removed: '#cf222e',
  changed: '#9a6700',
};

const DARK: Readonly<Record<string, string>> = {
  paper: '#0f1419',
  box: '#1c242d',
  outer: '#151b22',
  line: '#3a4653',
  ink: '#e6edf3',
  soft: '#9aa7b4',
  arrow: '#7d8a97',
  cause: '#79b8ff',
  condition: '#e3b341',
  action: '#c0a8ff',
  reason: '#f2cc60',
  'reason-paper': '#3a2d0c',
  final: '#56d364',
  added: '#3fb950',
  removed: '#f85149',
  changed: '#d29922',
};

const FONT =
  '.chart{font-family:Inter,ui-sans-serif,system-ui,-apple-system,"Segoe UI",Helvetica,' +
  'Arial,sans-serif}';

const RULES = `
.chart text{fill:var(--ink);white-space:pre}
.chart .paper{fill:var(--paper)}
.chart .state>rect{fill:var(--box);stroke:var(--line);stroke-width:1.25}
.chart .outer>rect{fill:var(--outer)}
.chart .outer>text{paint-order:stroke;stroke:var(--outer);stroke-width:4px;stroke-linejoin:round}
.chart .region>rect{stroke-dasharray:5 4}
.chart .final>rect{stroke:var(--final)}
.chart .name,.chart .machine{font-weight:650}
.chart text.description,.chart .plain{fill:var(--soft)}
.chart .cause{fill:var(--cause)}
.chart .condition{fill:var(--condition)}
.chart .action{fill:var(--action)}
.chart .name .plain,.chart .machine .plain{fill:var(--ink)}
.chart .reason .plain{fill:var(--reason);font-weight:600}
.chart .state>.pill{fill:var(--reason-paper);stroke:none}
.chart .arrow path{fill:none;stroke:var(--arrow);stroke-width:1.4}
.chart .arrow .head,.chart .dot{fill:var(--arrow);stroke:none}
.chart .end{fill:none;stroke:var(--final);stroke-width:1.5}
.chart .end-core{fill:var(--final);stroke:none}
.chart .arrow .paper{opacity:.88}
.chart .added>rect,.chart .added>path{stroke:var(--added);stroke-width:2.5}
.chart .removed>rect,.chart .removed>path{stroke:var(--removed);stroke-width:2.5}
.chart .removed>rect,.chart .removed>path{stroke-dasharray:6 4}
.chart .changed>rect,.chart .changed>path{stroke:var(--changed);stroke-width:2.5}
.chart .added>.head{fill:var(--added)}.chart .removed>.head{fill:var(--removed)}
.chart .changed>.head{fill:var(--changed)}
`;

const variables = (colors: Readonly<Record<string, string>>): string =>
  `.chart{${Object.entries(colors).map(([name, color]) => `--${name}:${color}`).join(';')}}`;

const inDark = (rules: string): string => `@media (prefers-color-scheme:dark){${rules}}`;

/** The style sheet of charts; colours are variables, so that a page can set its own. */
export const CHART_STYLE = [variables(LIGHT), FONT, inDark(variables(DARK)), RULES].join('\n');

const literal = (colors: Readonly<Record<string, string>>): string =>
  RULES.replaceAll(/var\(--([a-z-]+)\)/g, (_, name: string) => colors[name] ?? name);

/** The same for files: not every program that draws SVG knows variables. */
const FILE_STYLE = [FONT, literal(LIGHT), inDark(literal(DARK))].join('\n');

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (one) => ESCAPES[one] ?? one);

const pieceSvg = ({ role, text }: Piece): string =>
  `<tspan class="${role}">${escaped(text)}</tspan>`;

const lineSvg = (pieces: readonly Piece[]): string => pieces.map(pieceSvg).join(' ');

const rowSvg = (row: Row, { x, y }: Point): string => {
  const { style, pieces } = row;
  const size = FONT_SIZES[style];
  const text = `<text class="${style}" x="${x}" y="${y}" font-size="${size}">` +
    `${lineSvg(pieces)}</text>`;
  if (style !== 'reason') return text;
  const width = Math.ceil(lineWidth(pieces, style) * 1.12) + 12;
  return `<rect class="pill" x="${x}" y="${y - 12}" width="${width}" height="16" rx="8"/>` +
    `<text class="${style}" x="${x + 6}" y="${y}" font-size="${size}">${lineSvg(pieces)}</text>`;
};

const rowsSvg = (state: PlacedState): string => {
  let bottom = state.y + BOX_PADDING - 4;
  return state.rows.map((row) => {
    bottom += LINE_HEIGHTS[row.style];
    return rowSvg(row, { x: state.x + BOX_PADDING, y: bottom - 4 });
  }).join('');
};

const rectSvg = ({ x, y, width, height }: PlacedState, inset: number): string =>
  `<rect x="${x + inset}" y="${y + inset}" width="${width - 2 * inset}" ` +
  `height="${height - 2 * inset}" rx="${10 - inset}"/>`;

const titleSvg = (text: string): string => `<title>${escaped(text)}</title>`;

const isOuter = ({ kind }: PlacedState): boolean => kind === 'compound' || kind === 'parallel';

const groupSvg = (state: PlacedState, mark: Mark | undefined, content: string): string => {
  const classes = [
    'state',
    ...(isOuter(state) ? ['outer'] : []),
    ...(state.isRegion ? ['region'] : []),
    ...(state.isEnd ? ['final'] : []),
    ...(mark === undefined ? [] : [mark]),
  ];
  const text = state.rows.filter(({ style }) => style !== 'move' && style !== 'act')
    .map(({ pieces }) => lineText(pieces)).join(' ');
  return `<g class="${classes.join(' ')}" data-state="${escaped(state.path)}">` +
    `${titleSvg(text)}${content}</g>`;
};

/** The sign of an end, as in UML: a ring around a dot. */
const endSvg = ({ x, y, width }: PlacedState): string =>
  [['end', 6], ['end-core', 3.5]].map(([name, radius]) =>
    `<circle class="${name}" cx="${x + width - 14}" cy="${y + 14}" r="${radius}"/>`
  ).join('');

const framesSvg = (state: PlacedState): string =>
  rectSvg(state, 0) + (state.isEnd ? rectSvg(state, 3) + endSvg(state) : '');

const BEND = 7;

/** A path with rounded corners. */
const wayOf = (points: readonly Point[]): string => {
  const [start, ...rest] = points;
  if (start === undefined) return '';
  const towards = (from: Point, to: Point, distance: number): Point => {
    const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    const part = Math.min(distance, length / 2) / length;
    return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
  };
  const at = ({ x, y }: Point): string => `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;
  return rest.reduce((way, point, index) => {
    const next = rest[index + 1];
    const before = rest[index - 1] ?? start;
    if (next === undefined) return `${way} L${at(point)}`;
    const into = towards(point, before, BEND);
    return `${way} L${at(into)} Q${at(point)} ${at(towards(point, next, BEND))}`;
  }, `M${at(start)}`);
};

/** The head of an arrow that ends at its last point. */
const headOf = (points: readonly Point[]): string => {
  const tip = points.at(-1);
  const before = points.at(-2);
  if (tip === undefined || before === undefined) return '';
  const length = Math.hypot(tip.x - before.x, tip.y - before.y) || 1;
  const along = { x: (tip.x - before.x) / length, y: (tip.y - before.y) / length };
  const corner = (side: number): string =>
    `${Math.round(tip.x - along.x * 8 - along.y * 4 * side)} ` +
    `${Math.round(tip.y - along.y * 8 + along.x * 4 * side)}`;
  return `M${tip.x} ${tip.y} L${corner(1)} L${corner(-1)} Z`;
};

const labelSvg = ({ label }: PlacedArrow): string => {
  if (label === null) return '';
  const { x, y, width, height, lines } = label;
  return `<rect class="paper" x="${x}" y="${y}" width="${width}" height="${height}" rx="3"/>` +
    lines.map((line, at) =>
      `<text x="${x + 4}" y="${y + 2 + LINE_HEIGHTS.arrow * (at + 1) - 4}" ` +
      `font-size="${FONT_SIZES.arrow}">${lineSvg(line)}</text>`
    ).join('');
};

const arrowSvg = (arrow: PlacedArrow, mark: Mark | undefined): string => {
  const text = arrow.transitions.map(transitionText).join('\n');
  return `<g class="arrow${mark === undefined ? '' : ` ${mark}`}" ` +
    `data-from="${escaped(arrow.from)}" data-to="${escaped(arrow.to)}">` +
    titleSvg(`${arrow.from} \u2192 ${arrow.to}${text === '' ? '' : `\n${text}`}`) +
    `<path d="${wayOf(arrow.points)}"/><path class="head" d="${headOf(arrow.points)}"/>` +
    `${labelSvg(arrow)}</g>`;
};

/** Draws a placed chart. */
export const chartSvg = (chart: PlacedChart, options: SvgOptions = {}): string => {
  const { states = new Map(), arrows = () => undefined, isStyled = true } = options;
  const { width, height } = chart;
  const drawn = (which: readonly PlacedState[], content: (state: PlacedState) => string) =>
    which.map((state) => groupSvg(state, states.get(state.path), content(state)));
  const outer = chart.states.filter(isOuter);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" width="${width}" ` +
    `height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `aria-label="${escaped(`Statechart ${chart.name}`)}">`,
    ...(isStyled ? [`<style>${FILE_STYLE}</style>`] : []),
    `<rect class="paper" width="${width}" height="${height}"/>`,
    ...drawn(outer, framesSvg),
    ...chart.arrows.map((arrow) => arrowSvg(arrow, arrows(arrow))),
    ...chart.beginnings.map(({ x, y }) => `<circle class="dot" cx="${x}" cy="${y}" r="5"/>`),
    // Arrows may cross the heads of outer boxes: their labels are drawn on top.
    ...drawn(outer, rowsSvg),
    ...drawn(
      chart.states.filter((state) => !isOuter(state)),
      (state) => `${framesSvg(state)}${rowsSvg(state)}`,
    ),
    '</svg>',
    '',
  ].join('\n');
};
