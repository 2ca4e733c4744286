/**
 * The stories of a statechart: the shortest ways that take each of its transitions, told so that a
 * stranger can read them and a review sees what a change does to a lifecycle.
 *
 * Promises: nothing that changes is left out; what is too long to be read is cut and marked with a
 * digest, so that a difference in it still shows.
 */
import { createHash } from 'node:crypto';
import type { AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate';
import { statePaths } from '../../../src/domain/state-value.ts';
import { firstStep, type Step, stillInterpreter } from './interpreter.ts';
import type { Path } from './paths.ts';

const TEXT_MAX = 60;
/** Counters that only feed jitter say nothing to a reader. */
const SILENT = new Set(['seed']);

const short = (value: unknown): string => {
  const text = value instanceof Error ? `${value}` : JSON.stringify(value) ?? 'undefined';
  if (text.length <= TEXT_MAX) return text;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 6);
  return `${text.slice(0, TEXT_MAX)}… #${digest}`;
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Members that are not as they were. */
const changed = (before: unknown, after: unknown): readonly string[] => {
  if (!isRecord(after)) return [];
  const was = isRecord(before) ? before : {};
  return Object.keys({ ...was, ...after })
    .filter((name) =>
      !SILENT.has(name) && JSON.stringify(was[name]) !== JSON.stringify(after[name])
    )
    .map((name) => `${name}=${short(after[name])}`);
};

const eventText = (event: EventObject): string => {
  const { type, ...payload } = event as EventObject & Record<string, unknown>;
  const told = Object.entries(payload).map(([name, value]) => ` ${name}=${short(value)}`);
  const cause = type
    .replace(/^xstate\.done\.actor\./, 'done: ')
    .replace(/^xstate\.error\.actor\./, 'failed: ')
    .replace(/^xstate\.after\.([^.]+)\..*$/, 'after $1');
  return `${cause}${told.join('')}`;
};

const stateText = ({ value, status }: AnyMachineSnapshot): string =>
  `${statePaths(value).join('  ')}${status === 'active' ? '' : `  (${status})`}`;

/** The states that were passed on the way, in order: what looks alike at its end may not be. */
const passed = ({ transitions, after }: Step): readonly string[] => {
  const targets = transitions.flatMap(({ target = [] }) =>
    target.map(({ path }) => path.join('.'))
  );
  const [last] = targets.slice(-1);
  return last !== undefined && statePaths(after.value).includes(last)
    ? targets.slice(0, -1)
    : targets;
};

const lines = (head: string, step: Step, before: unknown): readonly string[] => {
  const { after, acts, invokes } = step;
  const deeds = acts.filter((act) => !act.startsWith('xstate.')).map((act) => {
    const invoke = invokes.find(({ id }) => act === `invoke:${id}`);
    if (invoke === undefined) return act;
    return `runs ${invoke.id}${invoke.input === undefined ? '' : ` ${short(invoke.input)}`}`;
  });
  const knows = changed(before, after.context);
  return [
    head,
    ...passed(step).map((path) => `    by ${path}`),
    `    is ${stateText(after)}`,
    ...deeds.map((deed) => `    does ${deed}`),
    ...knows.map((fact) => `    knows ${fact}`),
  ];
};

/** One way, told as `machine` goes it; a machine that cannot go it tells why. */
export const storyOf = (machine: AnyStateMachine, path: Path): string => {
  const told: string[] = [];
  try {
    const interpreter = stillInterpreter(machine, path.input);
    const begun = interpreter.begin();
    told.push(...lines(`  starts with ${short(path.input)}`, firstStep(begun), {}));
    let { snapshot } = begun;
    for (const { event } of path.steps) {
      const step = interpreter.step(snapshot, event);
      told.push(...lines(`  ${eventText(event)}`, step, snapshot.context));
      snapshot = step.after;
    }
  } catch (error) {
    told.push(`  breaks: ${error}`);
  }
  return told.join('\n');
};

/** One word for how `machine` goes all of these ways: any difference gives another. */
const digestOf = (machine: AnyStateMachine, paths: readonly Path[]): string => {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(storyOf(machine, path));
  return hash.digest('hex').slice(0, 16);
};

/** The ways of a machine: those that are told, and those that only have to stay as they are. */
export interface Ways {
  readonly told: readonly Path[];
  readonly further: readonly Path[];
}

/** All stories of a machine. */
export const transcriptOf = (machine: AnyStateMachine, { told, further }: Ways): string =>
  [
    `${machine.id}: ${told.length} stories that together take each of its transitions, and`,
    `${further.length} further ways that go as before while this stays ${
      digestOf(machine, further)
    }.`,
    'Recorded by "npm run models -- --emit": a changed lifecycle is a changed story.',
    '',
    ...told.flatMap((path, at) => [`story ${at + 1}`, storyOf(machine, path), '']),
  ].join('\n');
