/**
 * Regression: the clock of an outstanding roll-up ran on while the shard replayed its machines and
 * did not read yet, so a replay longer than three intervals ended in an endless reconnect.
 */
import { describe, expect, test } from 'vitest';
import {
  INTERVAL_MS,
  rollup,
  stateOf,
  streamingSession,
  tags,
} from '../../support/fleet/session-rig.ts';

type Session = Awaited<ReturnType<typeof streamingSession>>;

/** The replay of these machines, one each `everyMs`. */
const replay = async (
  { time, shard }: Session,
  { machines, everyMs }: { readonly machines: number; readonly everyMs: number },
): Promise<void> => {
  for (let at = 0; at < machines; at += 1) {
    shard.stream().send({ case: 'nodeStateUpdate', value: { machineId: `m-${at}`, state: 5 } });
    await time.advance(everyMs);
  }
};

describe('a replay that is longer than three intervals', () => {
  test('wire 2: does not end its stream while frames arrive', async () => {
    const rig = await streamingSession();
    rig.session.offerRollup(rollup(1));
    await replay(rig, { machines: 40, everyMs: INTERVAL_MS });
    rig.shard.stream().ack('rollup');
    expect([stateOf(rig.session), rig.shard.streams.length]).toEqual(['streaming', 1]);
    expect(rig.recorded).toEqual([]);
    expect(rig.acknowledged).toEqual([1]);
    expect(tags(rig.shardEvents).at(-1)).toBe('Resynced');
  });

  test('wire 2: does not end its stream after a malformed frame either', async () => {
    const rig = await streamingSession();
    rig.session.offerRollup(rollup(1));
    rig.shard.stream().sendBytes(Uint8Array.of(255));
    await replay(rig, { machines: 40, everyMs: INTERVAL_MS });
    expect([stateOf(rig.session), rig.shard.streams.length]).toEqual(['streaming', 1]);
  });

  test('wire 2: three intervals without a frame end its stream, and not less', async () => {
    const rig = await streamingSession();
    rig.session.offerRollup(rollup(1));
    await replay(rig, { machines: 1000, everyMs: 97 });
    await rig.time.advance(3 * INTERVAL_MS - 97 - 1);
    expect(stateOf(rig.session)).toBe('streaming');
    await rig.time.advance(INTERVAL_MS / 10 + 1);
    expect(rig.recorded).toHaveLength(1);
  });

  test('wire 2: costs the statechart ten events an interval, however many machines', async () => {
    const rig = await streamingSession();
    rig.session.offerRollup(rollup(1));
    let moves = 0;
    rig.session.actor?.subscribe(() => {
      moves += 1;
    });
    for (let at = 0; at < 60_000; at += 1) {
      rig.shard.stream().send({
        case: 'nodeStateUpdate',
        value: { machineId: `m-${at}`, state: 5 },
      });
    }
    await rig.time.advance(INTERVAL_MS);
    expect(moves).toBeLessThanOrEqual(11);
  });

  test('wire 2: frames after the replay do not excuse a roll-up without an ack', async () => {
    const rig = await streamingSession();
    rig.session.offerRollup(rollup(1));
    rig.shard.stream().ack('rollup');
    await rig.time.settle();
    rig.session.offerRollup(rollup(2));
    await replay(rig, { machines: 31, everyMs: 1000 });
    expect(stateOf(rig.session)).not.toBe('streaming');
    expect(rig.recorded).toHaveLength(1);
  });
});
