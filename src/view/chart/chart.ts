/**
 * A statechart as a plain graph, the source of pictures, pages and comparisons of lifecycles.
 *
 * Promises: plain data in the order of the machine's source; machines that draw alike give equal
 * charts; runs nothing of the machine.
 */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';

/** A machine that can be drawn. */
export type DrawnMachine = AnyStateMachine;

/** A named part of the chart: a guard or an action with its params. */
export interface ChartPart {
  readonly type: string;
  /** Static params only; computed ones are omitted. */
  readonly params?: unknown;
}

/** The cause of a transition. */
export type ChartCause =
  | { readonly _tag: 'Event'; readonly type: string }
  | { readonly _tag: 'Delay'; readonly delay: string }
  | { readonly _tag: 'ActDone'; readonly act: string }
  | { readonly _tag: 'ActFailed'; readonly act: string }
  | { readonly _tag: 'StatesDone' }
  | { readonly _tag: 'Always' };

/** One candidate: taken on its cause when its guard holds and no earlier candidate was taken. */
export interface ChartTransition {
  /** The path of a state; empty for the machine itself. */
  readonly from: string;
  readonly cause: ChartCause;
  readonly guard: ChartPart | null;
  /** The last of several candidates, without a guard: taken when no other is. */
  readonly otherwise: boolean;
  readonly actions: readonly ChartPart[];
  /** Paths of states; none for an internal transition. */
  readonly targets: readonly string[];
  readonly reenter: boolean;
}

/** A state with its child states. */
export interface ChartState {
  /** Its path, such as `work.underway`; empty for the machine itself. */
  readonly path: string;
  readonly name: string;
  readonly kind: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  readonly description: string;
  /** It is never left: a final state, or one from which no transition leads away. */
  readonly isEnd: boolean;
  /** The reason that a status shows in this state. */
  readonly reason: string | null;
  readonly tags: readonly string[];
  readonly entry: readonly ChartPart[];
  readonly exit: readonly ChartPart[];
  /** The actors invoked in this state. */
  readonly invokes: readonly string[];
  /** The path of the initial state. */
  readonly initial: string | null;
  readonly states: readonly ChartState[];
}

/** A lifecycle. */
export interface Chart {
  readonly name: string;
  readonly root: ChartState;
  readonly transitions: readonly ChartTransition[];
}

const isPlain = (value: unknown): boolean => typeof value !== 'function' && value !== undefined;

/** Names of XState built-ins: an inline `assign` has no name of its own. */
const BUILT_IN = /^xstate\./;

const partOf = (part: unknown): ChartPart => {
  if (typeof part === 'string') return { type: part };
  if (typeof part === 'function') {
    const type = 'type' in part ? String(part.type) : part.name;
    return { type: type.replace(BUILT_IN, '') };
  }
  if (typeof part !== 'object' || part === null || !('type' in part)) return { type: 'unnamed' };
  const type = String(part.type);
  return 'params' in part && isPlain(part.params) ? { type, params: part.params } : { type };
};

const partsOf = (parts: unknown): readonly ChartPart[] => {
  if (parts === undefined) return [];
  return Array.isArray(parts) ? parts.map(partOf) : [partOf(parts)];
};

/** The path of a state node as charts write it. */
const pathOf = (node: Pick<AnyStateNode, 'path'>): string => node.path.join('.');

const causeOf = (transition: AnyTransitionDefinition): ChartCause => {
  const type = String(transition.eventType);
  if (type === '') return { _tag: 'Always' };
  const done = /^xstate\.done\.actor\.(.+)$/.exec(type)?.[1];
  if (done !== undefined) return { _tag: 'ActDone', act: done };
  const failed = /^xstate\.error\.actor\.(.+)$/.exec(type)?.[1];
  if (failed !== undefined) return { _tag: 'ActFailed', act: failed };
  if (type.startsWith('xstate.done.state.')) return { _tag: 'StatesDone' };
  if (!type.startsWith('xstate.after.')) return { _tag: 'Event', type };
  return { _tag: 'Delay', delay: 'delay' in transition ? String(transition.delay) : type };
};

const transitionsOf = (node: AnyStateNode): readonly ChartTransition[] =>
  [node.always ?? [], ...node.transitions.values()].flatMap((candidates) =>
    candidates.map((transition, at): ChartTransition => ({
      from: pathOf(node),
      cause: causeOf(transition),
      guard: transition.guard === undefined ? null : partOf(transition.guard),
      otherwise: at > 0 && transition.guard === undefined,
      actions: partsOf(transition.actions),
      targets: (transition.target ?? []).map(pathOf),
      reenter: transition.reenter,
    }))
  );

