/** A session whose statechart crashes: its stream ends, and it is restarted with the same facts. */
import { describe, expect, test } from 'vitest';
import type { CredentialsReading } from '../../../src/domain/credentials.ts';
import { newAuthority } from '../../support/processes/certificates.ts';
import {
  INTERVAL_MS,
  numbers,
  rollup,
  startSession,
  stateOf,
  streamingSession,
  tags,
} from '../../support/fleet/session-rig.ts';

/** A session whose Events crash it while `broken` is true; with `readings` it has TLS. */
const fragile = async (readings?: () => CredentialsReading) => {
  const planted = { broken: false };
  const recording = (): void => {
    if (planted.broken) throw new Error('planted');
  };
  const rig = await streamingSession({ recording, ...(readings && { readings }) });
  return { ...rig, planted };
};

/** Crashes it, with a roll-up that gets no ack. */
const crash = async ({ time, session, planted }: Awaited<ReturnType<typeof fragile>>) => {
  session.offerRollup(rollup(1));
  await time.settle();
  planted.broken = true;
  await time.advance(3 * INTERVAL_MS);
  planted.broken = false;
};

/** A session right after its crash. */
const crashed = async () => {
  const rig = await fragile();
  await crash(rig);
  return rig;
};

describe('a session that crashes', () => {
  test('is counted and logged, and its stream is closed', async () => {
    const { shard, session, counts, logged } = await crashed();
    expect([session.actor, shard.stream().state()]).toEqual([undefined, 'left']);
    expect(logged.filter((line) => line === 'Session state changed').length).toBeGreaterThan(3);
    expect(counts.get('tidegate_actor_defects_total fleetSession')).toBe(1);
    expect(logged).toContain('Actor crashed');
  });

  test('publishes the end of its stream once', async () => {
    const { shardEvents } = await crashed();
    expect(tags(shardEvents)).toEqual(['StreamOpened', 'StreamEnded']);
  });

  test('dials again by itself, and continues the stream numbers', async () => {
    const { time, shard, session, shardEvents, acknowledged } = await crashed();
    await time.advance(1000);
    shard.stream().ack('hello');
    session.offerRollup(rollup(2));
    await time.settle();
    shard.stream().ack('rollup');
    expect([stateOf(session), shard.streams.length]).toEqual(['streaming', 2]);
    expect(shardEvents.slice(2)).toEqual([
      { _tag: 'StreamOpened', stream: 2 },
      { _tag: 'Resynced', stream: 2 },
    ]);
    expect([acknowledged, numbers(shard)]).toEqual([[2], [2]]);
  });

  test('dials again when the same term was announced twice', async () => {
    const rig = await fragile();
    rig.session.setLeading(true);
    await crash(rig);
    await rig.time.advance(1000);
    expect([stateOf(rig.session), rig.shard.streams.length]).toEqual(['greeting', 2]);
  });

  test('wire 8: dials again with the key pair that it had', async () => {
    const authority = newAuthority();
    const pair = {
      ...authority.issue({ commonName: 'o', alternativeNames: ['URI:bigfleet://cluster/prod-1'] }),
      authority: authority.certificate,
      fingerprint: 'a',
    };
    const rig = await fragile(() => ({ _tag: 'Usable', pair }));
    await crash(rig);
    await rig.time.advance(1000);
    expect([stateOf(rig.session), rig.shard.streams.length]).toEqual(['greeting', 2]);
  });

  test('dials no more when the lease was lost meanwhile', async () => {
    const { time, shard, session } = await crashed();
    session.setLeading(false);
    await time.advance(60_000);
    expect([stateOf(session), shard.streams.length]).toEqual(['standby', 1]);
  });

  test('ends at once when it is stopped before its restart', async () => {
    const { time, session } = await crashed();
    await session.stop();
    await time.advance(60_000);
    expect(session.actor).toBeUndefined();
  });
});

describe('a replay gap', () => {
  const malformed = Uint8Array.from([0xff, 0x00, 0x13]);

  test('is a state of the session until the stream ends', async () => {
    const { shard, session, shardEvents } = await streamingSession();
    shard.stream().sendBytes(malformed);
    const resync = (state: 'replayGap' | 'unproven') =>
      session.actor?.getSnapshot().matches({ connected: { streaming: { resync: state } } });
    expect(resync('replayGap')).toBe(true);
    session.offerRollup(rollup(1));
    shard.stream().ack('rollup');
    expect(resync('unproven')).toBe(true);
    expect(tags(shardEvents)).toEqual(['StreamOpened', 'ReplayUnproven']);
  });

  test('counts before the ack of the Hello as well', async () => {
    const { time, shard, session, shardEvents, logged } = startSession();
    session.setLeading(true);
    session.demandListed();
    await time.settle();
    shard.stream().sendBytes(malformed);
    expect(stateOf(session)).toBe('greeting');
    shard.stream().ack('hello');
    session.offerRollup(rollup(1));
    await time.settle();
    shard.stream().ack('rollup');
    expect(tags(shardEvents)).toEqual(['StreamOpened', 'ReplayUnproven']);
    expect(logged).toContain('Resync incomplete: a frame of the replay was malformed');
  });

  test('after the replay has no effect', async () => {
    const { shard, session, shardEvents } = await streamingSession();
    session.offerRollup(rollup(1));
    shard.stream().ack('rollup');
    shard.stream().sendBytes(malformed);
    expect(tags(shardEvents)).toEqual(['StreamOpened', 'Resynced']);
  });
});
