/** The lines inside the box of a state, and the labels of arrows between states. */
import {
  actionsText,
  causeText,
  type Chart,
  type ChartState,
  type ChartTransition,
  conditionText,
  isInside,
  namedActions,
  partText,
  statesOf,
} from './chart.ts';
import { textWidth, wrapped } from './text-width.ts';

/** The style of a line. */
export type RowStyle = 'machine' | 'name' | 'reason' | 'description' | 'act' | 'move';

/** A line inside a box. */
export interface Row {
  readonly style: RowStyle;
  /** Pieces of the line, each with its role. */
  readonly pieces: readonly Piece[];
}

/** A piece of a line; its role decides its colour. */
export interface Piece {
  readonly role: 'plain' | 'cause' | 'condition' | 'action';
  readonly text: string;
}

/** The arrow between two states, with all transitions that it represents. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly transitions: readonly ChartTransition[];
  readonly lines: readonly (readonly Piece[])[];
}

/** Font sizes in pixels. */
export const FONT_SIZES: Readonly<Record<RowStyle | 'arrow', number>> = {
  machine: 18,
  name: 14,
  reason: 11,
  description: 11.5,
  act: 11,
  move: 11,
  arrow: 11,
};

/** Line heights in pixels. */
export const LINE_HEIGHTS: Readonly<Record<RowStyle | 'arrow', number>> = {
  machine: 26,
  name: 20,
  reason: 22,
  description: 15,
  act: 15,
  move: 15,
  arrow: 14,
};

const TEXT_WIDTH = 190;
const OUTER_TEXT_WIDTH = 340;
const LINE_WIDTH = 250;

const pieces = (...parts: readonly (readonly [Piece['role'], string])[]): readonly Piece[] =>
  parts.filter(([, text]) => text !== '').map(([role, text]) => ({ role, text }));

/** The text of a line, split into pieces. */
export const lineText = (line: readonly Piece[]): string => line.map(({ text }) => text).join(' ');

/** The width of a line in pixels. */
export const lineWidth = (line: readonly Piece[], style: RowStyle | 'arrow'): number =>
  textWidth(lineText(line), FONT_SIZES[style], style === 'name' || style === 'machine');

/**
 * Transitions to a state with at least this many sources are listed in the boxes: their arrows
 * would hide the rest.
 */
const RETURNS_MAX = 4;

/**
 * Transitions within the state, those to such a common target, and those to a state that another
 * picture has are listed in its box.
 */
export const drawnInBoxes = (chart: Chart): (transition: ChartTransition) => boolean => {
  const order = new Map(statesOf(chart.root).map(({ path }, at) => [path, at]));
  const placeOf = (path: string): number => order.get(path) ?? 0;
  const isInner = ({ from, targets }: ChartTransition): boolean =>
    targets.every((target) => isInside(target, from) || isInside(from, target));
  const goesBack = ({ from, targets }: ChartTransition): boolean =>
    targets.every((target) => placeOf(target) < placeOf(from));
  const returns = new Map<string, Set<string>>();
  for (const transition of chart.transitions) {
    if (isInner(transition) || !goesBack(transition)) continue;
    for (const target of transition.targets) {
      returns.set(target, (returns.get(target) ?? new Set()).add(transition.from));
    }
  }
  const isHub = (path: string): boolean => (returns.get(path)?.size ?? 0) > RETURNS_MAX;
  const isElsewhere = ({ targets }: ChartTransition): boolean =>
    targets.some((target) => !order.has(target));
  return (transition) =>
    isInner(transition) || isElsewhere(transition) ||
    (goesBack(transition) && transition.targets.every(isHub));
};

const nameOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

const leadsTo = ({ from, targets }: ChartTransition): string => {
  const [target] = targets;
  if (target === undefined) return '';
  return target === from ? '\u21bb' : `\u2192 ${nameOf(target)}`;
};

/** Long lists of actions wrap onto indented lines. */
const broken = (style: 'act' | 'move', line: readonly Piece[]): readonly Row[] => {
  const rows: Piece[][] = [[]];
  for (const piece of line) {
    const words = piece.role === 'action' ? piece.text.split(/(?<=,) /) : [piece.text];
    for (const text of words) {
      const row = rows.at(-1) ?? [];
      const isFull = row.length > 0 && lineWidth([...row, { ...piece, text }], style) > LINE_WIDTH;
      if (isFull) rows.push([{ role: 'plain', text: '\u00a0\u00a0' }, { ...piece, text }]);
      else row.push({ ...piece, text });
    }
  }
  return rows.map((row) => ({ style, pieces: row }));
};

const actRows = ({ entry, exit, invokes }: ChartState): readonly Row[] => [
  ...invokes.flatMap((act) => broken('act', pieces(['plain', 'runs'], ['action', act]))),
  ...namedActions(entry).flatMap((action) =>
    broken('act', pieces(['plain', 'on entry'], ['action', partText(action)]))
  ),
  ...namedActions(exit).flatMap((action) =>
    broken('act', pieces(['plain', 'on exit'], ['action', partText(action)]))
  ),
];

const moveRows = (chart: Chart, { path }: ChartState): readonly Row[] => {
  const isInBox = drawnInBoxes(chart);
  return chart.transitions
    .filter((transition) => transition.from === path && isInBox(transition))
    .flatMap((transition) =>
      broken(
        'move',
        pieces(
          ['cause', causeText(transition.cause)],
          ['condition', conditionText(transition)],
          ['plain', leadsTo(transition)],
          ['action', actionsText(transition.actions)],
        ),
      )
    );
};

/** The lines in the box of a state, from its name down. */
export const rowsOf = (chart: Chart, state: ChartState): readonly Row[] => {
  const isMachine = state.path === '';
  const widthMax = state.states.length > 0 ? OUTER_TEXT_WIDTH : TEXT_WIDTH;
  return [
    { style: isMachine ? 'machine' : 'name', pieces: pieces(['plain', state.name]) },
    ...(state.reason === null
      ? []
      : [{ style: 'reason', pieces: pieces(['plain', state.reason]) } as const]),
    ...wrapped(state.description, FONT_SIZES.description, widthMax)
      .map((text): Row => ({ style: 'description', pieces: pieces(['plain', text]) })),
    ...actRows(state),
    ...moveRows(chart, state),
  ];
};

/** Labels make a picture wide: a long one has its guard on a line of its own. */
const LABEL_WIDTH = 150;

const labelLines = (transition: ChartTransition): readonly (readonly Piece[])[] => {
  const line = pieces(
    ['cause', causeText(transition.cause)],
    ['condition', conditionText(transition)],
  );
  if (lineWidth(line, 'arrow') > LABEL_WIDTH) return line.map((piece) => [piece]);
  return line.length === 0 ? [] : [line];
};

/** The arrows between states; transitions between the same two states share one. */
export const arrowsOf = (chart: Chart): readonly Arrow[] => {
  const isInBox = drawnInBoxes(chart);
  const arrows = new Map<string, Arrow>();
  for (const transition of chart.transitions) {
    if (isInBox(transition)) continue;
    for (const to of transition.targets) {
      const { from } = transition;
      const known = arrows.get(`${from} ${to}`) ?? { from, to, transitions: [], lines: [] };
      arrows.set(`${from} ${to}`, {
        ...known,
        transitions: [...known.transitions, transition],
        lines: [...known.lines, ...labelLines(transition)],
      });
    }
  }
  return [...arrows.values()];
};