const childrenOf = (node: AnyStateNode): readonly AnyStateNode[] => Object.values(node.states);

const allTransitions = (node: AnyStateNode): readonly ChartTransition[] => [
  ...transitionsOf(node),
  ...childrenOf(node).flatMap(allTransitions),
];

const reasonOf = (meta: unknown): string | null =>
  typeof meta === 'object' && meta !== null && 'reason' in meta ? String(meta.reason) : null;

const stateOf = (node: AnyStateNode): ChartState => {
  const [first] = node.type === 'compound' ? node.initial.target : [];
  return {
    path: pathOf(node),
    name: node.key,
    kind: node.type,
    isEnd: false,
    description: node.description ?? '',
    reason: reasonOf(node.meta),
    tags: [...node.tags],
    // XState's actions that schedule and cancel delays are not actions of the machine.
    entry: partsOf(node.config.entry),
    exit: partsOf(node.config.exit),
    invokes: node.invoke.map(({ id }) => id),
    initial: first === undefined ? null : pathOf(first),
    states: childrenOf(node).map(stateOf),
  };
};

/** True for the state at `outer` and all within it; the root is at the empty path. */
export const isInside = (path: string, outer: string): boolean =>
  outer === '' || path === outer || path.startsWith(`${outer}.`);

const withEnds = (state: ChartState, transitions: readonly ChartTransition[]): ChartState => {
  const { path, kind, states } = state;
  const isLeft = transitions.some(({ from, targets }) =>
    isInside(path, from) && targets.some((target) => target !== path)
  );
  return {
    ...state,
    isEnd: path !== '' && states.length === 0 && (kind === 'final' || !isLeft),
    states: states.map((inner) => withEnds(inner, transitions)),
  };
};

/** The chart of a machine. */
export const chartOf = (machine: DrawnMachine): Chart => {
  const transitions = allTransitions(machine.root);
  return { name: machine.id, root: withEnds(stateOf(machine.root), transitions), transitions };
};

/** A state and all its descendants, outermost first. */
export const statesOf = (state: ChartState): readonly ChartState[] => [
  state,
  ...state.states.flatMap(statesOf),
];

/** Static params as words: `why DialOverdue, retryAfterMs 0`. */
const paramsText = (params: unknown): string => {
  if (Array.isArray(params)) return params.map(paramsText).join(', ');
  if (typeof params === 'string') return /^[[{]/.test(params) ? '…' : params;
  if (typeof params !== 'object' || params === null) return String(params);
  return Object.entries(params)
    .map(([name, value]) => `${name.replace(/^_/, '')} ${paramsText(value)}`).join(', ');
};

/** A guard or an action as text: its name and params. */
export const partText = ({ type, params }: ChartPart): string =>
  params === undefined ? type : `${type} ${paramsText(params)}`;

/** Actions that only XState names say nothing: `assign` without a name sets the context. */
const UNNAMED = new Set(['assign', 'cancel', 'raise', 'sendTo', 'enqueueActions', 'unnamed']);

/** The actions that a picture shows. */
export const namedActions = (actions: readonly ChartPart[]): readonly ChartPart[] =>
  actions.filter(({ type }) => !UNNAMED.has(type));

/** The cause of a transition as text; empty for an eventless one. */
export const causeText = (cause: ChartCause): string => {
  switch (cause._tag) {
    case 'Event':
      return cause.type;
    case 'Delay':
      return `after ${cause.delay}`;
    case 'ActDone':
      return `${cause.act} done`;
    case 'ActFailed':
      return `${cause.act} failed`;
    case 'StatesDone':
      return 'done';
    case 'Always':
      return '';
  }
};

/** The guard of a transition, in brackets as in UML; empty without one. */
export const conditionText = ({ guard, otherwise }: ChartTransition): string => {
  if (guard !== null) return `[${partText(guard)}]`;
  return otherwise ? '[else]' : '';
};

/** Actions as in UML: `/ first, second`; empty without any. */
export const actionsText = (actions: readonly ChartPart[]): string => {
  const named = namedActions(actions);
  return named.length === 0 ? '' : `/ ${named.map(partText).join(', ')}`;
};

/** A whole transition in one line, from its cause to its actions. */
export const transitionText = (transition: ChartTransition): string =>
  [causeText(transition.cause), conditionText(transition), actionsText(transition.actions)]
    .filter((text) => text !== '').join(' ');
