/**
 * The difference of a lifecycle between two revisions: added, removed and changed states and
 * transitions, and one chart of both, to be drawn with marks.
 *
 * Promises: charts that draw alike have no differences; a transition with another target or other
 * actions is changed, one with another cause or guard is a different one; a changed order of
 * candidates is reported, because the first that matches is taken.
 */
import {
  causeText,
  type Chart,
  type ChartState,
  type ChartTransition,
  conditionText,
  partText,
  statesOf,
  transitionText,
} from './chart.ts';
import { drawnInBoxes } from './chart-rows.ts';
import type { Mark } from './chart-svg.ts';

/** A difference of a state or of a transition. */
export interface Difference {
  readonly mark: Mark;
  /** The path of the state, or of the source of the transition. */
  readonly path: string;
  /** The transition as it is or was; null for a state. */
  readonly transition: ChartTransition | null;
  /** The changed fields, before and after. */
  readonly changes: readonly Change[];
}

/** One changed field. */
export interface Change {
  readonly what: string;
  readonly before: string;
  readonly after: string;
}

/** The difference of two charts of one machine. */
export interface ChartDiff {
  readonly name: string;
  readonly differences: readonly Difference[];
  /** Everything from both charts. */
  readonly union: Chart;
}

type Attributes = readonly (readonly [what: string, text: string])[];

const attributesOfState = (state: ChartState): Attributes => [
  ['kind', state.kind],
  ['description', state.description],
  ['reason', state.reason ?? ''],
  ['tags', state.tags.join(', ')],
  ['entry', state.entry.map(partText).join(', ')],
  ['exit', state.exit.map(partText).join(', ')],
  ['acts', state.invokes.join(', ')],
  ['initial', state.initial ?? ''],
];

const attributesOfTransition = (transition: ChartTransition, place: number): Attributes => [
  ['target', transition.targets.join(', ')],
  ['actions', transition.actions.map(partText).join(', ')],
  ['reenter', transition.reenter ? 'yes' : 'no'],
  ['place', `${place + 1}`],
];

const changesOf = (before: Attributes, after: Attributes): readonly Change[] =>
  after.flatMap(([what, text], at) => {
    const was = before[at]?.[1] ?? '';
    return was === text ? [] : [{ what, before: was, after: text }];
  });

const stateDifferences = (before: Chart, after: Chart): readonly Difference[] => {
  const then = new Map(statesOf(before.root).map((state) => [state.path, state]));
  const now = new Map(statesOf(after.root).map((state) => [state.path, state]));
  const without = { transition: null, changes: [] };
  const kept = [...now.values()].flatMap((state): readonly Difference[] => {
    const was = then.get(state.path);
    if (was === undefined) return [{ mark: 'added', path: state.path, ...without }];
    const changes = changesOf(attributesOfState(was), attributesOfState(state));
    return changes.length === 0
      ? []
      : [{ mark: 'changed', path: state.path, transition: null, changes }];
  });
  const removed = [...then.keys()].filter((path) => !now.has(path)).map((path): Difference => ({
    mark: 'removed',
    path,
    ...without,
  }));
  return [...kept, ...removed];
};

/** The identity of a transition: its source, cause and guard. */
const keyOf = (transition: ChartTransition): string => {
  const { from, cause, guard } = transition;
  return JSON.stringify([from, cause, guard === null ? '' : conditionText(transition)]);
};

/** Transitions by key; a repeated key gets a suffix. */
const keyed = (chart: Chart): ReadonlyMap<string, ChartTransition> => {
  const found = new Map<string, ChartTransition>();
  for (const transition of chart.transitions) {
    let key = keyOf(transition);
    while (found.has(key)) key = `${key}+`;
    found.set(key, transition);
  }
  return found;
};

/** The position of each among the candidates for one cause that both charts have. */
const placesOf = (
  transitions: ReadonlyMap<string, ChartTransition>,
  others: ReadonlyMap<string, ChartTransition>,
): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  const places = new Map<string, number>();
  for (const [key, { from, cause }] of transitions) {
    if (!others.has(key)) continue;
    const group = JSON.stringify([from, cause]);
    const place = counts.get(group) ?? 0;
    places.set(key, place);
    counts.set(group, place + 1);
  }
  return places;
};

