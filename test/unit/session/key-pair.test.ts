/** The session with mutual TLS on simulated time: which pair it dials with, and when it redials. */
import { describe, expect, test } from 'vitest';
import type { CredentialsReading } from '../../../src/domain/credentials.ts';
import { instructionId } from '../../../src/domain/ids.ts';
import type { Reply } from '../../../src/domain/session.ts';
import { newAuthority } from '../../support/processes/certificates.ts';
import { startSession, stateOf, streamingSession, tags } from '../../support/fleet/session-rig.ts';

/** The Events of ten minutes. */
const recordedOf = async (
  time: { readonly advance: (ms: number) => Promise<void> },
  recorded: string[],
): Promise<readonly string[]> => {
  await time.advance(600_000);
  return recorded.splice(0);
};

describe('fleet session with a key pair', () => {
  const ca = newAuthority();
  const reading = (fingerprint: string, uri: string): CredentialsReading => ({
    _tag: 'Usable',
    pair: {
      ...ca.issue({ commonName: 'o', alternativeNames: [uri] }),
      authority: ca.certificate,
      fingerprint,
    },
  });
  const ours = 'URI:bigfleet://cluster/prod-1';

  test('wire 8: without a valid pair nothing is dialled; the first valid one is dialled with at once', async () => {
    let now: CredentialsReading = { _tag: 'Unusable', problem: 'the certificate is for another' };
    const { time, shard, session, recorded, logged } = startSession({ readings: () => now });
    session.setLeading(true);
    session.demandListed();
    await time.advance(120_000);
    expect([shard.streams.length, stateOf(session)]).toEqual([0, 'refused']);
    expect(recorded[0]).toContain('SessionRefused: ');
    expect(recorded[0]).toContain('(the certificate is for another)');
    expect(logged.filter((message) => message === 'Session refused')).toHaveLength(1);
    now = reading('a', ours);
    await time.advance(10_000);
    expect(shard.streams.map(({ pair }) => pair?.fingerprint)).toEqual(['a']);
  });

  // The second problem of the files had neither Event nor log line: one person mended the first.
  test('wire 8: each problem of the files is logged and counted once, and recorded while it lasts', async () => {
    let problem = 'Cannot read "ca.crt"';
    const { time, session, recorded, logged, counts } = startSession({
      readings: () => ({ _tag: 'Unusable', problem }),
    });
    session.setLeading(true);
    session.demandListed();
    const first = await recordedOf(time, recorded);
    problem = 'the certificate is for another';
    const second = await recordedOf(time, recorded);
    expect([first.length, second.length].every((repeats) => repeats > 10)).toBe(true);
    expect(new Set([...first, ...second.slice(1)]).size).toBe(2);
    expect(first.at(-1)).toContain('(Cannot read "ca.crt")');
    expect(second.at(-1)).toContain('(the certificate is for another)');
    expect(session.outage()).toEqual({
      reason: 'SessionRefused',
      note: second.at(-1)?.replace('SessionRefused: ', ''),
    });
    expect(logged.filter((message) => message === 'Session refused')).toHaveLength(2);
    expect(counts.get('tidegate_session_endings_total CredentialsRefused')).toBe(2);
  });

  test('wire 8: a stream that ends after a rotation is dialled with the new pair', async () => {
    let now = reading('a', ours);
    const { time, shard, session } = await streamingSession({ readings: () => now });
    now = reading('b', ours);
    await time.advance(10_000);
    expect([shard.streams.length, stateOf(session)]).toEqual([1, 'streaming']);
    shard.stream().end({ why: 'EndedByShard', detail: 'UNAVAILABLE: gone' });
    await time.advance(500);
    expect(shard.streams.map(({ pair }) => pair?.fingerprint)).toEqual(['a', 'b']);
  });

  // A session that lived for weeks went on with a pair that had been replaced after a leak.
  test('wire 8: a live stream is closed in order and dialled with the new pair within minutes', async () => {
    let now = reading('a', ours);
    const { time, shard, session, logged, counts, shardEvents } = await streamingSession({
      readings: () => now,
    });
    now = reading('b', ours);
    await time.advance(30_000);
    expect([shard.streams.length, stateOf(session)]).toEqual([1, 'streaming']);
    for (let tenth = 0; tenth < 1200 && stateOf(session) === 'streaming'; tenth += 1) {
      await time.advance(100);
    }
    expect([stateOf(session), shard.stream().state()]).toEqual(['renewing', 'halfClosed']);
    shard.stream().end({ why: 'EndedByShard', detail: 'OK: ' });
    await time.settle();
    expect(shard.streams.map(({ pair }) => pair?.fingerprint)).toEqual(['a', 'b']);
    shard.stream().ack('hello');
    expect([stateOf(session), tags(shardEvents)]).toEqual([
      'streaming',
      ['StreamOpened', 'StreamEnded', 'StreamOpened'],
    ]);
    await time.advance(600_000);
    expect(shard.streams).toHaveLength(2);
    expect(logged).not.toContain('Session ended');
    expect([...counts.keys()].filter((key) => key.includes('endings'))).toEqual([]);
  });

  test('wire 8: a shard that does not end the closed stream does not delay the new pair', async () => {
    let now = reading('a', ours);
    const { time, shard } = await streamingSession({ readings: () => now });
    now = reading('b', ours);
    await time.advance(120_000);
    expect(shard.streams.map(({ pair }) => pair?.fingerprint).slice(0, 2)).toEqual(['a', 'b']);
    expect(shard.streams[0]?.state()).toBe('left');
  });

  // It was accepted and written nowhere, so that the reclaim was never acknowledged.
  test('DR-12: a stream that is being renewed takes no reply, the next one does', async () => {
    let now = reading('a', ours);
    const { time, shard, session } = await streamingSession({ readings: () => now });
    const ack: Reply = {
      _tag: 'ReclaimAcknowledged',
      instructionId: instructionId('i1'),
      nodesStarted: 1,
    };
    now = reading('b', ours);
    for (let tenth = 0; tenth < 1200 && stateOf(session) === 'streaming'; tenth += 1) {
      await time.advance(100);
    }
    expect([stateOf(session), session.reply(ack)]).toEqual(['renewing', false]);
    shard.stream().end({ why: 'EndedByShard', detail: 'OK: ' });
    await time.settle();
    shard.stream().ack('hello');
    expect(session.reply(ack)).toBe(true);
    await time.settle();
    expect(shard.streams.map(({ received }) => received.map((payload) => payload.case))).toEqual([
      ['hello'],
      ['hello', 'reclaimAck'],
    ]);
  });

  test('wire 8: files that stay broken end no stream, and are reported once', async () => {
    let now = reading('a', ours);
    const { time, shard, session, logged } = await streamingSession({ readings: () => now });
    now = { _tag: 'Unusable', problem: 'half-written' };
    await time.advance(3_600_000);
    expect([shard.streams.length, stateOf(session)]).toEqual([1, 'streaming']);
    expect(logged.filter((message) => message.startsWith('Key files rejected'))).toHaveLength(1);
  });

  test('wire 8: an expired pair is not dialled with', async () => {
    const { time, shard, session } = startSession({
      readings: () => reading('a', 'URI:bigfleet://cluster/other'),
    });
    session.setLeading(true);
    session.demandListed();
    await time.advance(0);
    expect([shard.streams.length, stateOf(session)]).toEqual([0, 'refused']);
    expect(session.actor?.getSnapshot().context.ending?.why).toBe('CredentialsRefused');
    expect(session.outage()).toMatchObject({ reason: 'SessionRefused' });
  });
});
