/** Statecharts as the style requires: every state described, every invoke and delay named. */
import { REASONS } from '../../src/api/reasons.ts';
import type { AnyStateMachine, AnyStateNode } from 'xstate';

/** A statechart that breaks a rule. */
export interface ChartProblem {
  readonly machine: string;
  readonly state: string;
  readonly problem: string;
  readonly remedy: string;
}

const nodesOf = (node: AnyStateNode): readonly AnyStateNode[] => [
  node,
  ...Object.values(node.states).flatMap((child: AnyStateNode) => nodesOf(child)),
];

const STATE_NAME = /^[a-z][A-Za-z0-9]*$/;
const OURS = /^[a-z][A-Za-z0-9]*(?:\.[a-z][A-Za-z0-9]*)+$/;
const XSTATES = /^xstate\.|^$|^\*$/;
const COMMAND =
  /\.(?:start|stop|do|run|send|get|set|make|create|delete|update|fetch|retry|close|open)$/;

const ownEvents = (node: AnyStateNode): readonly string[] =>
  [...node.transitions.keys()].map(String).filter((type) => !XSTATES.test(type));

type Finding = readonly [problem: string, remedy: string];

const eventFindings = (node: AnyStateNode): readonly Finding[] =>
  ownEvents(node).flatMap((type): readonly Finding[] => {
    if (!OURS.test(type)) {
      return [[`event "${type}" is no "subject.verb"`, 'Name the fact: "pod.evicted"']];
    }
    return COMMAND.test(type)
      ? [[`event "${type}" orders`, 'Name the fact in the past tense: "pod.evicted"']]
      : [];
  });

const invokeFindings = (node: AnyStateNode): readonly Finding[] =>
  node.invoke.flatMap((invoke): readonly Finding[] =>
    invoke.id === invoke.src
      ? []
      : [[`invoke "${String(invoke.src)}" has id "${invoke.id}"`, 'Set its id to its src']]
  );

const delayFindings = (node: AnyStateNode): readonly Finding[] =>
  node.after.flatMap((transition): readonly Finding[] =>
    typeof transition.delay === 'string'
      ? []
      : [[`delay ${String(transition.delay)} is a literal`, 'Name it in setup({ delays })']]
  );

/** What a status shows must be a reason of the registry. */
const reasonFindings = (node: AnyStateNode): readonly Finding[] => {
  const reason = (node.meta as Readonly<Record<string, unknown>> | undefined)?.['reason'];
  return reason === undefined || Object.hasOwn(REASONS, String(reason))
    ? []
    : [[`its reason "${String(reason)}" is not registered`, 'Add it to src/api/reasons.ts']];
};

/** The reason must be findable: in the state itself, or in each state around or inside it. */
const givesReason = (node: AnyStateNode): boolean => {
  const { meta } = node;
  if (typeof meta === 'object' && meta !== null && 'reason' in meta) return true;
  const inner: readonly AnyStateNode[] = Object.values(node.states);
  return inner.length > 0 && inner.every(givesReason);
};

const waitFindings = (node: AnyStateNode): readonly Finding[] => {
  if (!node.tags.includes('waiting') || givesReason(node)) return [];
  for (let outer = node.parent; outer !== undefined; outer = outer.parent) {
    if (typeof outer.meta === 'object' && outer.meta !== null && 'reason' in outer.meta) return [];
  }
  return [['it waits and has no reason', 'Say why in meta: { reason }, of src/api/reasons.ts']];
};

const guardFindings = (node: AnyStateNode): readonly Finding[] =>
  [...node.transitions.values(), node.always ?? []].flat().flatMap(({ guard, eventType }) =>
    typeof guard === 'function'
      ? [
        [
          `a guard on "${eventType || 'always'}" has no name`,
          'Name it in setup({ guards }): it stands in the diagram',
        ] as const,
      ]
      : []
  );

const findings = (node: AnyStateNode): readonly Finding[] => {
  const isRoot = node.parent === undefined;
  const described = isRoot || (node.description ?? '').trim() !== '';
  const named = isRoot || STATE_NAME.test(node.key);
  return [
    ...(described ? [] : [['it has no description', 'Say what is true in it'] as const]),
    ...(named ? [] : [['its name is not camelCase', 'Name what is true in it'] as const]),
    ...eventFindings(node),
    ...invokeFindings(node),
    ...delayFindings(node),
    ...reasonFindings(node),
    ...waitFindings(node),
    ...guardFindings(node),
  ];
};

/** A problem as a sentence that names machine and state. */
export const chartProblemText = ({ machine, state, problem, remedy }: ChartProblem): string =>
  `${machine}, state ${state}: ${problem}. ${remedy}`;

/** Violations in the statecharts of a catalogue. */
export const chartProblems = (
  machines: Readonly<Record<string, AnyStateMachine>>,
): readonly ChartProblem[] =>
  Object.entries(machines).flatMap(([name, machine]) => [
    ...(machine.id === name ? [] : [{
      machine: name,
      state: '(root)',
      problem: `its id is "${machine.id}"`,
      remedy: 'Give it the name that the catalogue has',
    }]),
    ...nodesOf(machine.root).flatMap((node) =>
      findings(node).map(([problem, remedy]) => ({
        machine: name,
        state: node.path.join('.') || '(root)',
        problem,
        remedy,
      }))
    ),
  ]);
