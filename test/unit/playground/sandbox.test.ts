/** The sandbox of the playground: its choices, its faults, and its shared addresses. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recordEntry } from '../../../src/api/actor-record.ts';
import { playerOn } from '../../../src/cli/replay/recording.ts';
import { makeActorBoard } from '../../../src/observability/actor-board.ts';
import { ACTORS, CASES, STATECHARTS } from '../../../tools/playground/actors.ts';
import {
  hashWithTrace,
  STEPS_MAX,
  traceIn,
  traceInHash,
  traceText,
} from '../../../tools/playground/trace.ts';
import { makeSandbox, type Sandbox } from '../../../tools/playground/sandbox.ts';

const POD = 'podEviction/default/db-0';
const stateOf = (sandbox: Sandbox, id: string): string => sandbox.board.row(id)?.state ?? '';

const fireBy = (sandbox: Sandbox, id: string, label: RegExp): void => {
  const choice = sandbox.choices(id).find((one) => label.test(one.label));
  expect([label, choice && sandbox.fire(choice)]).toEqual([label, true]);
};

/** Fires choices as the numbers say. */
const wander = (sandbox: Sandbox, picks: readonly (readonly [number, number])[]): void => {
  for (const [actor, pick] of picks) {
    const choices = sandbox.choices(ACTORS[actor % ACTORS.length]?.id ?? '');
    const choice = choices[pick % Math.max(1, choices.length)];
    if (choice !== undefined) expect(sandbox.fire(choice)).toBe(true);
  }
};

const PICKS = fc.array(fc.tuple(fc.nat(1000), fc.nat(1000)), { maxLength: 40 });

const contentOf = ({ board }: Sandbox) => ACTORS.map(({ id }) => board.detail(id));

test('every actor starts, and has something that can happen to it', () => {
  const sandbox = makeSandbox();
  expect(ACTORS.map(({ id }) => [id, sandbox.board.row(id)?.status])).toEqual(
    ACTORS.map(({ id }) => [id, 'active']),
  );
  for (const { id } of ACTORS) expect([id, sandbox.choices(id).length > 0]).toEqual([id, true]);
});

test('each case is an event that its statechart knows', () => {
  for (const [kind, cases] of Object.entries(CASES)) {
    const known = new Set(STATECHARTS[kind]?.events);
    expect([kind, cases.filter(({ type }) => !known.has(type)).map(({ type }) => type)])
      .toEqual([kind, []]);
  }
});

test('a pod is evicted, refused by its budget, and evicted after a wait', () => {
  const sandbox = makeSandbox();
  fireBy(sandbox, POD, /dispatcher/);
  expect(stateOf(sandbox, POD)).toBe('calling');
  const faults = sandbox.choices(POD).filter(({ group }) => group === 'Faults');
  expect(faults.map(({ label }) => label)).toContain('403: an admission webhook refuses');
  fireBy(sandbox, POD, /^429: the budget/);
  expect(stateOf(sandbox, POD)).toBe('queued');
  fireBy(sandbox, POD, /dispatcher/);
  fireBy(sandbox, POD, /^201/);
  expect(stateOf(sandbox, POD)).toBe('leaving.terminating');
  fireBy(sandbox, POD, /is gone/);
  expect([stateOf(sandbox, POD), sandbox.choices(POD)]).toEqual(['gone', []]);
});

test('a drain goes its whole way', () => {
  const sandbox = makeSandbox();
  const id = 'nodeDrain/node-1';
  fireBy(sandbox, id, /turn of this node/);
  fireBy(sandbox, id, /^The Node is cordoned/);
  fireBy(sandbox, id, /evictions begin/);
  fireBy(sandbox, id, /two pods/);
  expect(stateOf(sandbox, id)).toContain('work.underway.draining.open');
  fireBy(sandbox, id, /A budget blocks/);
  expect(sandbox.board.row(id)?.reason).toBe('BlockedByBudget');
  fireBy(sandbox, id, /no pod/);
  expect(stateOf(sandbox, id)).toContain('work.underway.draining.settling');
  fireBy(sandbox, id, /^binding delay: 2\.0 s/);
  fireBy(sandbox, id, /no pod/);
  fireBy(sandbox, id, /show end is done/);
  fireBy(sandbox, id, /has the end: drained/);
  expect(stateOf(sandbox, id)).toContain('work.drained');
});

test('time passes only with events: a timer takes as long as its delay', () => {
  const sandbox = makeSandbox();
  const before = sandbox.nowMs();
  const id = 'evictionCircuit';
  fireBy(sandbox, id, /^429/);
  expect(sandbox.nowMs() - before).toBe(1000);
  fireBy(sandbox, id, /^throttle: 10\.0 s/);
  expect([stateOf(sandbox, id), sandbox.nowMs() - before]).toEqual(['halfOpen', 11_000]);
});

test('the same trace leads to the same states, and survives as text', () => {
  fc.assert(
    fc.property(PICKS, (picks) => {
      const sandbox = makeSandbox();
      wander(sandbox, picks);
      const text = traceText(sandbox.trace());
      const again = makeSandbox();
      for (const step of traceIn(text)) expect(again.fire(step)).toBe(true);
      expect(contentOf(again)).toEqual(contentOf(sandbox));
    }),
    { numRuns: 30 },
  );
});

test('a recording of the playground replays to its states', () => {
  fc.assert(
    fc.property(PICKS, (picks) => {
      const sandbox = makeSandbox();
      wander(sandbox, picks);
      const clock = { nowMs: 0 };
      const board = makeActorBoard({
        time: { now: () => clock.nowMs },
        kinds: new Set(Object.keys(STATECHARTS)),
      });
      const player = playerOn(board);
      for (const text of sandbox.board.history.recording('test')) {
        const entry = recordEntry(text);
        if (entry._tag !== 'Line') continue;
        clock.nowMs = entry.line.atMs;
        expect(player.play(entry.line)).toBeUndefined();
      }
      expect(board.rows()).toEqual(sandbox.board.rows());
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
  const sandbox = makeSandbox();
  const before = contentOf(sandbox);
  expect(sandbox.fire({ actorId: 'nobody', type: 'x', eventCase: undefined })).toBe(false);
  expect(contentOf(sandbox)).toEqual(before);
});

test('the trace is in the address beside the view', () => {
  const hash = hashWithTrace('#/podEviction/default/db-0?search=x', '0.0!0.19');
  expect(traceInHash(hash)).toBe('0.0!0.19');
  expect(hash).toContain('#/podEviction/default/db-0?search=x&trace=');
  expect(hashWithTrace(hash, '')).toBe('#/podEviction/default/db-0?search=x');
  expect([hashWithTrace('', '0.0'), hashWithTrace('', '')]).toEqual(['#/?trace=0.0', '#/']);
});
