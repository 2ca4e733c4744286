/** The limit of machines: at its bound and one past it. */
import { expect, test } from 'vitest';
import { machineIndex } from '../../../src/actors/upcoming-nodes/machine-index.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import type { MachineObservation } from '../../../src/domain/frames.ts';
import { machineId } from '../../../src/domain/ids.ts';
import { SHARD_LIMITS } from '../../../src/domain/shard-limits.ts';
import { machineRig } from '../../support/fleet/machine-rig.ts';

const { max } = SHARD_LIMITS.machines;

const observation = (id: string): MachineObservation => ({
  machineId: machineId(id),
  state: 'Configured',
  nodeName: '',
  providerId: '',
  lastError: '',
  labels: {},
  resources: {},
  taints: [],
});

test('limits: a cluster has 100,000 machines at most; known ones are not affected', () => {
  const index = machineIndex({
    object: () => undefined,
    telemetry: silentTelemetry,
    intern: (text) => text,
  });
  for (let at = 0; at < max - 1; at += 1) index.putFrame(observation(`m${at}`), 1, 0);
  expect(index.isBeyond('next')).toBe(false);
  index.putFrame(observation('last'), 1, 0);
  expect([index.size(), index.isBeyond('next'), index.isBeyond('m7')]).toEqual([max, true, false]);
});

test('limits: as many unknown machines of malformed frames are remembered', () => {
  const index = machineIndex({
    object: () => undefined,
    telemetry: silentTelemetry,
    intern: (text) => text,
  });
  for (let at = 0; at < max; at += 1) index.mention(`m${at}`, 1);
  index.mention('beyond', 1);
  for (const id of ['m7', 'beyond']) index.putDrain(id, { _tag: 'Draining' });
  expect(index.unbind(1).map((entry) => entry.machineId)).toEqual(['beyond']);
});

test('limits: the frame of a machine beyond the limit is counted and makes no object', async () => {
  const { frame, frames, cluster, counted, time, registry } = machineRig({ synced: false });
  for (let at = 0; at < max; at += 1) frame(`m${at}`, 'Configured');
  expect(counted.get('tidegate_shard_limits_reached_total machines')).toBeUndefined();
  await frames('beyond', 'Configured');
  await time.advance(2000);
  expect(counted.get('tidegate_shard_limits_reached_total machines')).toBe(1);
  expect([registry().wasConfigured('beyond'), registry().wasConfigured('m0')]).toEqual([
    false,
    true,
  ]);
  expect(cluster.get('un-beyond')).toBeUndefined();
});
