/** Frames that a transport delivers after the end of their stream. */
import { ManagedRuntime } from 'effect';
import { EMPTY } from 'rxjs';
import { expect, onTestFinished, test } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { shardStream } from '../../../src/actors/fleet-session/shard-stream.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { clusterId } from '../../../src/domain/ids.ts';
import { rollupFrames } from '../../../src/effects/rollup-frame.ts';
import { replyOutbox } from '../../../src/streams/reply-outbox.ts';
import { fakeShard } from '../../support/fleet/fake-shard.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

test('a frame that arrives after the end of its stream is dropped', async () => {
  const time = simulatedTime();
  const shard = fakeShard();
  const runtime = ManagedRuntime.make(shard.layer);
  onTestFinished(() => runtime.dispose());
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 1,
  });
  const received: string[] = [];
  const { hold } = shardStream(environment, {
    address: 'shard:7780',
    clusterId: clusterId('prod-1'),
    pair: () => undefined,
    outbox: replyOutbox(1),
    rollups: EMPTY,
    requests: EMPTY,
    encode: rollupFrames(clusterId('prod-1'), 1024),
    onConnected: () => {},
    onFrame: ({ _tag }) => received.push(_tag),
    onRollup: () => {},
    onTooLarge: () => {},
  });
  const holding = new AbortController();
  const ended = runtime.runPromise(hold, { signal: holding.signal }).catch(() => {});
  await time.settle();
  const stream = shard.stream();
  stream.ack('hello');
  holding.abort();
  await ended;
  stream.ack('rollup');
  expect(received).toEqual(['Acknowledged']);
});
