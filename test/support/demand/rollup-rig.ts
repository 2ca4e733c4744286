/** The roll-ups of one process on simulated time, with an in-process cache and session. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { BehaviorSubject, Subject } from 'rxjs';
import { afterEach } from 'vitest';
import { textAt } from '../../../src/domain/json.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { startRollups } from '../../../src/actors/demand/rollups.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import type { ShardEvent } from '../../../src/domain/frames.ts';
import type { Rollup } from '../../../src/domain/session.ts';
import { simulatedTime } from '../time/simulated-time.ts';
import { capacityRequestsLayer } from '../../../src/effects/capacity-requests.ts';
import { type KubeAnswer, type KubeCall, NotSent } from '../../../src/effects/kube-api.ts';
import { NotLeader, Writes } from '../../../src/effects/writes.ts';
import { fedRequests } from './fed-requests.ts';

/** `--rollup-interval`. */
export const INTERVAL_MS = 10_000;
type Answer = KubeAnswer | 'NotSent' | 'NotLeader' | 'never';

const started: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of started.splice(0)) await end();
});

/** Starts them; what they wrote and recorded is in the result. */
export const startedRollups = (options: { readonly ackConcurrency?: number } = {}) => {
  const time = simulatedTime();
  const cluster = fedRequests();
  const shardEvents = new Subject<ShardEvent>();
  const acknowledged = new Subject<Rollup>();
  const leading = new BehaviorSubject(true);
  const offered: Rollup[] = [];
  const events: EventNote[] = [];
  const patches: KubeCall[] = [];
  /** Those that set Pending. */
  const stamps: KubeCall[] = [];
  const counts = new Map<string, number>();
  const gauges = new Map<string, number>();
  const observed: (readonly [metric: string, value: number])[] = [];
  let answer: (call: KubeCall) => Answer = () => ({
    status: 200,
    body: { metadata: { resourceVersion: '100' } },
  });
  const writes = Layer.succeed(Writes, {
    send: (_class, call) =>
      Effect.suspend((): Effect.Effect<KubeAnswer, NotSent | NotLeader> => {
        const isStamp = textAt(call.body, 'status', 'phase') === 'Pending';
        (isStamp ? stamps : patches).push(call);
        const given = answer(call);
        if (given === 'never') return Effect.never;
        if (given === 'NotSent') return Effect.fail(new NotSent({ why: 'reset' }));
        if (given === 'NotLeader') return Effect.fail(new NotLeader({ why: 'lost the lease' }));
        return Effect.succeed(given);
      }),
  });
  const telemetry: Telemetry = {
    ...silentTelemetry,
    observe: (name, value, ..._labels) => observed.push([name, value]),
    count: (name, by, ..._labels) => {
      counts.set(name, (counts.get(name) ?? 0) + by);
    },
    gauge: (name, value, ..._labels) => {
      gauges.set(name, value);
    },
  };
  const runtime = ManagedRuntime.make(
    Layer.merge(Layer.provide(capacityRequestsLayer, writes), clockLayer(time)),
  );
  const rollups = startRollups(makeActorEnvironment({ time, runtime, telemetry, firstSeed: 1 }), {
    session: {
      shardEvents,
      acknowledged,
      leading,
      offerRollup: (rollup) => offered.push(rollup),
    },
    requests: cluster,
    intervalMs: INTERVAL_MS,
    ackConcurrency: options.ackConcurrency ?? 16,
    record: (event) => events.push(event),
  });
  started.push(async () => {
    rollups.stop();
    await runtime.dispose();
  });
  return {
    time,
    cluster,
    shardEvents,
    leading,
    offered,
    events,
    patches,
    stamps,
    counts,
    gauges,
    observed,
    rollups,
    answer: (how: (call: KubeCall) => Answer) => {
      answer = how;
    },
    openStream: () => shardEvents.next({ _tag: 'StreamOpened', stream: 1 }),
    /** The shard acknowledges the newest roll-up. */
    ack: () => {
      const newest = offered.at(-1);
      if (newest !== undefined) acknowledged.next(newest);
    },
  };
};