const transitionDifferences = (before: Chart, after: Chart): readonly Difference[] => {
  const then = keyed(before);
  const now = keyed(after);
  const placesThen = placesOf(then, now);
  const placesNow = placesOf(now, then);
  const kept = [...now].flatMap(([key, transition]): readonly Difference[] => {
    const was = then.get(key);
    const path = transition.from;
    if (was === undefined) return [{ mark: 'added', path, transition, changes: [] }];
    const changes = changesOf(
      attributesOfTransition(was, placesThen.get(key) ?? 0),
      attributesOfTransition(transition, placesNow.get(key) ?? 0),
    );
    return changes.length === 0 ? [] : [{ mark: 'changed', path, transition, changes }];
  });
  const removed = [...then].flatMap(([key, transition]): readonly Difference[] =>
    now.has(key) ? [] : [{ mark: 'removed', path: transition.from, transition, changes: [] }]
  );
  return [...kept, ...removed];
};

const joined = (before: ChartState, after: ChartState): ChartState => {
  const then = new Map(before.states.map((state) => [state.name, state]));
  const now = new Set(after.states.map(({ name }) => name));
  return {
    ...after,
    // A removed parent state is still drawn around its children.
    kind: after.states.length === 0 && before.states.length > 0 ? before.kind : after.kind,
    states: [
      ...after.states.map((state) => {
        const was = then.get(state.name);
        return was === undefined ? state : joined(was, state);
      }),
      ...before.states.filter(({ name }) => !now.has(name)),
    ],
  };
};

const nothingOf = ({ name, root }: Chart): Chart => ({
  name,
  root: { ...root, states: [], initial: null },
  transitions: [],
});

/** Compares the charts of one machine; undefined when it did not exist or was removed. */
export const chartDiff = (
  before: Chart | undefined,
  after: Chart | undefined,
): ChartDiff | undefined => {
  const known = after ?? before;
  if (known === undefined) return undefined;
  const then = before ?? nothingOf(known);
  const now = after ?? nothingOf(known);
  const presence: readonly Difference[] = before === undefined || after === undefined
    ? [{
      mark: before === undefined ? 'added' : 'removed',
      path: '',
      transition: null,
      changes: [],
    }]
    : [];
  const inner = stateDifferences(then, now).filter(({ path }) =>
    presence.length === 0 || path !== ''
  );
  const transitions = transitionDifferences(then, now);
  const removed = transitions.flatMap(({ mark, transition }) =>
    mark === 'removed' && transition !== null ? [transition] : []
  );
  return {
    name: known.name,
    differences: [...presence, ...inner, ...transitions],
    union: {
      name: known.name,
      root: joined(then.root, now.root),
      transitions: [...now.transitions, ...removed],
    },
  };
};

/**
 * The marks of the states of the union; a state whose own transitions changed counts as changed.
 */
export const stateMarks = ({ differences, union }: ChartDiff): ReadonlyMap<string, Mark> => {
  const isInBox = drawnInBoxes(union);
  const marks = new Map<string, Mark>();
  for (const { path, transition, mark } of differences) {
    if (transition === null) marks.set(path, mark);
    else if (isInBox(transition) && !marks.has(path)) marks.set(path, 'changed');
  }
  return marks;
};

/** The mark of an arrow of the union that represents these transitions. */
export const arrowMark = (
  { differences }: ChartDiff,
  transitions: readonly ChartTransition[],
): Mark | undefined => {
  const marks = transitions.map((transition) =>
    differences.find((difference) => difference.transition === transition)?.mark
  );
  const [first] = marks;
  if (marks.every((mark) => mark === first)) return first;
  return 'changed';
};

const SIGNS: Readonly<Record<Mark, string>> = { added: '+', removed: '-', changed: '~' };

const valueText = (text: string): string => text === '' ? 'nothing' : `"${text}"`;

const pathText = (path: string): string => path === '' ? 'the machine' : path;

const changeText = ({ what, before, after }: Change): string =>
  `${what} ${valueText(after)}, was ${valueText(before)}`;

const differenceText = (difference: Difference): string => {
  const { mark, path, transition, changes } = difference;
  const text = changes.length === 0 ? '' : `: ${changes.map(changeText).join('; ')}`;
  if (transition === null) return `${SIGNS[mark]} state ${pathText(path)}${text}`;
  const { targets, cause } = transition;
  const label = transitionText(transition) || causeText(cause) || 'always';
  const target = targets.length === 0 ? '' : ` -> ${targets.map(pathText).join(', ')}`;
  return `${SIGNS[mark]} transition ${pathText(path)}: ${label}${target}${text}`;
};

/** The difference as lines for a review; empty when there is none. */
export const chartDiffText = ({ name, differences }: ChartDiff): string =>
  differences.length === 0
    ? ''
    : [name, ...differences.map((difference) => `  ${differenceText(difference)}`), ''].join('\n');
