/** What `/healthz` fails on: a process that only a restart cures. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Layer, ManagedRuntime } from 'effect';
import { afterEach, describe, expect, test } from 'vitest';
import { deferredSends } from '../../../src/actors/actor-logic.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { startHeartbeat } from '../../../src/cli/operator/heartbeat.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { checkedStreams } from '../../../src/observability/stream-check.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe('the check of schedulers', () => {
  const beating = () => {
    const time = simulatedTime();
    let isLost = false;
    const runtime = ManagedRuntime.make(clockLayer(time));
    const own = {
      ...time,
      schedule: (delayMs: number, run: () => void) =>
        time.schedule(delayMs, () => isLost ? undefined : run()),
    };
    const environment = makeActorEnvironment({
      time: own,
      runtime,
      telemetry: silentTelemetry,
      firstSeed: 1,
    });
    const heartbeat = startHeartbeat(environment);
    cleanups.push(heartbeat.stop, () => runtime.dispose());
    return { time, heartbeat, loseTimers: () => (isLost = true) };
  };

  test('holds while they make progress', async () => {
    const { time, heartbeat } = beating();
    await time.advance(120_000);
    expect(heartbeat.check.failing()).toBeUndefined();
  });

  test('fails half a minute after the last progress, and says since when', async () => {
    const { time, heartbeat, loseTimers } = beating();
    await time.advance(10_000);
    loseTimers();
    await time.advance(29_000);
    expect(heartbeat.check.failing()).toBeUndefined();
    await time.advance(3_000);
    expect(heartbeat.check.failing()).toBe('no progress for 32 s');
  });

  test('fails when effects no longer run', async () => {
    const time = simulatedTime();
    const runtime = ManagedRuntime.make(Layer.empty);
    const environment = makeActorEnvironment({
      time,
      runtime: { ...runtime, runPromise: () => new Promise<never>(() => {}) },
      telemetry: silentTelemetry,
      firstSeed: 1,
    });
    const heartbeat = startHeartbeat(environment);
    await time.advance(31_000);
    expect(heartbeat.check.failing()).toContain('no progress');
  });
});

describe('the check of streams', () => {
  test('fails from the first defect on', async () => {
    const { telemetry, check } = checkedStreams(silentTelemetry);
    telemetry.count('tidegate_rollups_total', 1, { outcome: 'sent' });
    expect(check.failing()).toBeUndefined();
    deferredSends(telemetry)(() => {
      throw new Error('planted');
    });
    await Promise.resolve();
    expect(check.failing()).toContain('1 defects');
  });
});

describe('an unhandled error', () => {
  const CHILD = fileURLToPath(
    new URL('../../support/processes/failing-child.ts', import.meta.url),
  );
  const RUN_TYPESCRIPT = 'Deno' in globalThis ? ['run', '-A', CHILD] : [CHILD];

  test.each([
    ['thrown in a timer', 'timer'],
    ['of a rejected promise', 'promise'],
  ])('%s ends the process with 1 and a JSON line', (_, failure) => {
    const ended = spawnSync(process.execPath, [...RUN_TYPESCRIPT, failure], { encoding: 'utf8' });
    expect([ended.status, ended.stderr]).toEqual([1, '']);
    const lines = ended.stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        level: 'error',
        cluster: 'c1',
        message: 'Unhandled error ends the process',
        problem: expect.stringContaining('planted'),
      }),
    ]);
  });
});
