/**
 * A shard that is out of reach, or refuses: one Event with the cause and the remedy, its end, and
 * what the probe shows of it. The Event of a refusal was recorded once and expired after an hour,
 * while the probe showed a healthy session.
 */
import { describe, expect, test } from 'vitest';
import type { SessionEnding } from '../../../src/domain/session.ts';
import { unreachableNote } from '../../../src/domain/shard-reach.ts';
import { rollup, startSession, stateOf } from '../../support/fleet/session-rig.ts';

const REFUSED: SessionEnding = {
  why: 'Unreachable',
  detail: 'UNAVAILABLE: No connection established. Last error: connect ECONNREFUSED 10.0.0.5:7780',
};
const NOTE = 'Cannot reach the shard at "shard:7780": no process listens at this address ' +
  `(${REFUSED.detail}). Check that the shard runs, and the port in --shard-addr`;

/** A leader whose dials come to that end. */
const without = async (ending: SessionEnding | 'never') => {
  const rig = startSession();
  rig.shard.refuse(ending);
  rig.session.setLeading(true);
  rig.session.demandListed();
  await rig.time.settle();
  return rig;
};

/** The dials succeed from now on, up to the first ack of a roll-up. */
const reached = async ({ time, shard, session }: Awaited<ReturnType<typeof without>>) => {
  const dialled = shard.streams.length;
  shard.refuse(undefined);
  while (shard.streams.length === dialled) await time.advanceToNext();
  shard.stream().ack('hello');
  session.offerRollup(rollup(1));
  await time.settle();
  shard.stream().ack('rollup');
  await time.settle();
};

const warnings = (recorded: readonly string[]): readonly string[] =>
  recorded.filter((one) => one.startsWith('ShardUnreachable'));

describe('wire 7: a shard that is out of reach', () => {
  test('is one Event, with the address, the cause and the remedy, however long it lasts', async () => {
    const { time, session, recorded } = await without(REFUSED);
    await time.advance(10_000);
    expect([recorded, session.outage()], 'a restart of the shard is no outage').toEqual([
      [],
      undefined,
    ]);
    await time.advance(10 * 60_000);
    expect(warnings(recorded).length).toBeGreaterThan(5);
    expect([...new Set(recorded)], 'equal notes are one Event with a series').toEqual([
      `ShardUnreachable: ${NOTE}`,
    ]);
    expect(session.outage()).toEqual({ reason: 'ShardUnreachable', note: NOTE });
  });

  test('has its reason in the state of the session, while it waits and while it dials', async () => {
    const { time, session } = await without('never');
    await time.advance(20_000);
    expect(stateOf(session)).toBe('backingOff');
    const states = new Set<string>();
    for (let step = 0; step < 8; step += 1) {
      await time.advanceToNext();
      states.add(stateOf(session));
    }
    expect([...states]).toContain('unreachable');
    await time.advance(60_000);
    expect(['redialling', 'unreachable']).toContain(stateOf(session));
  });

  test('ends with one Event at the first ack of a roll-up', async () => {
    const rig = await without(REFUSED);
    await rig.time.advance(5 * 60_000);
    rig.recorded.splice(0);
    await reached(rig);
    expect(rig.recorded.filter((one) => !one.startsWith('ShardUnreachable'))).toEqual([
      'ShardReachable: The shard at "shard:7780" acknowledges roll-ups again',
    ]);
    expect(rig.session.outage()).toBeUndefined();
  });

  test('is no outage when a session is lost and opened again soon', async () => {
    const rig = await without(REFUSED);
    await reached(rig);
    rig.shard.stream().end({ why: 'EndedByShard', detail: 'UNAVAILABLE: goes down' });
    await reached(rig);
    expect(rig.recorded).toEqual([]);
  });

  test('is an outage when a lost session cannot be opened again', async () => {
    const rig = await without(REFUSED);
    await reached(rig);
    rig.shard.refuse(REFUSED);
    rig.shard.stream().end({ why: 'EndedByShard', detail: 'UNAVAILABLE: goes down' });
    await rig.time.advance(5 * 60_000);
    expect(new Set(rig.recorded)).toEqual(new Set([`ShardUnreachable: ${NOTE}`]));
  });

  test('concerns the leader only, and each term from its beginning', async () => {
    const { time, session, recorded } = await without(REFUSED);
    await time.advance(5 * 60_000);
    session.setLeading(false);
    await time.settle();
    expect(session.outage()).toBeUndefined();
    recorded.splice(0);
    session.setLeading(true);
    session.demandListed();
    await time.settle();
    expect([recorded, session.outage()]).toEqual([[], undefined]);
  });
});

describe('wire 7: a shard that refuses this cluster', () => {
  const refusal: SessionEnding = { why: 'RefusedByShard', detail: 'PERMISSION_DENIED: not yours' };
  const note = 'Cannot open a session with the shard at "shard:7780": it refuses this cluster ' +
    '(PERMISSION_DENIED: not yours). Ask the administrators of the fleet whether they accept ' +
    'this cluster and the issuer of its certificate';

  test('is recorded with each attempt, and is an outage meanwhile', async () => {
    const { time, session, recorded, counts } = await without(refusal);
    expect([recorded, session.outage()]).toEqual([
      [`SessionRefused: ${note}`],
      { reason: 'SessionRefused', note },
    ]);
    await time.advance(5 * 60_000);
    const attempts = counts.get('tidegate_session_endings_total RefusedByShard') ?? 0;
    expect(attempts).toBeGreaterThan(5);
    expect(recorded).toEqual(Array.from({ length: attempts }, () => `SessionRefused: ${note}`));
    expect(session.outage()).toEqual({ reason: 'SessionRefused', note });
  });

  test('ends with one Event at the first ack of a roll-up', async () => {
    const rig = await without(refusal);
    await reached(rig);
    expect(rig.recorded).toEqual([
      `SessionRefused: ${note}`,
      'ShardReachable: The shard at "shard:7780" acknowledges roll-ups again',
    ]);
    expect(rig.session.outage()).toBeUndefined();
  });

  test('concerns the leader only, and each term from its beginning', async () => {
    const { time, session } = await without(refusal);
    session.setLeading(false);
    await time.settle();
    expect(session.outage()).toBeUndefined();
    session.setLeading(true);
    await time.settle();
    expect([stateOf(session), session.outage()]).toEqual(['waitingForDemand', undefined]);
  });
});

describe('the note of an outage', () => {
  test.each(
    [
      [
        'Unreachable',
        'UNAVAILABLE: Name resolution failed for target dns:shard:7780',
        'not resolve',
      ],
      ['Unreachable', 'UNAVAILABLE: Last error: connect EHOSTUNREACH 10.0.0.5', 'no answer'],
      ['Unreachable', 'UNAVAILABLE: Last error: certificate has expired', 'TLS handshake fails'],
      ['DialOverdue', 'Connection timed out', 'no answer'],
      [
        'HelloOverdue',
        'The shard did not acknowledge the Hello',
        'does not acknowledge the session',
      ],
      ['EndedByShard', 'UNAVAILABLE: gone', 'each session ends'],
      ['Unreachable', 'UNAVAILABLE: something else', 'the connection fails'],
    ] as const,
  )('%s with "%s" says: %s', (why, detail, words) => {
    const note = unreachableNote('shard:7780', { why, detail });
    expect(note).toContain(words);
    expect(note).toContain(`(${detail}). `);
  });

  test('is bounded, whatever the transport reports', () => {
    const note = unreachableNote('s'.repeat(1000), {
      why: 'Unreachable',
      detail: 'x'.repeat(9999),
    });
    expect(note.length).toBeLessThan(700);
  });
});
