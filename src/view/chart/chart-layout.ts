/**
 * The layout of a chart: boxes, arrows and labels, in pixels.
 *
 * Promises: plain data; the same layout on every machine and runtime. The layout kernel is large,
 * so it is loaded on first use and never in a browser; an operator is installed without it.
 */
import type { ElkExtendedEdge, ElkNode, LayoutOptions } from 'elkjs/lib/elk-api.js';
import { loadOnDemand } from '../../domain/package-missing.ts';
import { type Chart, type ChartState, type ChartTransition, statesOf } from './chart.ts';
import {
  type Arrow,
  arrowsOf,
  LINE_HEIGHTS,
  lineWidth,
  type Piece,
  type Row,
  rowsOf,
} from './chart-rows.ts';

/** A rectangle, from its upper left corner. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A point of the picture. */
export type Point = Pick<Box, 'x' | 'y'>;

/** A placed state. */
export interface PlacedState extends Box {
  readonly path: string;
  readonly kind: ChartState['kind'];
  readonly isRegion: boolean;
  /** It is never left. */
  readonly isEnd: boolean;
  readonly tags: readonly string[];
  readonly rows: readonly Row[];
}

/** A placed arrow; the one to the initial state has no transitions. */
export interface PlacedArrow {
  readonly from: string;
  readonly to: string;
  readonly transitions: readonly ChartTransition[];
  readonly points: readonly Point[];
  readonly label: (Box & { readonly lines: readonly (readonly Piece[])[] }) | null;
}

/** A chart that can be drawn. */
export interface PlacedChart {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** Outermost first, so that inner ones are drawn on top. */
  readonly states: readonly PlacedState[];
  readonly arrows: readonly PlacedArrow[];
  /** Dots where the arrows to initial states start. */
  readonly beginnings: readonly (Point & { readonly of: string })[];
}

/** Padding around the text of a box. */
export const BOX_PADDING = 12;
const INNER_GAP = 16;
const DOT = 10;

const OPTIONS: LayoutOptions = {
  'elk.algorithm': 'layered',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.spacing.nodeNodeBetweenLayers': '28',
  'elk.layered.spacing.edgeNodeBetweenLayers': '14',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '10',
  'elk.spacing.nodeNode': '28',
  'elk.spacing.edgeNode': '16',
  'elk.spacing.edgeEdge': '12',
  'elk.spacing.edgeLabel': '4',
};

const idOf = (path: string): string => `state:${path}`;
const dotOf = (path: string): string => `first:${path}`;

const innerOf = (rows: readonly Row[]): Pick<Box, 'width' | 'height'> => ({
  width: Math.max(...rows.map(({ pieces, style }) => lineWidth(pieces, style))) + 2 * BOX_PADDING,
  height: rows.reduce((sum, { style }) => sum + LINE_HEIGHTS[style], 0) + 2 * BOX_PADDING - 4,
});

const nodeOf = (chart: Chart, state: ChartState, options: LayoutOptions): ElkNode => {
  const { width, height } = innerOf(rowsOf(chart, state));
  const node = { id: idOf(state.path), width: Math.ceil(width), height: Math.ceil(height) };
  if (state.states.length === 0) return node;
  // The kernel rotates a picture that runs down by a quarter, but not the sizes requested within
  // it.
  const least = options['elk.direction'] === 'DOWN'
    ? `(${node.height}, ${node.width})`
    : `(${node.width}, ${node.height})`;
  return {
    ...node,
    layoutOptions: {
      ...OPTIONS,
      ...options,
      'elk.padding': `[top=${node.height + INNER_GAP / 2},left=${INNER_GAP},` +
        `bottom=${INNER_GAP},right=${INNER_GAP}]`,
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': least,
    },
    children: [
      ...(state.initial === null ? [] : [{ id: dotOf(state.path), width: DOT, height: DOT }]),
      ...state.states.map((inner) => nodeOf(chart, inner, options)),
    ],
  };
};

const edgeOf = ({ from, to, lines }: Arrow, isForward: boolean): ElkExtendedEdge => ({
  id: `${from} ${to}`,
  layoutOptions: { 'elk.layered.priority.direction': isForward ? '20' : '0' },
  sources: [idOf(from)],
  targets: [idOf(to)],
  labels: lines.length === 0 ? [] : [{
    text: `${lines.length}`,
    width: Math.ceil(Math.max(...lines.map((line) => lineWidth(line, 'arrow')))) + 8,
    height: LINE_HEIGHTS.arrow * lines.length + 4,
    layoutOptions: { 'elk.edgeLabels.inline': 'true', 'elk.edgeLabels.placement': 'CENTER' },
  }],
});

const firstEdges = (state: ChartState): readonly ElkExtendedEdge[] =>
  statesOf(state).flatMap(({ path, initial }) =>
    initial === null ? [] : [{
      id: dotOf(path),
      sources: [dotOf(path)],
      targets: [idOf(initial)],
      layoutOptions: { 'elk.layered.priority.straightness': '10' },
    }]
  );

const rounded = ({ x = 0, y = 0 }: Partial<Point>): Point => ({
  x: Math.round(x),
  y: Math.round(y),
});

