/**
 * Session, roll-ups and acknowledgements against the stand-in fleet, on one simulated clock: two
 * independent implementations of the contract that must agree.
 */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { afterEach, describe, expect, test } from 'vitest';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { startRollups } from '../../../src/actors/demand/rollups.ts';
import { startFleetSession } from '../../../src/actors/fleet-session/fleet-session.ts';
import { sessionStateName } from '../../../src/actors/fleet-session/session-events.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import type { ShardEvent } from '../../../src/domain/frames.ts';
import { clusterId } from '../../../src/domain/ids.ts';
import { textAt } from '../../../src/domain/json.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { capacityRequestsLayer } from '../../../src/effects/capacity-requests.ts';
import { Credentials } from '../../../src/effects/credentials.ts';
import { Writes } from '../../../src/effects/writes.ts';
import { startFleet } from '../../../packages/stand-in-fleet/src/fleet.ts';
import { ODD_FRAMES } from '../../../packages/stand-in-fleet/src/odd-frames.ts';
import { fedRequests, request } from '../../support/demand/fed-requests.ts';
import { inProcessShard } from '../../support/fleet/in-process-shard.ts';

const CLUSTER = 'prod-1';
const INTERVAL_MS = 10_000;

const started: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of started.splice(0)) await end();
});

const start = () => {
  const time = simulatedTime();
  const fleet = startFleet({ time, seedMachines: 20, seed: 'a' });
  const cluster = fedRequests();
  const patched: string[] = [];
  const runtime = ManagedRuntime.make(Layer.mergeAll(
    inProcessShard(() => fleet),
    clockLayer(time),
    Layer.succeed(Credentials, { read: () => Effect.never }),
    Layer.provide(
      capacityRequestsLayer,
      Layer.succeed(Writes, {
        send: (_class, { path, body }) =>
          Effect.sync(() => {
            const isAcknowledgement = textAt(body, 'status', 'phase') === 'Acknowledged';
            if (isAcknowledgement) patched.push(path.split('/').at(-2) ?? '');
            return { status: 200, body: { metadata: { resourceVersion: '100' } } };
          }),
      }),
    ),
  ));
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 1,
  });
  const events: string[] = [];
  const session = startFleetSession(environment, {
    clusterId: clusterId(CLUSTER),
    address: 'in-process',
    rollupIntervalMs: INTERVAL_MS,
    render: ({ clusterId: of }) => ({ _tag: 'Rendered', userData: `#cloud-config ${of}` }),
    record: (reason) => events.push(reason),
  });
  const shardEvents: ShardEvent[] = [];
  session.shardEvents.subscribe((one) => shardEvents.push(one));
  const rollups = startRollups(environment, {
    session,
    requests: cluster,
    intervalMs: INTERVAL_MS,
    ackConcurrency: 16,
    record: ({ reason }) => events.push(reason),
  });
  session.setLeading(true);
  cluster.facts.subscribe(({ _tag }) => {
    if (_tag === 'Listed') session.demandListed();
  });
  started.push(async () => {
    rollups.stop();
    session.actor?.stop();
    fleet.shard.stop();
    await runtime.dispose();
  });
  /** The states commanded for each machine, in order. */
  const statesSent = () => {
    const states = new Map<string, string[]>();
    for (const one of shardEvents) {
      if (one._tag !== 'MachineObserved') continue;
      const { machineId, state } = one.machine;
      states.set(machineId, [...states.get(machineId) ?? [], state]);
    }
    return [...states.values()];
  };
  const state = (): string =>
    session.actor === undefined ? 'ended' : sessionStateName(session.actor.getSnapshot());
  return { time, fleet, cluster, session, shardEvents, patched, events, statesSent, state };
};

describe('session with the stand-in fleet', () => {
  test('wire 1: after Hello demand becomes machines, and requests are acknowledged', async () => {
    const { time, fleet, cluster, shardEvents, patched, statesSent } = start();
    cluster.list(request('a'), request('b'));
    await time.advance(5000);
    expect(shardEvents.map(({ _tag }) => _tag).slice(0, 2)).toEqual(['StreamOpened', 'Resynced']);
    expect(patched).toEqual(['a', 'b']);
    expect(statesSent()).toEqual([['Configuring', 'Configured']]);
    expect(fleet.shard.clusters.get(CLUSTER)?.needs).toHaveLength(1);
  });

  test('wire 2: a rejected roll-up acknowledges no request; the session redials', async () => {
    const { time, fleet, cluster, patched, events, state, session } = start();
    fleet.shard.rollups.faults.rejectNext = 1;
    cluster.list(request('a'));
    await time.advance(3 * INTERVAL_MS - 100);
    expect([patched, state()]).toEqual([[], 'streaming']);
    await time.advance(5000);
    expect(events).toEqual(['RollupNotAcknowledged']);
    expect(patched).toEqual(['a']);
    expect(session.actor?.getSnapshot().context.stream).toBe(2);
  });

  test('wire 2: no roll-up is ever superseded, however slow the shard is to ack', async () => {
    const { time, fleet, cluster, patched } = start();
    fleet.setTiming({ rollupMs: 25_000 });
    cluster.list(request('a'));
    await time.advance(20_000);
    cluster.show(request('b'));
    await time.advance(80_000);
    expect(patched).toEqual(['a', 'b']);
    const verdicts = fleet.shard.rollups.records.entries().map(({ verdict }) => verdict);
    expect(new Set(verdicts)).toEqual(new Set(['accepted']));
  });

  test('after a cut the replay precedes the completed resync', async () => {
    const { time, fleet, cluster, shardEvents } = start();
    cluster.list(request('a'));
    await time.advance(5000);
    const before = shardEvents.length;
    fleet.end(CLUSTER, { status: undefined, message: '' });
    await time.advance(2000);
    expect(shardEvents.slice(before, before + 4).map(({ _tag }) => _tag)).toEqual([
      'StreamEnded',
      'StreamOpened',
      'MachineObserved',
      'Resynced',
    ]);
  });

  test('malformed frames are ignored and the session continues', async () => {
    const { time, fleet, cluster, state, session, shardEvents } = start();
    cluster.list(request('a'));
    await time.advance(5000);
    for (const kind of ODD_FRAMES) fleet.sendOdd(CLUSTER, kind);
    fleet.sendNothing(CLUSTER);
    const before = shardEvents.length;
    fleet.place('m-odd', { state: 'CONFIGURED', cluster: CLUSTER });
    await time.advance(INTERVAL_MS);
    expect([state(), session.actor?.getSnapshot().context.stream]).toEqual(['streaming', 1]);
    expect(shardEvents.slice(before).map(({ _tag }) => _tag)).toContain('MachineObserved');
  });

  test('removed demand is reported, and the machine is reclaimed', async () => {
    const { time, cluster, shardEvents, statesSent } = start();
    cluster.list(request('a'));
    await time.advance(5000);
    cluster.hide(request('a'));
    await time.advance(60_000);
    expect(shardEvents.some(({ _tag }) => _tag === 'ReclaimInstructed')).toBe(true);
    expect(statesSent().at(0)?.slice(-2)).toEqual(['Draining', 'Idle']);
  });

  test('wire 7: an unavailable shard is redialled until it answers', async () => {
    const { time, fleet, cluster, state } = start();
    fleet.admission.refuse = true;
    cluster.list(request('a'));
    await time.advance(120_000);
    expect(state()).not.toBe('streaming');
    fleet.admission.refuse = false;
    await time.advance(31_000);
    expect(state()).toBe('streaming');
  });
});
