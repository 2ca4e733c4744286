/** Bytes of a watch → its lines. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WatchLine } from '../../../src/effects/kube-api.ts';
import { watchLines } from '../../../src/effects/watch-lines.ts';

async function* chunksOf(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    yield bytes.subarray(from, cut);
    from = cut;
  }
  yield bytes.subarray(from);
}

const read = async (
  text: string,
  cuts: readonly number[] = [],
  limit = 1_000_000,
): Promise<readonly (readonly WatchLine[])[]> => {
  const seen: (readonly WatchLine[])[] = [];
  for await (const lines of watchLines(chunksOf(Buffer.from(text), cuts), limit)) seen.push(lines);
  return seen;
};

const textOf = (lines: readonly WatchLine[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('');

const anyLine = fc.record({
  type: fc.constantFrom('ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'),
  object: fc.jsonValue(),
});

describe('the lines of a watch', () => {
  it('are the same however the bytes are chunked', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyLine, { maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        async (lines, cuts) => {
          const text = textOf(lines);
          const { length } = Buffer.from(text);
          const within = cuts.map((cut) => cut % (length + 1));
          const seen = await read(text, within);
          expect(seen.length).toBe(cuts.length + 1);
          expect(JSON.stringify(seen.flat())).toBe(JSON.stringify(lines));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('are grouped by chunk', async () => {
    const lines = ['a', 'b', 'c'].map((object) => ({ type: 'ADDED', object }));
    expect(await read(textOf(lines))).toEqual([lines]);
  });

  it('fail when one is longer than the limit, complete or not', async () => {
    const long = textOf([{ type: 'ADDED', object: 'x'.repeat(100) }]);
    await expect(read(long, [], 50)).rejects.toThrow('longer than 50');
    await expect(read(long.trimEnd(), [20, 40, 60], 50)).rejects.toThrow('longer than 50');
  });

  it('fail on a line that is not an event', async () => {
    for (const broken of ['{\n', '[]\n', '"text"\n', '{"object":{}}\n', '{"type":1}\n']) {
      await expect(read(broken)).rejects.toThrow('not an event');
    }
    await expect(read('{"type":"ADDED"')).rejects.toThrow('middle of a line');
  });

  it('only end or fail on arbitrary bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const failure = await read(Buffer.from(bytes).toString('latin1')).catch((cause) => cause);
        expect(Array.isArray(failure) || failure instanceof Error).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});