const boxOf = (shape: Partial<Box>): Box => ({
  ...rounded(shape),
  width: Math.round(shape.width ?? 0),
  height: Math.round(shape.height ?? 0),
});

const pointsOf = ({ sections = [] }: ElkExtendedEdge): readonly Point[] =>
  sections.flatMap(({ startPoint, bendPoints = [], endPoint }) =>
    [startPoint, ...bendPoints, endPoint].map(rounded)
  );

const nodesOf = (node: ElkNode): readonly ElkNode[] => [
  node,
  ...(node.children ?? []).flatMap(nodesOf),
];

const edgesOf = (node: ElkNode): readonly ElkExtendedEdge[] =>
  nodesOf(node).flatMap(({ edges = [] }) => edges);

const regionsOf = (state: ChartState): readonly string[] =>
  statesOf(state).flatMap(({ kind, states }) =>
    kind === 'parallel' ? states.map(({ path }) => path) : []
  );

const placedArrows = (
  chart: Chart,
  edges: ReadonlyMap<string, ElkExtendedEdge>,
): readonly PlacedArrow[] => {
  const firsts = statesOf(chart.root).flatMap(({ path, initial }) => {
    const edge = edges.get(dotOf(path));
    if (initial === null || edge === undefined) return [];
    const points = pointsOf(edge);
    return [{ from: path, to: initial, transitions: [], points, label: null }];
  });
  const moves = arrowsOf(chart).flatMap(({ lines, ...arrow }) => {
    const edge = edges.get(`${arrow.from} ${arrow.to}`);
    if (edge === undefined) return [];
    const [label] = edge.labels ?? [];
    return [{
      ...arrow,
      points: pointsOf(edge),
      label: label === undefined ? null : { ...boxOf(label), lines },
    }];
  });
  return [...firsts, ...moves];
};

const graphOf = (chart: Chart, options: LayoutOptions): ElkNode => {
  const order = new Map(statesOf(chart.root).map(({ path }, at) => [path, at]));
  const isForward = ({ from, to }: Arrow): boolean => (order.get(from) ?? 0) < (order.get(to) ?? 0);
  return {
    id: 'picture',
    layoutOptions: {
      ...OPTIONS,
      ...options,
      'elk.padding': '[top=8,left=8,bottom=8,right=8]',
    },
    children: [nodeOf(chart, chart.root, options)],
    edges: [
      ...arrowsOf(chart).map((arrow) => edgeOf(arrow, isForward(arrow))),
      ...firstEdges(chart.root),
    ],
  };
};

const placedFrom = (chart: Chart, laidOut: ElkNode): PlacedChart => {
  const nodes = new Map(nodesOf(laidOut).map((node) => [node.id, node]));
  const edges = new Map(edgesOf(laidOut).map((edge) => [edge.id, edge]));
  const regions = new Set(regionsOf(chart.root));
  const states = statesOf(chart.root);
  return {
    name: chart.name,
    width: Math.ceil(laidOut.width ?? 0),
    height: Math.ceil(laidOut.height ?? 0),
    states: states.map((state) => ({
      path: state.path,
      kind: state.kind,
      isRegion: regions.has(state.path),
      isEnd: state.isEnd,
      tags: state.tags,
      rows: rowsOf(chart, state),
      ...boxOf(nodes.get(idOf(state.path)) ?? {}),
    })),
    arrows: placedArrows(chart, edges),
    beginnings: states.flatMap(({ path }) => {
      const dot = nodes.get(dotOf(path));
      if (dot === undefined) return [];
      const { x, y } = boxOf(dot);
      return [{ of: path, x: x + DOT / 2, y: y + DOT / 2 }];
    }),
  };
};

/** Layout options, each tried when the ones before it do not fit a page. */
const LAYOUTS: readonly LayoutOptions[] = [
  { 'elk.direction': 'DOWN' },
  { 'elk.direction': 'RIGHT' },
  // Splits wide rows of states.
  { 'elk.direction': 'DOWN', 'elk.layered.layerUnzipping.strategy': 'ALTERNATING' },
];

/** The size that a picture is to have at most, in pixels. */
export type PageSize = Pick<Box, 'width' | 'height'>;

/** Pages scroll down, not sideways. */
const PAGE: PageSize = { width: 1500, height: 2600 };

const layoutCost = ({ width, height }: PlacedChart, page: PageSize): number =>
  Math.max(width / page.width, height / page.height);

/** Lays a chart out. */
export const placedChart = async (chart: Chart, page: PageSize = PAGE): Promise<PlacedChart> => {
  const { default: kernel } = await loadOnDemand(
    'draw a chart',
    'elkjs',
    () => import('elkjs/lib/elk.bundled.js'),
  );
  const elk = new kernel.default();
  let best: PlacedChart | undefined;
  for (const options of LAYOUTS) {
    const placed = placedFrom(chart, await elk.layout(graphOf(chart, options)));
    if (best === undefined || layoutCost(placed, page) < layoutCost(best, page)) best = placed;
    if (layoutCost(best, page) <= 1) break;
  }
  return best ?? placedFrom(chart, { id: 'picture' });
};
