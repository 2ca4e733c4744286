/**
 * Transcripts of a statechart: the shortest path to each transition, readable by a stranger, so
 * that a review shows how a change affects a lifecycle.
 *
 * Promises: omits no change; long values are cut and marked with a digest, so that any difference
 * shows.
 */
import { createHash } from 'node:crypto';
import type { AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate';
import { statePaths } from '../../../src/domain/state-value.ts';
import { firstStep, type Step, stillInterpreter } from './interpreter.ts';
import type { Path } from './paths.ts';

const TEXT_MAX = 60;
/** Counters that only feed jitter are irrelevant to a reader. */
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
  const members = Object.entries(payload).map(([name, value]) => ` ${name}=${short(value)}`);
  const cause = type
    .replace(/^xstate\.done\.actor\./, 'done: ')
    .replace(/^xstate\.error\.actor\./, 'failed: ')
    .replace(/^xstate\.after\.([^.]+)\..*$/, 'after $1');
  return `${cause}${members.join('')}`;
};

const stateText = ({ value, status }: AnyMachineSnapshot): string =>
  `${statePaths(value).join('  ')}${status === 'active' ? '' : `  (${status})`}`;

/** The visited states in order: equal end states may have different paths. */
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
  const { after, actions, invokes } = step;
  const performed = actions.filter((action) => !action.startsWith('xstate.')).map((action) => {
    const invoke = invokes.find(({ id }) => action === `invoke:${id}`);
    if (invoke === undefined) return action;
    return `runs ${invoke.id}${invoke.input === undefined ? '' : ` ${short(invoke.input)}`}`;
  });
  const knows = changed(before, after.context);
  return [
    head,
    ...passed(step).map((path) => `    by ${path}`),
    `    is ${stateText(after)}`,
    ...performed.map((line) => `    does ${line}`),
    ...knows.map((fact) => `    knows ${fact}`),
  ];
};

/** One path as `machine` takes it; where the machine cannot take it, the reason. */
export const transcriptOf = (machine: AnyStateMachine, path: Path): string => {
  const text: string[] = [];
  try {
    const interpreter = stillInterpreter(machine, path.input);
    const begun = interpreter.begin();
    text.push(...lines(`  starts with ${short(path.input)}`, firstStep(begun), {}));
    let { snapshot } = begun;
    for (const { event } of path.steps) {
      const step = interpreter.step(snapshot, event);
      text.push(...lines(`  ${eventText(event)}`, step, snapshot.context));
      snapshot = step.after;
    }
  } catch (error) {
    text.push(`  breaks: ${error}`);
  }
  return text.join('\n');
};

/** A digest of how `machine` takes all of these paths. */
const digestOf = (machine: AnyStateMachine, paths: readonly Path[]): string => {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(transcriptOf(machine, path));
  return hash.digest('hex').slice(0, 16);
};

/** The paths of a machine: some in full, the others as a digest. */
export interface PathSet {
  readonly recorded: readonly Path[];
  readonly further: readonly Path[];
}

/** All transcripts of a machine. */
export const transcriptsOf = (machine: AnyStateMachine, { recorded, further }: PathSet): string =>
  [
    `${machine.id}: ${recorded.length} transcripts that together take each of its transitions, and`,
    `${further.length} further paths that go as before while this stays ${
      digestOf(machine, further)
    }.`,
    'Recorded by "npm run models -- --emit": a changed lifecycle is a changed transcript.',
    '',
    ...recorded.flatMap((path, at) => [`transcript ${at + 1}`, transcriptOf(machine, path), '']),
  ].join('\n');
