/** A roll-up over the frame limit: reported with its size, without blocking the next one. */
import { ManagedRuntime } from 'effect';
import { Subject } from 'rxjs';
import { expect, onTestFinished, test } from 'vitest';
import { recordTooLarge } from '../../../src/actors/fleet-session/session-events.ts';
import { shardStream } from '../../../src/actors/fleet-session/shard-stream.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { clusterId } from '../../../src/domain/ids.ts';
import type { Rollup } from '../../../src/domain/session.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { rollupFrames } from '../../../src/effects/rollup-frame.ts';
import { replyOutbox } from '../../../src/streams/reply-outbox.ts';
import { fakeShard } from '../../support/fleet/fake-shard.ts';

const rollup = (number: number, group: string): Rollup => ({
  number,
  builtAtMs: 0,
  needs: [{
    key: `key of ${number}`,
    requirements: [],
    aggregateResources: {},
    minUnit: {},
    priority: 0,
    spread: [],
    interruptionBucket: 0,
    reclamationBucket: 0,
    group,
    requests: 12,
  }],
  unacknowledged: [],
});

test('a roll-up over the frame limit is reported, and the next one is sent instead', async () => {
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
  const [rollups, requests] = [new Subject<Rollup>(), new Subject<void>()];
  const sent: number[] = [];
  const recorded: string[] = [];
  const { hold } = shardStream(environment, {
    address: 'shard:7780',
    clusterId: clusterId('prod-1'),
    pair: () => undefined,
    outbox: replyOutbox(1),
    rollups,
    requests,
    encode: rollupFrames(clusterId('prod-1'), 2 * 1024 * 1024),
    onConnected: () => {},
    onFrame: () => {},
    onRollup: ({ number }) => sent.push(number),
    onTooLarge: (large) =>
      recordTooLarge(environment, (reason, note) => recorded.push(`${reason}: ${note}`), large),
  });
  const holding = new AbortController();
  onTestFinished(() => holding.abort());
  runtime.runPromise(hold, { signal: holding.signal }).catch(() => {});
  await time.settle();
  requests.next();
  rollups.next(rollup(1, 'g'.repeat(3 * 1024 * 1024)));
  rollups.next(rollup(2, 'small'));
  rollups.next(rollup(3, 'small'));
  await time.settle();
  expect(sent).toEqual([2]);
  expect(recorded).toEqual([
    'RollupTooLarge: Cannot send roll-up: 3.0 MiB in 1 needs, limit 2.0 MiB. ' +
    'Largest: 3.0 MiB for 12 requests of key of 1',
  ]);
  expect(shard.stream().kinds()).toEqual(['hello', 'rollup']);
});
