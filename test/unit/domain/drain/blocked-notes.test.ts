/** When a drain says that it is held up. */
import { describe, expect, it } from 'vitest';
import {
  type BlockedSince,
  type HeldPod,
  noteBlocked,
  NOTHING_BLOCKED,
} from '../../../../src/domain/drain/blocked-notes.ts';
import type { BlockerReason } from '../../../../src/domain/drain/blocker.ts';

const held = (key: string, reason: BlockerReason, subject = ''): HeldPod => ({
  key,
  blocker: { reason, subject, text: `why ${key}` },
});

const behindDb = [
  held('ns/a', 'BlockedByBudget', 'ns/db'),
  held('ns/b', 'BlockedByBudget', 'ns/db'),
];

/** Looks at each moment in turn; gives what was said, with when. */
const said = (moments: readonly (readonly [number, readonly HeldPod[]])[]): readonly string[] => {
  let since: BlockedSince = NOTHING_BLOCKED;
  return moments.flatMap(([nowMs, pods]) => {
    const verdict = noteBlocked(since, pods, nowMs);
    since = verdict.since;
    return verdict.notes.map(({ reason, note }) => `${nowMs} ${reason}: ${note}`);
  });
};

describe('noteBlocked', () => {
  it('DR-42: one Event for a budget that has blocked for 10 s, whatever the number of pods', () => {
    expect(said([[0, behindDb], [9999, behindDb], [10_000, behindDb], [20_000, behindDb]]))
      .toEqual(['10000 BlockedByBudget: Cannot evict ns/a (why ns/a), ns/b (why ns/b)']);
  });

  it('DR-42: each budget and each reason has an Event of its own', () => {
    const pods = [
      ...behindDb,
      held('ns/c', 'BlockedByBudget', 'ns/web'),
      held('ns/d', 'PolicyRefused', 'p'),
    ];
    expect(said([[0, pods], [10_000, pods]]).map((text) => text.split(':')[0]))
      .toEqual(['10000 BlockedByBudget', '10000 BlockedByBudget', '10000 PolicyRefused']);
  });

  it('DR-42: what went away in between begins anew, and is said once in a drain', () => {
    expect(said([[0, behindDb], [5000, []], [6000, behindDb], [15_999, behindDb]])).toEqual([]);
    const moments = [[0, behindDb], [10_000, behindDb], [11_000, []], [12_000, behindDb]] as const;
    expect(said([...moments, [30_000, behindDb]])).toHaveLength(1);
  });

  it('DR-42: what passes by itself is not said', () => {
    const passing = [held('ns/a', 'Terminating'), held('ns/b', 'WaitingForTier')];
    expect(said([[0, passing], [60_000, passing]])).toEqual([]);
  });

  it('tells when to look again', () => {
    const first = noteBlocked(NOTHING_BLOCKED, behindDb, 500);
    expect(first.againMs).toBe(10_500);
    expect(noteBlocked(first.since, behindDb, 10_500).againMs).toBeNull();
    expect(noteBlocked(NOTHING_BLOCKED, [], 0)).toEqual({ notes: [], since: {}, againMs: null });
  });

  it('names five pods and counts the others', () => {
    const pods = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => held(name, 'TwoBudgets', 'x'));
    expect(said([[0, pods], [10_000, pods]])[0]).toMatch(/e \(why e\), and 1 more$/);
  });
});
