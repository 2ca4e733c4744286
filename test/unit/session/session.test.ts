/** The session on simulated time, with an in-process shard. */
import { describe, expect, test } from 'vitest';
import { instructionId } from '../../../src/domain/ids.ts';
import {
  INTERVAL_MS,
  numbers,
  rollup,
  startSession,
  stateOf,
  streamingSession,
  tags,
} from '../../support/fleet/session-rig.ts';

describe('fleet session', () => {
  test('wire 1: Hello is the first frame of every stream and names cluster and protocol', async () => {
    const { shard, session } = await streamingSession();
    session.offerRollup(rollup(1));
    expect(shard.stream().received[0]).toMatchObject({
      case: 'hello',
      value: { clusterId: 'prod-1', protocolVersion: 'v1alpha1' },
    });
  });

  test('wire 8: a plaintext session warns once and sets a gauge; a secured one does neither', async () => {
    const plain = await streamingSession();
    plain.session.setLeading(false);
    plain.session.setLeading(true);
    plain.session.demandListed();
    await plain.time.settle();
    const warning = 'Session without TLS: user data and instructions are readable and forgeable';
    expect(plain.logged.filter((message) => message === warning)).toHaveLength(1);
    expect(plain.gauges.get('tidegate_session_plaintext')).toBe(1);
    const secured = startSession({ readings: () => ({ _tag: 'Unusable', problem: 'no files' }) });
    expect(secured.logged).not.toContain(warning);
    expect(secured.gauges.get('tidegate_session_plaintext')).toBe(0);
  });

  test('wire 1: machines that arrive before the hello ack are processed', async () => {
    const { time, shard, session, shardEvents } = startSession();
    session.setLeading(true);
    session.demandListed();
    await time.settle();
    shard.stream().send({ case: 'nodeStateUpdate', value: { machineId: 'm-1', state: 5 } });
    shard.stream().ack('hello');
    expect(tags(shardEvents)).toEqual(['MachineObserved', 'StreamOpened']);
  });

  test('wire 1: a stream that breaks before its hello ack ends, because it may have reported machines', async () => {
    const { time, shard, session, shardEvents } = startSession();
    session.setLeading(true);
    session.demandListed();
    await time.settle();
    shard.stream().send({ case: 'nodeStateUpdate', value: { machineId: 'm-1', state: 5 } });
    session.setLeading(false);
    await time.settle();
    expect(tags(shardEvents)).toEqual(['MachineObserved', 'StreamEnded']);
  });

  test('wire 5: no dial before this process leads and the list is complete', async () => {
    const { time, shard, session } = startSession();
    await time.advance(60_000);
    session.setLeading(true);
    await time.advance(60_000);
    expect([shard.streams.length, stateOf(session)]).toEqual([0, 'waitingForDemand']);
    session.demandListed();
    await time.settle();
    expect([shard.streams.length, stateOf(session)]).toEqual([1, 'greeting']);
  });

  test('wire 5: losing the lease ends the stream, winning it again redials when demand is current', async () => {
    const { time, shard, session, shardEvents } = await streamingSession();
    session.setLeading(false);
    await time.settle();
    expect([shard.stream().state(), stateOf(session)]).toEqual(['left', 'standby']);
    expect(tags(shardEvents)).toEqual(['StreamOpened', 'StreamEnded']);
    session.setLeading(true);
    await time.advance(60_000);
    expect([shard.streams.length, stateOf(session)]).toEqual([1, 'waitingForDemand']);
    session.demandListed();
    await time.settle();
    expect(shard.streams).toHaveLength(2);
  });

  test('wire 2: one roll-up is outstanding; the newest of the others waits for its ack', async () => {
    const { time, shard, session, acknowledged } = await streamingSession();
    for (const number of [1, 2, 3]) session.offerRollup(rollup(number));
    expect(numbers(shard)).toEqual([1]);
    await time.settle();
    shard.stream().ack('rollup');
    expect([numbers(shard), acknowledged]).toEqual([[1, 3], [1]]);
    await time.settle();
    shard.stream().ack('rollup');
    shard.stream().ack('rollup');
    expect(acknowledged, "an ack that nothing is owed is nobody's").toEqual([1, 3]);
    session.offerRollup(rollup(4));
    expect(numbers(shard)).toEqual([1, 3, 4]);
  });

  test('wire 2: without an ack for three intervals the stream is closed, reported and redialled', async () => {
    const { time, shard, session, recorded, counts, acknowledged } = await streamingSession();
    session.offerRollup(rollup(1));
    await time.advance(3 * INTERVAL_MS - 1);
    expect(stateOf(session)).toBe('streaming');
    await time.advance(1);
    expect([stateOf(session), shard.stream().state()]).toEqual(['overdue', 'left']);
    expect(recorded).toEqual([
      'RollupNotAcknowledged: Cannot report demand: no ack of a roll-up from "shard:7780" ' +
      'for three intervals; the session redials',
    ]);
    expect(counts.get('tidegate_rollups_total overdue')).toBe(1);
    await time.advance(500);
    expect(shard.streams).toHaveLength(2);
    expect(counts.get('bigfleet_operator_session_reconnects_total')).toBe(1);
    shard.stream().ack('hello');
    shard.stream().ack('rollup');
    expect(acknowledged, 'what was outstanding died with its stream').toEqual([]);
  });

  test('wire 2: roll-ups that remain without an ack have one note, so that Events form a series', async () => {
    const { time, shard, session, recorded } = await streamingSession();
    for (const number of [1, 2, 3]) {
      session.offerRollup(rollup(number));
      await time.advance(3 * INTERVAL_MS);
      await time.advance(4000);
      shard.stream().ack('hello');
    }
    expect([recorded.length, new Set(recorded).size]).toEqual([3, 1]);
  });

  test('a stream completes a resync only with its first rollup ack', async () => {
    const { shard, session, shardEvents } = await streamingSession();
    shard.stream().ack('rollup');
    expect(tags(shardEvents)).toEqual(['StreamOpened']);
    session.offerRollup(rollup(1));
    shard.stream().send({ case: 'nodeStateUpdate', value: { machineId: 'm', state: 5 } });
    shard.stream().ack('rollup');
    session.offerRollup(rollup(2));
    shard.stream().ack('rollup');
    expect(tags(shardEvents)).toEqual(['StreamOpened', 'MachineObserved', 'Resynced']);
  });

  test('the time until an ack is observed in seconds', async () => {
    const { time, shard, session, observed } = await streamingSession();
    await time.advance(1000);
    session.offerRollup(rollup(1));
    await time.advance(2500);
    shard.stream().ack('rollup');
    expect(observed).toEqual([['tidegate_rollup_ack_duration_seconds', 2.5]]);
  });

  test('wire 7: the backoff grows from 500 ms to 30 s and is reset by a first rollup ack', async () => {
    const { time, shard, session } = startSession();
    shard.refuse({ why: 'Unreachable', detail: 'UNAVAILABLE: nobody' });
    session.setLeading(true);
    session.demandListed();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 12; attempt += 1) {
      await time.settle();
      const before = time.monotonic();
      await time.advanceToNext();
      waits.push(time.monotonic() - before);
    }
    expect(waits[0]).toBeLessThanOrEqual(500);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(125);
    expect(Math.max(...waits)).toBeGreaterThan(5000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(30_000);
    shard.refuse(undefined);
    await time.advance(30_000);
    expect(session.actor?.getSnapshot().context.attempt).toBeGreaterThan(10);
    shard.stream().ack('hello');
    expect(session.actor?.getSnapshot().context.attempt).toBeGreaterThan(10);
    session.offerRollup(rollup(1));
    shard.stream().ack('rollup');
    expect(session.actor?.getSnapshot().context.attempt).toBe(0);
  });

  test('an unanswered dial or Hello times out', async () => {
    const { time, shard, session } = startSession();
    shard.refuse('never');
    session.setLeading(true);
    session.demandListed();
    await time.advance(20_000);
    expect(stateOf(session)).toBe('backingOff');
    shard.refuse(undefined);
    await time.advance(1000);
    expect(stateOf(session)).toBe('greeting');
    await time.advance(30_000);
    expect([shard.streams[0]?.state(), session.actor?.getSnapshot().context.ending?.why])
      .toEqual(['left', 'HelloOverdue']);
  });

  test('a refusal by the shard is retried every 30 s, not sooner, and recorded each time', async () => {
    const { time, shard, session, recorded } = startSession();
    const refusal = { why: 'RefusedByShard', detail: 'PERMISSION_DENIED: not yours' } as const;
    shard.refuse(refusal);
    session.setLeading(true);
    session.demandListed();
    await time.advance(95_000);
    expect(stateOf(session)).toBe('refused');
    expect(session.actor?.getSnapshot().context.stream).toBe(4);
    const refused = expect.stringContaining('(PERMISSION_DENIED: not yours)');
    expect(recorded).toEqual([refused, refused, refused, refused]);
  });

  test('wire 3: a roll-up never waits behind replies and replies never behind a roll-up', async () => {
    const { time, shard, session } = await streamingSession();
    const stream = shard.stream();
    const blob = (id: string) =>
      session.reply({
        _tag: 'ReclaimAcknowledged',
        instructionId: instructionId(id),
        nodesStarted: 1,
      });
    stream.read(false);
    for (let index = 0; index < 100; index += 1) blob(`r-${index}`);
    session.offerRollup(rollup(1));
    await time.settle();
    expect(stream.kinds(), 'one reply and the roll-up are with the network').toEqual([
      'hello',
      'reclaimAck',
      'rollup',
    ]);
    blob('r-100');
    stream.read(true);
    await time.settle();
    expect(stream.kinds().filter((kind) => kind === 'reclaimAck')).toHaveLength(101);
  });

  test('wire 3: a reply without room is rejected and counted; none outlives its stream', async () => {
    const { time, shard, session, counts } = await streamingSession();
    const reply = (id: string) =>
      session.reply({
        _tag: 'ReclaimAcknowledged',
        instructionId: instructionId(id),
        nodesStarted: 1,
      });
    shard.stream().read(false);
    const taken = Array.from({ length: 300 }, (_, index) => reply(`r-${index}`));
    expect(taken.filter(Boolean)).toHaveLength(257);
    expect(counts.get('bigfleet_operator_outbox_dropped_total')).toBe(43);
    shard.stream().end({ why: 'EndedByShard', detail: 'UNAVAILABLE: gone' });
    await time.advance(500);
    expect(reply('between'), 'before the Hello is acked there is a stream').toBe(true);
    shard.stream().ack('hello');
    await time.settle();
    expect(shard.stream().kinds()).toEqual(['hello', 'reclaimAck']);
  });

  test('wire 9: a bootstrap pull is answered before the next frame, whatever else is stuck', async () => {
    const { time, shard, session } = await streamingSession();
    const stream = shard.stream();
    session.offerRollup(rollup(1));
    const pull = (requestId: string, cluster = 'prod-1') =>
      stream.send({
        case: 'bootstrapRequest',
        value: { requestId, clusterId: cluster, requirements: [{ key: 'zone', operator: 3 }] },
      });
    pull('good');
    await time.settle();
    pull('bad');
    pull('throw');
    pull('lost', 'prod-2');
    await time.settle();
    const answers = stream.received.flatMap((payload) =>
      payload.case === 'bootstrapResponse' ? [payload.value] : []
    );
    expect(answers.map(({ requestId, ttlSeconds }) => [requestId, ttlSeconds])).toEqual([
      ['good', 600n],
      ['bad', 600n],
      ['throw', 600n],
      ['lost', 600n],
    ]);
    expect(answers.map(({ userData }) => new TextDecoder().decode(userData))).toEqual([
      '#cloud-config 1',
      '',
      '',
      '',
    ]);
    expect(answers.map(({ error }) => error)).toEqual([
      '',
      'line 3: no such field',
      'Cannot render the template: Error',
      'This is cluster "prod-1", not "prod-2"',
    ]);
  });

  test('malformed frames neither crash nor block the session', async () => {
    const { shard, session, shardEvents, counts } = await streamingSession();
    const stream = shard.stream();
    stream.send({ case: 'ack', value: { echo: 'whatever' } });
    stream.send({
      case: 'nodeStateUpdate',
      value: { machineId: 'big', state: 5, labels: { x: 'y'.repeat(10 * 1024 * 1024) } },
    });
    stream.send({ case: 'nodeStateUpdate', value: { machineId: 'm', state: 5 } });
    session.offerRollup(rollup(1));
    stream.ack('rollup');
    stream.send({ case: 'nodeStateUpdate', value: { machineId: '', state: 5 } });
    stream.sendBytes(Uint8Array.from([0xff, 0x00, 0x13]));
    stream.send({ case: 'nodeStateUpdate', value: { machineId: 'm', state: 5 } });
    expect(tags(shardEvents)).toEqual([
      'StreamOpened',
      'MachineMalformed',
      'MachineObserved',
      'Resynced',
      'MachineObserved',
    ]);
    expect(counts.get('tidegate_session_frames_total Unreadable')).toBe(3);
  });

  test('a replay with a malformed frame completes no resync; the next stream may', async () => {
    const { time, shard, session, shardEvents } = await streamingSession();
    shard.stream().sendBytes(Uint8Array.from([0xff, 0x00, 0x13]));
    session.offerRollup(rollup(1));
    shard.stream().ack('rollup');
    expect(tags(shardEvents)).toEqual(['StreamOpened', 'ReplayUnproven']);
    shard.stream().end({ why: 'EndedByShard', detail: '' });
    await time.advance(500);
    shard.stream().ack('hello');
    session.offerRollup(rollup(2));
    shard.stream().ack('rollup');
    expect(tags(shardEvents).slice(2)).toEqual(['StreamEnded', 'StreamOpened', 'Resynced']);
  });

  test('a flood of malformed frames is counted in full and logged with sampling', async () => {
    const { shard, counts, logged } = await streamingSession();
    for (let index = 0; index < 3000; index += 1) shard.stream().sendBytes(Uint8Array.from([7]));
    expect(counts.get('tidegate_session_frames_total Unreadable')).toBe(3000);
    expect(logged.filter((message) => message === 'Frame ignored')).toHaveLength(23);
  });

  test('a stop during a dial is final at once', async () => {
    const { time, shard, session } = startSession();
    shard.refuse('never');
    session.setLeading(true);
    session.demandListed();
    await time.settle();
    await session.stop();
    await session.stop();
    expect(stateOf(session)).toBe('stopped');
  });

  test('a reclaim instruction is published, counted and not acked', async () => {
    const { time, shard, shardEvents, counts } = await streamingSession();
    shard.stream().send({
      case: 'reclaimInstruction',
      value: { instructionId: 'i-1', nodes: ['m-1'], gracePeriodSeconds: 600n },
    });
    await time.settle();
    expect(shardEvents.at(-1)).toEqual({
      _tag: 'ReclaimInstructed',
      instruction: {
        instructionId: 'i-1',
        machines: ['m-1'],
        graceSeconds: 600,
        preemptorPriority: 0,
      },
    });
    expect(counts.get('tidegate_reclaim_instructions_total')).toBe(1);
    expect(shard.stream().kinds()).toEqual(['hello']);
  });

  test('a stop half-closes, waits for the shard at most 0.4 s, and is final', async () => {
    const polite = await streamingSession();
    let over = false;
    const stopped = polite.session.stop().then(() => {
      over = true;
    });
    await polite.time.settle();
    expect([polite.shard.stream().state(), over]).toEqual(['halfClosed', false]);
    polite.shard.stream().end({ why: 'EndedByShard', detail: 'OK: bye' });
    await stopped;
    expect(stateOf(polite.session)).toBe('stopped');

    const rude = await streamingSession();
    const cut = rude.session.stop();
    await rude.time.advance(400);
    await cut;
    expect(rude.shard.stream().state()).toBe('left');
    rude.session.setLeading(true);
    await rude.time.advance(60_000);
    expect(rude.shard.streams).toHaveLength(1);
  });
});
