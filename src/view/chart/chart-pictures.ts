/**
 * The pictures of a chart for a page of text: one, or an overview and one of each composite state.
 *
 * Promises: a text is at least `TEXT_PX` tall when its picture is as wide as a page, where the
 * states of one level allow it; every state and every transition is in at least one picture.
 */
import { type Chart, type ChartState, type ChartTransition, isInside } from './chart.ts';
import { type PlacedChart, placedChart } from './chart-layout.ts';
import { FONT_SIZES } from './chart-rows.ts';

/** The width of a page of text on Git hosts, and the smallest legible text. */
export const PAGE_PX = 860;
export const TEXT_PX = 9;

/** The width beyond which the smallest text would be too small on a page. */
const PICTURE_WIDTH_MAX = Math.floor(
  Math.min(...Object.values(FONT_SIZES)) * PAGE_PX / TEXT_PX,
);

const PAGE = { width: PICTURE_WIDTH_MAX, height: 2600 };

/** One picture: of the whole chart, or of the state at `path`. */
export interface ChartPicture {
  readonly path: string;
  readonly placed: PlacedChart;
}

/** The chart with each composite state of the first level as a plain one. */
const overviewOf = (chart: Chart): Chart => {
  const closed = chart.root.states.filter(({ states }) => states.length > 0);
  const outerOf = (path: string): string =>
    closed.find((state) => isInside(path, state.path))?.path ?? path;
  const seen = new Set<string>();
  return {
    name: chart.name,
    root: {
      ...chart.root,
      states: chart.root.states.map((state): ChartState => ({
        ...state,
        kind: state.states.length > 0 ? 'atomic' : state.kind,
        initial: null,
        states: [],
        invokes: state.states.length > 0 ? [] : state.invokes,
      })),
    },
    transitions: chart.transitions.flatMap((transition): readonly ChartTransition[] => {
      const { targets } = transition;
      const from = outerOf(transition.from);
      const to = targets.map(outerOf);
      const isClosed = closed.some(({ path }) => path === from);
      if (isClosed && to.every((target) => target === from)) return [];
      const key = JSON.stringify([from, transition.cause, transition.guard, to]);
      if (isClosed && seen.has(key)) return [];
      seen.add(key);
      return [{ ...transition, from, targets: to }];
    }),
  };
};

/** The part of a chart within one state. */
const partOf = (chart: Chart, state: ChartState): Chart => ({
  name: `${chart.name}: ${state.name}`,
  root: state,
  transitions: chart.transitions.filter(({ from }) => isInside(from, state.path)),
});

/** Draws a chart, in several pictures when one would be too wide. */
export const chartPictures = async (chart: Chart): Promise<readonly ChartPicture[]> => {
  const { path, states } = chart.root;
  const whole = await placedChart(chart, PAGE);
  const composite = states.filter((state) => state.states.length > 0);
  if (whole.width <= PICTURE_WIDTH_MAX || composite.length === 0) return [{ path, placed: whole }];
  const overview = await placedChart(overviewOf(chart), PAGE);
  const parts = await Promise.all(composite.map((state) => chartPictures(partOf(chart, state))));
  return [{ path, placed: overview }, ...parts.flat()];
};
