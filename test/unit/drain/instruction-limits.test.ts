/** The limits of reclaim instructions: each at its bound and one past it. */
import { afterEach, describe, expect, test } from 'vitest';
import { MachineLives } from '../../../src/domain/drain/machine-lives.ts';
import type { ShardEvent } from '../../../src/domain/frames.ts';
import { machineId } from '../../../src/domain/ids.ts';
import { SHARD_LIMITS } from '../../../src/domain/shard-limits.ts';
import { drainRig, type DrainRigOptions } from '../../support/drains/drain-rig.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const rig = (options?: DrainRigOptions) => {
  const made = drainRig(options);
  stops.push(made.stop);
  return made;
};

const REACHED = 'tidegate_shard_limits_reached_total';

describe('instructions', () => {
  test('limits: one drain joins 64 instructions at most, and the next one is not counted', async () => {
    const { max } = SHARD_LIMITS.node_instructions;
    const { node, pods, order, time, annotation, replies, notes, counts, reclaims } = rig();
    node('n1');
    pods.add({ node: 'n1', goesAfterMs: Number.POSITIVE_INFINITY });
    for (let number = 1; number <= max; number += 1) order(`i${number}`, ['n1']);
    await time.advance(5000);
    expect(annotation('n1')?.ids).toHaveLength(max);
    expect(notes.some(({ reason }) => reason === 'ReclaimRefused')).toBe(false);
    order('beyond', ['n1']);
    order('i1', ['n1']);
    await time.advance(5000);
    expect(annotation('n1')?.ids).toHaveLength(max);
    expect(replies.filter(({ id }) => id === 'beyond' || id === 'i1')).toEqual([
      { id: 'i1', nodesStarted: 1 },
      { id: 'beyond', nodesStarted: 0 },
      { id: 'i1', nodesStarted: 1 },
    ]);
    expect(notes.find(({ reason }) => reason === 'ReclaimRefused')).toMatchObject({
      regarding: { kind: 'Node', name: 'n1' },
      note: expect.stringContaining('node_instructions'),
    });
    expect(counts.get(`${REACHED} node_instructions`)).toBe(1);
    expect(reclaims().get('beyond')).toBeUndefined();
  });

  test('limits: active instructions name 20,000 machines at most; the next one starts nothing', async () => {
    const { max } = SHARD_LIMITS.reclaim_machines;
    const { order, time, replies, leaseNotes, counts, reclaims } = rig();
    order('i1', Array.from({ length: max }, (_, at) => `m${at}`));
    await time.settle();
    expect([reclaims().get('i1') === undefined, leaseNotes]).toEqual([false, []]);
    order('i2', ['m']);
    await time.settle();
    expect(reclaims().get('i2')).toBeUndefined();
    expect(replies).toEqual([{ id: 'i1', nodesStarted: 0 }, { id: 'i2', nodesStarted: 0 }]);
    expect(leaseNotes).toEqual([{
      reason: 'ShardLimitReached',
      note: `Cannot reclaim 1 machine of "i2": active instructions name at most ${max} ` +
        '(reclaim_machines); the fleet must repeat it later',
    }]);
    expect(counts.get(`${REACHED} reclaim_machines`)).toBe(1);
  });

  test('limits: what one instruction names and does not drain has 20 lines at most', async () => {
    const { max } = SHARD_LIMITS.instruction_log_lines;
    const { order, time, notes, logged, counts } = rig();
    const names = (count: number) => Array.from({ length: count }, (_, at) => `m${at}`);
    order('i1', names(max));
    await time.settle();
    expect([notes.length, counts.get(`${REACHED} instruction_log_lines`)]).toEqual([
      max,
      undefined,
    ]);
    order('i2', names(max + 30));
    await time.settle();
    expect(notes.length).toBe(2 * max);
    expect(counts.get('tidegate_machines_without_node_total')).toBe(2 * max + 30);
    expect(counts.get(`${REACHED} instruction_log_lines`)).toBe(30);
    expect(logged.filter(({ message }) => message.startsWith('Further lines'))).toEqual([{
      message: 'Further lines about an instruction left out',
      fields: { instruction: 'i2' },
    }]);
  });
});

describe('machines', () => {
  const observed = (id: string): ShardEvent => ({
    _tag: 'MachineObserved',
    machine: {
      machineId: machineId(id),
      state: 'Configured',
      nodeName: '',
      providerId: '',
      lastError: '',
      labels: {},
      resources: {},
      taints: [],
    },
  });

  test('limits: a replay of more machines than a cluster may have ends no stay', () => {
    const resynced = (machines: number) => {
      const lives = new MachineLives();
      for (let at = 0; at < machines; at += 1) lives.observe(observed(`m${at}`));
      return lives.observe({ _tag: 'Resynced', stream: 1 });
    };
    const { max } = SHARD_LIMITS.machines;
    expect(resynced(max)?.('absent')).toBe(true);
    expect(resynced(max + 1)).toBeUndefined();
  });
});
