/** Frames of the shard: every kind is decoded, and no bytes do harm. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readShardFrame } from '../../../src/effects/frames.ts';
import { ShardMessageSchema } from '../../../src/gen/bigfleet/v1alpha1/shard_pb.ts';

type Payload = NonNullable<MessageInitShape<typeof ShardMessageSchema>['payload']>;

const bytesOf = (payload: Payload) =>
  toBinary(ShardMessageSchema, create(ShardMessageSchema, { payload }));
const read = (payload: Payload) => readShardFrame(bytesOf(payload));

/** `field` (length-delimited) with `inner`: for values that the generated types forbid. */
const wrapped = (field: number, inner: BinaryWriter): Uint8Array =>
  new BinaryWriter().uint32(field << 3 | 2).bytes(inner.finish()).finish();

describe('readShardFrame', () => {
  test('reads acks, machines, free capacity, pulls and reclaims', () => {
    expect(read({ case: 'ack', value: { echo: 'hello', shardEpoch: 7n } }))
      .toEqual({ _tag: 'Acknowledged', echo: 'hello', shardEpoch: '7' });
    expect(read({
      case: 'nodeStateUpdate',
      value: {
        machineId: 'm-1',
        state: 5,
        providerId: 'p://m-1',
        labels: { zone: 'a' },
        resources: { resources: { cpu: '4' } },
        taints: [{ key: 'a', effect: 'NoSchedule' }, { key: 'b', value: 'c', effect: 'NoExecute' }],
      },
    })).toEqual({
      _tag: 'MachineObserved',
      machine: {
        machineId: 'm-1',
        state: 'Configured',
        nodeName: '',
        providerId: 'p://m-1',
        lastError: '',
        labels: { zone: 'a' },
        resources: { cpu: '4' },
        taints: [{ key: 'a', effect: 'NoSchedule' }, { key: 'b', value: 'c', effect: 'NoExecute' }],
      },
    });
    const requirements = [{ key: 'zone', operator: 5, values: [] }] as const;
    expect(read({
      case: 'availableCapacity',
      value: {
        supersedesKey: 'available:x',
        requirements: [{ key: 'zone', operator: 1, values: ['a'] }],
        availableCount: 3,
        confidence: 3,
        costPerHour: 1.5,
      },
    })).toEqual({
      _tag: 'CapacityObserved',
      capacity: {
        supersedesKey: 'available:x',
        requirements: [{ key: 'zone', operator: 'In', values: ['a'] }],
        resources: {},
        availableCount: 3,
        confidence: 'Medium',
        costPerHour: 1.5,
      },
    });
    expect(read({
      case: 'bootstrapRequest',
      value: { requestId: 'r', clusterId: 'c', requirements: [{ key: 'zone', operator: 5 }] },
    })).toEqual({
      _tag: 'BootstrapPulled',
      pull: {
        requestId: 'r',
        clusterId: 'c',
        requirements: requirements.map((one) => ({ ...one, operator: 'Same' })),
      },
    });
    expect(read({
      case: 'reclaimInstruction',
      value: {
        instructionId: 'i',
        nodes: ['m-1'],
        gracePeriodSeconds: 600n,
        preemptorPriority: 9,
      },
    })).toEqual({
      _tag: 'ReclaimInstructed',
      instruction: {
        instructionId: 'i',
        machines: ['m-1'],
        graceSeconds: 600,
        preemptorPriority: 9,
      },
    });
  });

  test('accepts a machine id that is not a DNS label', () => {
    const frame = read({ case: 'nodeStateUpdate', value: { machineId: 'Rack 7/Ä_1', state: 4 } });
    expect(frame).toMatchObject({ machine: { machineId: 'Rack 7/Ä_1', state: 'Configuring' } });
  });

  test('reports the problem of a machine, and its id', () => {
    const state = new BinaryWriter().uint32(2 << 3 | 2).string('m-9').uint32(4 << 3).int32(99);
    expect(readShardFrame(wrapped(4, state))).toEqual({
      _tag: 'Unreadable',
      problem: 'Cannot use a NodeStateUpdate: the machine state 99 is unknown',
      subject: 'm-9',
      machineId: 'm-9',
      leavesGap: false,
    });
    expect(read({ case: 'nodeStateUpdate', value: { machineId: '', state: 5 } })).toMatchObject({
      problem: 'Cannot use a NodeStateUpdate: the machine id is empty',
      leavesGap: true,
    });
    const labels = { blob: 'x'.repeat(10 * 1024 * 1024) };
    const large = read({ case: 'nodeStateUpdate', value: { machineId: 'm-2', state: 5, labels } });
    expect(large).toMatchObject({ _tag: 'Unreadable', machineId: 'm-2' });
    expect(large._tag === 'Unreadable' && large.problem).toContain(
      `bytes, limit ${1024 * 1024} (frame_bytes)`,
    );
  });

  test('reports the problem of free capacity', () => {
    const problem = (value: { supersedesKey?: string; availableCount?: number; cost?: number }) => {
      const frame = read({
        case: 'availableCapacity',
        value: {
          supersedesKey: value.supersedesKey ?? 'available:x',
          availableCount: value.availableCount ?? 1,
          costPerHour: value.cost ?? 0,
        },
      });
      return frame._tag === 'Unreadable' ? frame.problem : frame._tag;
    };
    expect(problem({})).toBe('CapacityObserved');
    expect(problem({ supersedesKey: '' })).toContain('the supersedes key is empty');
    expect(problem({ availableCount: -1 })).toContain('the count -1 is negative');
    expect(problem({ cost: NaN })).toContain('is not a valid dollar amount');
    expect(problem({ cost: -Infinity })).toContain('is not a valid dollar amount');
  });

  test('turns a pull with an unknown operator into an answerable problem', () => {
    const requirement = new BinaryWriter().uint32(1 << 3 | 2).string('zone').uint32(2 << 3).int32(
      9,
    );
    const pull = new BinaryWriter().uint32(1 << 3 | 2).string('r-1')
      .uint32(2 << 3 | 2).bytes(requirement.finish());
    expect(readShardFrame(wrapped(2, pull))).toEqual({
      _tag: 'BootstrapMalformed',
      requestId: 'r-1',
      problem: 'requirement "zone" has the unknown operator 9',
    });
  });

  test('accepts a negative or invalid grace period', () => {
    const grace = (gracePeriodSeconds: bigint) => {
      const frame = read({
        case: 'reclaimInstruction',
        value: { instructionId: 'i', gracePeriodSeconds },
      });
      return frame._tag === 'ReclaimInstructed' ? frame.instruction.graceSeconds : frame._tag;
    };
    expect(grace(-1n)).toBe(0);
    expect(grace(2n ** 62n)).toBe(Number.MAX_SAFE_INTEGER);
  });

  test('reports malformed messages and unknown payloads', () => {
    expect(readShardFrame(new Uint8Array())).toMatchObject({
      problem: 'Cannot use a frame: its payload is unknown to this version',
    });
    expect(readShardFrame(new BinaryWriter().uint32(77 << 3 | 2).string('new').finish()))
      .toMatchObject({
        _tag: 'Unreadable',
        problem: expect.stringContaining('payload is unknown'),
      });
    expect(readShardFrame(Uint8Array.from([0xff, 0xff, 0xff])))
      .toMatchObject({
        _tag: 'Unreadable',
        problem: expect.stringContaining('Cannot read a frame'),
      });
  });

  test('a label named like a prototype does no harm', () => {
    const entry = new BinaryWriter().uint32(1 << 3 | 2).string('__proto__')
      .uint32(2 << 3 | 2).string('x');
    const update = new BinaryWriter().uint32(2 << 3 | 2).string('m')
      .uint32(9 << 3 | 2).bytes(entry.finish());
    const frame = readShardFrame(wrapped(4, update));
    expect(frame._tag).toBe('MachineObserved');
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
  });

  test('returns a frame for 10,000 random byte sequences', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(readShardFrame(bytes)._tag).toBeTypeOf('string');
      }),
      { numRuns: 10_000 },
    );
  });

  test('returns a frame for 10,000 mutated valid frames', () => {
    const good = [
      bytesOf({ case: 'ack', value: { echo: 'rollup' } }),
      bytesOf({
        case: 'nodeStateUpdate',
        value: {
          machineId: 'm-1',
          state: 5,
          labels: { a: 'b', c: 'd' },
          resources: { resources: { cpu: '4' } },
          taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }],
        },
      }),
      bytesOf({
        case: 'availableCapacity',
        value: { supersedesKey: 'available:x', confidence: 2, costPerHour: 2, availableCount: 4 },
      }),
      bytesOf({
        case: 'bootstrapRequest',
        value: { requestId: 'r', requirements: [{ key: 'k', operator: 1, values: ['v'] }] },
      }),
      bytesOf({ case: 'reclaimInstruction', value: { instructionId: 'i', nodes: ['m'] } }),
    ];
    const damage = fc.record({
      base: fc.constantFrom(...good),
      flips: fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
      cut: fc.nat(60),
      tail: fc.uint8Array({ maxLength: 8 }),
    });
    fc.assert(
      fc.property(damage, ({ base, flips, cut, tail }) => {
        const bytes = Uint8Array.from([
          ...base.subarray(0, Math.max(0, base.length - cut)),
          ...tail,
        ]);
        for (const [at, value] of flips) if (bytes.length > 0) bytes[at % bytes.length] = value;
        const frame = readShardFrame(bytes);
        if (frame._tag === 'MachineObserved') {
          expect(frame.machine.machineId).not.toBe('');
          expect(() => JSON.stringify(frame)).not.toThrow();
        }
      }),
      { numRuns: 10_000 },
    );
  });
});
