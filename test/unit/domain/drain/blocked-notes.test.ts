/** When a drain says that it is held up. */
import { describe, expect, it } from 'vitest';
import {
  type BlockedSince,
  noteBlocked,
  NOTHING_BLOCKED,
} from '../../../../src/domain/drain/blocked-notes.ts';

/** Looks at each moment in turn; gives what was said, with when. */
const said = (
  moments: readonly (readonly [number, readonly string[]])[],
): readonly string[] => {
  let since: BlockedSince = NOTHING_BLOCKED;
  return moments.flatMap(([nowMs, causes]) => {
    const verdict = noteBlocked(since, causes, nowMs);
    since = verdict.since;
    return verdict.due.map((cause) => `${nowMs} ${cause}`);
  });
};

describe('noteBlocked', () => {
  it('DR-42: says once what has blocked for 10 s', () => {
    expect(said([[0, ['db']], [9999, ['db']], [10_000, ['db', 'db']], [20_000, ['db']]]))
      .toEqual(['10000 db']);
  });

  it('DR-42: each budget and each reason is said on its own', () => {
    expect(said([[0, ['db', 'web']], [10_000, ['db', 'web']]])).toEqual(['10000 db', '10000 web']);
  });

  it('DR-42: what went away before it was said begins anew', () => {
    expect(said([[0, ['db']], [5000, []], [6000, ['db']], [15_999, ['db']], [16_000, ['db']]]))
      .toEqual(['16000 db']);
  });

  it('DR-42: what was said is not said again in the same drain', () => {
    const back = [[0, ['db']], [10_000, ['db']], [11_000, []], [12_000, ['db']]] as const;
    expect(said([...back, [30_000, ['db']]])).toEqual(['10000 db']);
  });
});
