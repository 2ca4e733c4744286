/** The world of the playground: its choices, its faults, and its shared addresses. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recordEntry } from '../../../src/api/actor-record.ts';
import { playerOn } from '../../../src/cli/recording.ts';
import { makeActorBoard } from '../../../src/observability/actor-board.ts';
import { ACTORS, CASES, PLAYED } from '../../../tools/playground/actors.ts';
import {
  hashWithTrace,
  STEPS_MAX,
  traceIn,
  traceInHash,
  traceText,
} from '../../../tools/playground/trace.ts';
import { makeWorld, type PlayWorld } from '../../../tools/playground/world.ts';

const POD = 'podEviction/default/db-0';
const stateOf = (world: PlayWorld, id: string): string => world.board.row(id)?.state ?? '';

const fireBy = (world: PlayWorld, id: string, label: RegExp): void => {
  const choice = world.choices(id).find((one) => label.test(one.label));
  expect([label, choice && world.fire(choice)]).toEqual([label, true]);
};

/** Fires choices as the numbers say. */
const wander = (world: PlayWorld, picks: readonly (readonly [number, number])[]): void => {
  for (const [actor, pick] of picks) {
    const choices = world.choices(ACTORS[actor % ACTORS.length]?.id ?? '');
    const choice = choices[pick % Math.max(1, choices.length)];
    if (choice !== undefined) expect(world.fire(choice)).toBe(true);
  }
};

const PICKS = fc.array(fc.tuple(fc.nat(1000), fc.nat(1000)), { maxLength: 40 });

const shown = ({ board }: PlayWorld) => ACTORS.map(({ id }) => board.detail(id));

test('every actor starts, and has something that can happen to it', () => {
  const world = makeWorld();
  expect(ACTORS.map(({ id }) => [id, world.board.row(id)?.status])).toEqual(
    ACTORS.map(({ id }) => [id, 'active']),
  );
  for (const { id } of ACTORS) expect([id, world.choices(id).length > 0]).toEqual([id, true]);
});

test('each case is an event that its statechart knows', () => {
  for (const [kind, cases] of Object.entries(CASES)) {
    const known = new Set(PLAYED[kind]?.events);
    expect([kind, cases.filter(({ type }) => !known.has(type)).map(({ type }) => type)])
      .toEqual([kind, []]);
  }
});

test('a pod is evicted, refused by its budget, and evicted after a wait', () => {
  const world = makeWorld();
  fireBy(world, POD, /dispatcher/);
  expect(stateOf(world, POD)).toBe('calling');
  const faults = world.choices(POD).filter(({ group }) => group === 'Faults');
  expect(faults.map(({ label }) => label)).toContain('403: an admission webhook refuses');
  fireBy(world, POD, /^429: the budget/);
  expect(stateOf(world, POD)).toBe('queued');
  fireBy(world, POD, /dispatcher/);
  fireBy(world, POD, /^201/);
  expect(stateOf(world, POD)).toBe('leaving.terminating');
  fireBy(world, POD, /is gone/);
  expect([stateOf(world, POD), world.choices(POD)]).toEqual(['gone', []]);
});

test('a drain goes its whole way', () => {
  const world = makeWorld();
  const id = 'nodeDrain/node-1';
  fireBy(world, id, /turn of this node/);
  fireBy(world, id, /^The Node is cordoned/);
  fireBy(world, id, /evictions begin/);
  fireBy(world, id, /two pods/);
  expect(stateOf(world, id)).toContain('work.underway.draining.open');
  fireBy(world, id, /A budget blocks/);
  expect(world.board.row(id)?.reason).toBe('BlockedByBudget');
  fireBy(world, id, /no pod/);
  fireBy(world, id, /show end is done/);
  fireBy(world, id, /has the end: drained/);
  expect(stateOf(world, id)).toContain('work.drained');
});

test('time passes only with events: a timer takes as long as its delay', () => {
  const world = makeWorld();
  const before = world.nowMs();
  const id = 'evictionCircuit';
  fireBy(world, id, /^429/);
  expect(world.nowMs() - before).toBe(1000);
  fireBy(world, id, /^throttle: 10\.0 s/);
  expect([stateOf(world, id), world.nowMs() - before]).toEqual(['halfOpen', 11_000]);
});

test('the same trace leads to the same states, and survives as text', () => {
  fc.assert(
    fc.property(PICKS, (picks) => {
      const world = makeWorld();
      wander(world, picks);
      const text = traceText(world.trace());
      const again = makeWorld();
      for (const step of traceIn(text)) expect(again.fire(step)).toBe(true);
      expect(shown(again)).toEqual(shown(world));
    }),
    { numRuns: 30 },
  );
});

test('a recording of the playground replays to its states', () => {
  fc.assert(
    fc.property(PICKS, (picks) => {
      const world = makeWorld();
      wander(world, picks);
      const clock = { nowMs: 0 };
      const board = makeActorBoard({
        time: { now: () => clock.nowMs },
        kinds: new Set(Object.keys(PLAYED)),
      });
      const player = playerOn(board);
      for (const text of world.board.history.recording('test')) {
        const entry = recordEntry(text);
        if (entry._tag !== 'Line') continue;
        clock.nowMs = entry.line.atMs;
        expect(player.play(entry.line)).toBeUndefined();
      }
      expect(board.rows()).toEqual(world.board.rows());
    }),
    { numRuns: 20 },
  );
});

test.each(['', 'x', '0.999', '99.0', '0.', '-1.2'])(
  'a trace of another version ends where it cannot be read: "%s"',
  (text) => {
    expect(traceIn(text)).toEqual([]);
    expect(traceIn(`0.0!${text}!0.0`)).toHaveLength(1);
  },
);

test('a trace has a limit', () => {
  expect(traceIn(Array(STEPS_MAX + 10).fill('0.0').join('!'))).toHaveLength(STEPS_MAX);
});

test('an event that a statechart does not know at the moment changes nothing', () => {
  const world = makeWorld();
  const before = shown(world);
  expect(world.fire({ actorId: 'nobody', type: 'x', eventCase: undefined })).toBe(false);
  expect(shown(world)).toEqual(before);
});

test('the trace is in the address beside the view', () => {
  const hash = hashWithTrace('#/podEviction/default/db-0?search=x', '0.0!0.19');
  expect(traceInHash(hash)).toBe('0.0!0.19');
  expect(hash).toContain('#/podEviction/default/db-0?search=x&trace=');
  expect(hashWithTrace(hash, '')).toBe('#/podEviction/default/db-0?search=x');
  expect([hashWithTrace('', '0.0'), hashWithTrace('', '')]).toEqual(['#/?trace=0.0', '#/']);
});
