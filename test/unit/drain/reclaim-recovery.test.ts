/** Reclaims that were lost with a process are found in the replay of a stream (DR-14). */
import { ManagedRuntime } from 'effect';
import { expect, onTestFinished, test } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { ReclaimRecovery } from '../../../src/actors/node-drains/reclaim-recovery.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import type { MachineState } from '../../../src/domain/frames.ts';
import { machineId } from '../../../src/domain/ids.ts';
import { SHARD_LIMITS } from '../../../src/domain/shard-limits.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const GRACE_MS = 5000;

/** A recovery whose first `failures` calls fail by a defect. */
const recovering = (failures = 0) => {
  const time = simulatedTime();
  const runtime = ManagedRuntime.make(clockLayer(time));
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 1,
  });
  const recovered: (readonly string[])[] = [];
  const recovery = new ReclaimRecovery(environment, (machines) => {
    recovered.push(machines);
    if (recovered.length <= failures) throw new Error('a defect');
  });
  onTestFinished(async () => {
    await recovery.stop();
    await runtime.dispose();
  });
  const seen = (id: string, state: MachineState): void =>
    recovery.observe({
      _tag: 'MachineObserved',
      machine: {
        machineId: machineId(id),
        state,
        nodeName: '',
        providerId: '',
        lastError: '',
        labels: {},
        resources: {},
        taints: [],
      },
    });
  return {
    time,
    recovered,
    recovery,
    seen,
    resync: () => recovery.observe({ _tag: 'Resynced', stream: 1 }),
  };
};

test('DR-14: machines that drained in the replay and still do are recovered after the grace', async () => {
  const { time, recovered, seen, resync } = recovering();
  for (const id of ['m-1', 'm-2']) seen(id, 'Draining');
  resync();
  seen('m-2', 'Configured');
  seen('m-3', 'Draining');
  await time.advance(GRACE_MS - 1);
  expect(recovered).toEqual([]);
  await time.advance(1);
  expect(recovered).toEqual([['m-1']]);
});

/** A machine of the shard without an id would end all recovery. */
test('DR-14: a malformed frame takes nothing from what the replay reported', async () => {
  const { time, recovered, recovery, seen } = recovering();
  seen('m-1', 'Draining');
  recovery.observe({ _tag: 'ReplayUnproven', stream: 1 });
  seen('m-2', 'Draining');
  await time.advance(GRACE_MS);
  expect(recovered).toEqual([['m-1']]);
});

test('DR-14: each stream is judged by its own replay', async () => {
  const { time, recovered, recovery, seen, resync } = recovering();
  seen('m-1', 'Draining');
  resync();
  recovery.observe({ _tag: 'StreamEnded', stream: 1 });
  await time.advance(GRACE_MS);
  expect(recovered).toEqual([]);
  seen('m-2', 'Draining');
  resync();
  await time.advance(GRACE_MS);
  expect(recovered).toEqual([['m-2']]);
});

test('DR-14: a recovery that failed by a defect is tried again, without another replay', async () => {
  const { time, recovered, seen, resync } = recovering(1);
  seen('m-1', 'Draining');
  resync();
  await time.advance(10 * 60_000);
  expect(recovered).toEqual([['m-1'], ['m-1']]);
});

test('DR-14: no more machines are remembered than all instructions may name', async () => {
  const { time, recovered, seen, resync } = recovering();
  const { max } = SHARD_LIMITS.reclaim_machines;
  for (let at = 0; at <= max; at += 1) seen(`m-${at}`, 'Draining');
  resync();
  await time.advance(GRACE_MS);
  expect(recovered[0]).toHaveLength(max);
});
