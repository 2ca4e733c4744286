/** The session of an operator before a shard in this process, on simulated time. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { onTestFinished } from 'vitest';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import {
  type FleetSession,
  startFleetSession,
} from '../../../src/actors/fleet-session/fleet-session.ts';
import { sessionStateName } from '../../../src/actors/fleet-session/session-events.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import type { CredentialsReading } from '../../../src/domain/credentials.ts';
import type { ShardEvent } from '../../../src/domain/frames.ts';
import { clusterId } from '../../../src/domain/ids.ts';
import type { Rollup } from '../../../src/domain/session.ts';
import { simulatedTime } from '../time/simulated-time.ts';
import { Credentials } from '../../../src/effects/credentials.ts';
import { fakeShard } from './fake-shard.ts';

/** The cluster of the session. */
const CLUSTER = clusterId('prod-1');
/** Between two roll-ups. */
export const INTERVAL_MS = 10_000;

/** An empty roll-up with its number. */
export const rollup = (number: number): Rollup => ({
  number,
  builtAtMs: number,
  needs: [],
  unacknowledged: [],
});

/** A session with a scripted shard; both end with the test. */
export const startSession = (options: {
  readonly readings?: () => CredentialsReading;
  /** Called before an Event is recorded; what it throws crashes the session. */
  readonly recording?: () => void;
} = {}) => {
  const time = simulatedTime();
  const shard = fakeShard();
  const counts = new Map<string, number>();
  const logged: string[] = [];
  const gauges = new Map<string, number>();
  const observed: (readonly [metric: string, value: number])[] = [];
  const telemetry: Telemetry = {
    ...silentTelemetry,
    log: (_level, message) => logged.push(message),
    observe: (name, value, ..._labels) => observed.push([name, value]),
    gauge: (name, value, ..._labels) => {
      gauges.set(name, value);
    },
    count: (name, by, ...labels) => {
      const key = [name, ...Object.values(labels[0] ?? {})].join(' ');
      counts.set(key, (counts.get(key) ?? 0) + by);
    },
  };
  const runtime = ManagedRuntime.make(Layer.mergeAll(
    shard.layer,
    clockLayer(time),
    Layer.succeed(Credentials, {
      read: () =>
        Effect.sync(() => options.readings?.() ?? { _tag: 'Unusable', problem: 'no files' }),
    }),
  ));
  const environment = makeActorEnvironment({ time, runtime, telemetry, firstSeed: 1 });
  const recorded: string[] = [];
  const session = startFleetSession(environment, {
    clusterId: CLUSTER,
    address: 'shard:7780',
    rollupIntervalMs: INTERVAL_MS,
    render: ({ requestId, requirements }) => {
      if (requestId === 'throw') throw new Error('template burst');
      return requestId === 'bad'
        ? { _tag: 'Failed', problem: 'line 3: no such field' }
        : { _tag: 'Rendered', userData: `#cloud-config ${requirements.length}` };
    },
    record: (reason, note) => {
      options.recording?.();
      recorded.push(`${reason}: ${note}`);
    },
    ...(options.readings === undefined
      ? {}
      : { credentialFiles: { certificate: 'c', key: 'k', authority: 'a' } }),
  });
  const shardEvents: ShardEvent[] = [];
  session.shardEvents.subscribe((one) => shardEvents.push(one));
  const acknowledged: number[] = [];
  session.acknowledged.subscribe((one) => acknowledged.push(one.number));
  onTestFinished(async () => {
    session.actor?.stop();
    await runtime.dispose();
  });
  return {
    time,
    shard,
    session,
    shardEvents,
    acknowledged,
    recorded,
    counts,
    gauges,
    observed,
    logged,
  };
};

/** Up to an acked Hello. */
export const streamingSession = async (options: Parameters<typeof startSession>[0] = {}) => {
  const rig = startSession(options);
  rig.session.setLeading(true);
  rig.session.demandListed();
  await rig.time.advance(0);
  rig.shard.stream().ack('hello');
  await rig.time.settle();
  return rig;
};

/** The published state of the session. */
export const stateOf = ({ actor }: FleetSession): string =>
  actor === undefined ? 'ended' : sessionStateName(actor.getSnapshot());

/** The emitted events, by type. */
export const tags = (shardEvents: readonly ShardEvent[]): readonly string[] =>
  shardEvents.map(({ _tag }) => _tag);
/** The numbers of the roll-ups that the shard received. */
export const numbers = (shard: ReturnType<typeof fakeShard>): readonly number[] =>
  shard.stream().received.flatMap((payload) =>
    payload.case === 'rollup' ? [Number(payload.value.timestampUnixNanos / 1_000_000n)] : []
  );
