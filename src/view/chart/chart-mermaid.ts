/**
 * A chart as a Mermaid state diagram, which Git hosts render in Markdown and diffs can compare.
 *
 * Promises: contains every state and every transition with a target; escapes names that Mermaid
 * could misinterpret.
 */
import {
  actionsText,
  causeText,
  type Chart,
  type ChartState,
  type ChartTransition,
  conditionText,
  namedActions,
} from './chart.ts';

const idOf = ({ name, root }: Chart, path: string): string =>
  path === root.path ? name : `${name}_${path.replaceAll('.', '_')}`;

/**
 * A label ends at a semicolon, and `#` and `:` are Mermaid syntax: they are written as character
 * codes.
 */
const labelText = (text: string): string =>
  text.replaceAll(/[#;:\n]/g, (one) => `#${one.codePointAt(0)};`);

/** The text of a state stands in quotes, where character codes are not decoded. */
const quotedText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', "'").replaceAll('\n', ' ');

const indented = (depth: number, lines: readonly string[]): readonly string[] =>
  lines.map((line) => `${'  '.repeat(depth)}${line}`);

/** The content of a state follows its description. */
const notesOf = (chart: Chart, state: ChartState): readonly string[] => [
  ...(state.description === '' ? [] : [state.description]),
  ...(state.reason === null ? [] : [`reason ${state.reason}`]),
  ...state.invokes.map((act) => `runs ${act}`),
  ...(namedActions(state.entry).length === 0 ? [] : [`on entry ${actionsText(state.entry)}`]),
  ...(namedActions(state.exit).length === 0 ? [] : [`on exit ${actionsText(state.exit)}`]),
  ...chart.transitions
    .filter(({ from, targets }) => from === state.path && targets.length === 0)
    .map(labelOf),
];

const labelOf = (transition: ChartTransition): string =>
  [causeText(transition.cause), conditionText(transition), actionsText(transition.actions)]
    .filter((text) => text !== '').join(' ');

const stateLines = (chart: Chart, state: ChartState): readonly string[] => {
  const id = idOf(chart, state.path);
  const words = [`<b>${state.name}</b>`, ...notesOf(chart, state).map(quotedText)].join('<br/>');
  const inner = state.states.map((one) => stateLines(chart, one));
  if (inner.length === 0) {
    return [
      `state "${words}" as ${id}`,
      ...(state.isEnd ? [`${id} --> [*]`] : []),
    ];
  }
  const first = state.initial === null ? [] : [`[*] --> ${idOf(chart, state.initial)}`];
  const separator = state.kind === 'parallel' ? ['--'] : [];
  const body = inner.flatMap((lines, at) => at === 0 ? lines : [...separator, ...lines]);
  return [
    `state "${words}" as ${id} {`,
    ...indented(1, [...first, ...body]),
    '}',
  ];
};

/** The diagram; ends in a line break. */
export const chartMermaid = (chart: Chart): string => {
  const arrows = chart.transitions.flatMap((transition) =>
    transition.targets.map((target) => {
      const label = labelText(labelOf(transition));
      const arrow = `${idOf(chart, transition.from)} --> ${idOf(chart, target)}`;
      return label === '' ? arrow : `${arrow} : ${label}`;
    })
  );
  return ['stateDiagram-v2', ...indented(1, [...stateLines(chart, chart.root), ...arrows]), '']
    .join('\n');
};
