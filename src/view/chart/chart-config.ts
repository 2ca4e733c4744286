/**
 * A chart as the JSON of an XState machine, for Stately's editor, XState's inspector and
 * `createMachine`.
 *
 * Promises: a machine created from it draws like the original; guards, actions and delays are names
 * only, so it cannot run.
 */
import type { Chart, ChartCause, ChartPart, ChartState, ChartTransition } from './chart.ts';

/** A transition candidate as XState writes it. */
export interface TransitionJson {
  readonly target?: readonly string[] | undefined;
  readonly guard?: ChartPart | undefined;
  readonly actions?: readonly ChartPart[] | undefined;
  readonly reenter?: boolean | undefined;
}

type CandidatesJson = readonly TransitionJson[];

/** An invoke as XState writes it. */
export interface InvokeJson {
  readonly id: string;
  readonly src: string;
  readonly onDone?: CandidatesJson | undefined;
  readonly onError?: CandidatesJson | undefined;
}

/** A state as XState writes it. */
export interface StateJson {
  readonly type?: 'parallel' | 'final' | 'history' | undefined;
  readonly description?: string | undefined;
  readonly meta?: { readonly reason: string } | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly initial?: string | undefined;
  readonly entry?: readonly ChartPart[] | undefined;
  readonly exit?: readonly ChartPart[] | undefined;
  readonly invoke?: readonly InvokeJson[] | undefined;
  readonly on?: Readonly<Record<string, CandidatesJson>> | undefined;
  readonly after?: Readonly<Record<string, CandidatesJson>> | undefined;
  readonly always?: CandidatesJson | undefined;
  readonly onDone?: CandidatesJson | undefined;
  readonly states?: Readonly<Record<string, StateJson>> | undefined;
}

/** A machine as XState writes it. */
export interface MachineJson extends StateJson {
  readonly id: string;
}

/** Omits an empty list. */
const filled = <Item>(list: readonly Item[]): readonly Item[] | undefined =>
  list.length === 0 ? undefined : list;

/** Omits an empty table. */
const filledTable = <Value>(
  table: Readonly<Record<string, Value>>,
): Readonly<Record<string, Value>> | undefined =>
  Object.keys(table).length === 0 ? undefined : table;

const lastOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

const transitionJson = (
  machine: string,
  { targets, guard, actions, reenter }: ChartTransition,
): TransitionJson => ({
  target: filled(targets.map((path) => path === '' ? `#${machine}` : `#${machine}.${path}`)),
  guard: guard ?? undefined,
  actions: filled(actions),
  reenter: reenter || undefined,
});

const grouped = (
  entries: readonly (readonly [string, TransitionJson])[],
): Readonly<Record<string, CandidatesJson>> => {
  const groups: Record<string, TransitionJson[]> = {};
  for (const [name, json] of entries) (groups[name] ??= []).push(json);
  return groups;
};

const stateJson = (chart: Chart, state: ChartState): StateJson => {
  const own = chart.transitions.filter(({ from }) => from === state.path);
  const causedBy = (pick: (cause: ChartCause) => string | undefined) =>
    own.flatMap((transition): readonly (readonly [string, TransitionJson])[] => {
      const name = pick(transition.cause);
      return name === undefined ? [] : [[name, transitionJson(chart.name, transition)]];
    });
  const all = (pick: (cause: ChartCause) => boolean) =>
    causedBy((cause) => pick(cause) ? '' : undefined).map(([, json]) => json);
  const on = grouped(causedBy((cause) => cause._tag === 'Event' ? cause.type : undefined));
  const after = grouped(causedBy((cause) => cause._tag === 'Delay' ? cause.delay : undefined));
  const isAct = (tag: 'ActDone' | 'ActFailed', act: string) => (cause: ChartCause): boolean =>
    cause._tag === tag && cause.act === act;
  return {
    type: state.kind === 'atomic' || state.kind === 'compound' ? undefined : state.kind,
    description: state.description || undefined,
    meta: state.reason === null ? undefined : { reason: state.reason },
    tags: filled(state.tags),
    initial: state.initial === null ? undefined : lastOf(state.initial),
    entry: filled(state.entry),
    exit: filled(state.exit),
    always: filled(all(({ _tag }) => _tag === 'Always')),
    invoke: filled(state.invokes.map((act): InvokeJson => ({
      id: act,
      src: act,
      onDone: filled(all(isAct('ActDone', act))),
      onError: filled(all(isAct('ActFailed', act))),
    }))),
    on: filledTable(on),
    after: filledTable(after),
    onDone: filled(all(({ _tag }) => _tag === 'StatesDone')),
    states: filledTable(Object.fromEntries(
      state.states.map((inner) => [inner.name, stateJson(chart, inner)]),
    )),
  };
};

/** The machine's definition as plain JSON. */
export const machineJson = (chart: Chart): MachineJson => ({
  id: chart.name,
  ...stateJson(chart, chart.root),
});
