/**
 * The steps of a path: events that actors take in and messages that leave, each with who caused it
 * and with the files between the two.
 */
import { kindInId } from '../../src/api/actor-board.ts';
import { type Call, causesOf } from './call-trace.ts';
import { CROSSINGS, isCrossing } from './crossings.ts';
import { exchangeOf, fileOf, type PathSlice, type SliceOptions } from './path-slice.ts';
import { START } from './traced-actors.ts';

/** One arrow of a diagram. */
export interface PathStep {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  /** The actor's new state; '' when it is not an actor. */
  readonly state: string;
  /** Files of `src/` between the two, in the order in which they are passed. */
  readonly files: readonly string[];
}

/** What steps are made of. */
export interface StepsOptions {
  readonly slice: PathSlice;
  readonly files: Pick<SliceOptions, 'functions' | 'chartOf'>;
  readonly states: ReadonlyMap<number, string>;
  /** The payload of the first arrow. */
  readonly trigger: string;
}

/** The origin of a turn without a caller. */
const TIMER = 'timer';

const INVOKED = /^xstate\.done\.actor\.(?:\d+\.)?(.+)$/;
const DELAYED = /^xstate\.after\.([^.]+)\..*$/;

const eventText = (event: string): string =>
  event.replace(INVOKED, '$1 done').replace(DELAYED, 'after $1');

const nameOfFile = (file: string): string => (file.split('/').at(-1) ?? file).replace(/\.ts$/, '');

/** The participant in a call that a step may begin or end with. */
const participantOf = (call: Call, options: StepsOptions): string | undefined => {
  const { what } = call;
  if (call === options.slice.held) return nameOfFile(fileOf(call, options.files) ?? '');
  if (typeof what === 'object') return 'actor' in what ? kindInId(what.actor) : what.peer;
  const peer = CROSSINGS[fileOf(call, options.files) ?? ''];
  return peer === '' ? undefined : peer;
};

/** From a step back to what caused it. */
const traceBack = (end: Call, passed: ReadonlySet<Call>, options: StepsOptions) => {
  const between = new Set<Call>();
  const froms: string[] = [];
  const leaves = exchangeOf(end) !== undefined;
  const visit = (call: Call, inside: boolean): void => {
    const causes = causesOf(call).filter((cause) => passed.has(cause));
    if (causes.length === 0) froms.push(TIMER);
    for (const cause of causes) {
      const outward = leaves && !inside && isCrossing(fileOf(cause, options.files));
      const from = outward ? undefined : participantOf(cause, options);
      if (from !== undefined) froms.push(from);
      else if (!between.has(cause)) {
        between.add(cause);
        visit(cause, !outward);
      }
    }
  };
  visit(end, false);
  return { between, from: froms[0] ?? TIMER };
};

const textOf = ({ what }: Call): string => {
  if (typeof what === 'number') return '';
  return 'actor' in what ? eventText(what.event) : what.message;
};

/** The steps, oldest first. */
export const pathSteps = (options: StepsOptions): readonly PathStep[] => {
  const { slice, files, states, trigger } = options;
  const passed = new Set(slice.passed);
  const holder = slice.held && participantOf(slice.held, options);
  const ends = slice.passed.filter((call) => typeof call.what === 'object' || call === slice.held);
  return ends.map((end, at) => {
    const { between, from } = traceBack(end, passed, options);
    const text = textOf(end);
    const begins = text === START || text === '' ? trigger : `${trigger}: ${text}`;
    const calls = [...between, end].toSorted((a, b) => a.number - b.number);
    const named = calls.map((call) => fileOf(call, files) ?? '');
    return {
      from: from === TIMER ? holder ?? TIMER : from,
      to: participantOf(end, options) ?? '',
      text: at === 0 ? begins : text,
      state: states.get(end.number) ?? '',
      files: [...new Set(named.filter((file) => file.startsWith('src/')))],
    };
  });
};
