/** The checker of highlighted states: it accepts every valid sequence, and no other. */
import { expect, test } from 'vitest';
import {
  countsByState,
  type LitMoment,
  litProblem,
  type Stay,
  staysOf,
} from '../../support/page/recorded-actors.ts';

const SHORT_MS = 500;

/** `a:1000 b:20 c`: states with durations, the last without an end. */
const stays = (text: string): readonly Stay[] => {
  let fromMs = 0;
  return text.split(' ').map((word) => {
    const [state = '', lasted = 'Infinity'] = word.split(':');
    const stay = { state, event: 'x.came', fromMs, untilMs: fromMs + Number(lasted) };
    fromMs = stay.untilMs;
    return stay;
  });
};

const seen = (text: string, fromMs = 0): readonly LitMoment[] =>
  text.split(' ').map((state, at) => ({ state, atMs: fromMs + at }));

test.each([
  ['everything', 'a b c'],
  ['all but what was short', 'a c'],
])('a page that highlighted %s is right', (_, lit) => {
  expect(litProblem(seen(lit), stays('a:1000 b:20 c'), SHORT_MS)).toBeUndefined();
});

test.each([
  ['left out a state that lasted', 'b c'],
  ['stopped before the end', 'a b'],
  ['lit states in another order', 'b a c'],
  ['lit a state that never was', 'a d c'],
  ['lit a state that was over', 'a b a c'],
  ['lit one state twice', 'a c c'],
])('a page that %s is rejected', (_, lit) => {
  expect(litProblem(seen(lit), stays('a:1000 b:20 c'), SHORT_MS)).toBeTypeOf('string');
});

test('states from before the page opened need not be highlighted', () => {
  expect(litProblem(seen('b c', 900), stays('a:1000 b:2000 c'), SHORT_MS)).toBeUndefined();
  expect(litProblem(seen('b c', 300), stays('a:1000 b:2000 c'), SHORT_MS))
    .toContain('"a" lasted');
});

test('recurring states are distinguished by their durations', () => {
  const back = stays('a:10 b:1000 a:1000 b');
  expect(litProblem(seen('b a b'), back, SHORT_MS)).toBeUndefined();
  expect(litProblem(seen('a b'), back, SHORT_MS)).toContain('"a" lasted');
});

test('a state that is left briefly and entered again stays highlighted', () => {
  const back = stays('a:1000 b:20 a:1000 c:20 a');
  expect(litProblem(seen('a'), back, SHORT_MS)).toBeUndefined();
  expect(litProblem(seen('a b a'), back, SHORT_MS)).toBeUndefined();
  expect(litProblem(seen('a c'), back, SHORT_MS)).toBeTypeOf('string');
});

const line = (id: string, state: string, status = 'active') => ({
  atMs: 1,
  id,
  event: { type: 'x.came' },
  state,
  status,
});

test('stays begin with the event that moved the actor, and events that do not belong to none', () => {
  const lines = [line('a/1', 'b a'), line('a/2', 'c'), line('a/1', 'b a'), line('a/1', 'c')];
  expect(staysOf(lines, 'a/1').map(({ state }) => state)).toEqual(['b a', 'c']);
});

test('active actors are counted in their state and in all its ancestors', () => {
  const lines = [
    line('a/1', 'x.y'),
    line('a/1', 'x.z'),
    line('a/2', 'x.z w'),
    line('a/3', 'x.z', 'stopped'),
    line('b/1', 'x.z'),
  ];
  expect(countsByState(lines, 'a')).toEqual({ x: 2, 'x.z': 2, w: 1 });
});
