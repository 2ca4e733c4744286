/** The limits of frames: each at its bound and one past it. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  type FrameDependencies,
  frameHandler,
} from '../../../src/actors/fleet-session/session-frames.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import type { ShardEvent, ShardFrame } from '../../../src/domain/frames.ts';
import { clusterId } from '../../../src/domain/ids.ts';
import { SHARD_LIMITS } from '../../../src/domain/shard-limits.ts';
import { readShardFrame } from '../../../src/effects/frames.ts';
import {
  BootstrapRequestSchema,
  NodeStateUpdateSchema,
  ReclaimInstructionSchema,
  ShardMessageSchema,
} from '../../../src/gen/bigfleet/v1alpha1/shard_pb.ts';

const bytesOf = (
  payload: NonNullable<MessageInitShape<typeof ShardMessageSchema>['payload']>,
): Uint8Array => toBinary(ShardMessageSchema, create(ShardMessageSchema, { payload }));

const machineBytes = (value: MessageInitShape<typeof NodeStateUpdateSchema>) =>
  bytesOf({ case: 'nodeStateUpdate', value: create(NodeStateUpdateSchema, value) });
const reclaimBytes = (value: MessageInitShape<typeof ReclaimInstructionSchema>) =>
  bytesOf({ case: 'reclaimInstruction', value: create(ReclaimInstructionSchema, value) });
const pullBytes = (value: MessageInitShape<typeof BootstrapRequestSchema>) =>
  bytesOf({ case: 'bootstrapRequest', value: create(BootstrapRequestSchema, value) });

/** A message of exactly this many bytes: `build` gets the length of its filling. */
const ofBytes = (total: number, build: (filling: string) => Uint8Array): Uint8Array => {
  let length = total;
  for (let left = 10; left > 0; left -= 1) {
    const made = build('x'.repeat(length)).length;
    if (made === total) break;
    length -= made - total;
  }
  const bytes = build('x'.repeat(length));
  expect(bytes.length).toBe(total);
  return bytes;
};

/** Handles frames of these bytes and returns what came of it. */
const handled = (...frames: readonly Uint8Array[]) => {
  const counts = new Map<string, number>();
  const events: ShardEvent[] = [];
  const notes: string[] = [];
  const errors: string[] = [];
  const lines: { readonly message: string; readonly fields: object | undefined }[] = [];
  let gaps = 0;
  const dependencies: FrameDependencies = {
    clusterId: clusterId('prod-1'),
    telemetry: {
      ...silentTelemetry,
      log: (_level, message, fields) => void lines.push({ message, fields }),
      count: (name, by, ...[labels]) => {
        const key = [name, ...Object.values(labels ?? {})].join(' ');
        counts.set(key, (counts.get(key) ?? 0) + by);
      },
    },
    render: () => ({ _tag: 'Rendered', userData: '' }),
    reply: (reply) => {
      if (reply._tag === 'BootstrapAnswered') {
        errors.push(reply.answer._tag === 'Failed' ? reply.answer.problem : '');
      }
      return true;
    },
    shardEvents: { next: (event) => void events.push(event) },
    record: (reason, note) => void notes.push(`${reason}: ${note}`),
    onHelloAck: () => {},
    onRollupAck: () => {},
    onReplayGap: () => void (gaps += 1),
    onReceived: () => {},
  };
  const handle = frameHandler(dependencies);
  for (const bytes of frames) handle(readShardFrame(bytes));
  return {
    events,
    notes,
    errors,
    lines,
    gaps,
    reached: (limit: string) => counts.get(`tidegate_shard_limits_reached_total ${limit}`) ?? 0,
  };
};

const problemOf = (frame: ShardFrame): string =>
  frame._tag === 'Unreadable' ? frame.problem : frame._tag;

const MACHINE = { machineId: 'm-1', state: 5 } as const;

describe('frames', () => {
  test('limits: a control frame has 1 MiB at most', () => {
    const { max } = SHARD_LIMITS.frame_bytes;
    expect(max).toBe(1024 * 1024);
    const ack = (total: number) =>
      ofBytes(total, (echo) => bytesOf({ case: 'ack', value: { echo } }));
    expect(problemOf(readShardFrame(ack(max)))).toBe('Acknowledged');
    expect(readShardFrame(ack(max + 1))).toEqual({
      _tag: 'Unreadable',
      problem: `Cannot use a frame: it has ${max + 1} bytes, limit ${max} (frame_bytes)`,
      subject: '',
      leavesGap: false,
      limit: 'frame_bytes',
    });
    expect(handled(ack(max), ack(max + 1)).reached('frame_bytes')).toBe(1);
  });

  test('limits: a frame beyond 1 MiB is not decoded, and its machine stays bound', () => {
    const labels = { blob: 'x'.repeat(2 * 1024 * 1024) };
    const { events, gaps } = handled(machineBytes({ ...MACHINE, labels }));
    expect(events).toEqual([{ _tag: 'MachineMalformed', machineId: 'm-1' }]);
    expect(gaps).toBe(0);
    const second = handled(machineBytes({ ...MACHINE, supersedesKey: 'node:m-1', labels }));
    expect(second.events).toEqual(events);
    const unknown = new Uint8Array(2 * 1024 * 1024).fill(0x7a);
    expect(handled(unknown).gaps).toBe(1);
    expect(handled(machineBytes({ ...MACHINE, machineId: '', labels })).gaps).toBe(1);
  });

  test('limits: of 200 MiB of entries not one is read', () => {
    const frame = new Uint8Array(200 * 1024 * 1024).fill(0x12);
    frame.set([0x22, 0xf8, 0xff, 0xff, 0x63]);
    const tags = vi.spyOn(BinaryReader.prototype, 'tag');
    onTestFinished(() => tags.mockRestore());
    expect(problemOf(readShardFrame(frame))).toContain('frame_bytes');
    expect(tags.mock.calls.length).toBeLessThan(10);
  });

  test('limits: a machine has 64 KiB at most, without its last error', () => {
    const { max } = SHARD_LIMITS.machine_bytes;
    const machine = (total: number, lastError = '') =>
      ofBytes(
        total + lastError.length,
        (filling) => machineBytes({ ...MACHINE, lastError, labels: { blob: filling } }),
      );
    expect(problemOf(readShardFrame(machine(max)))).toBe('MachineObserved');
    expect(problemOf(readShardFrame(machine(max, 'e'.repeat(100_000))))).toBe('MachineObserved');
    expect(readShardFrame(machine(max + 1))).toMatchObject({
      problem: `Cannot use a NodeStateUpdate: it has ${max + 1} bytes, limit ${max} ` +
        '(machine_bytes)',
      machineId: 'm-1',
      limit: 'machine_bytes',
    });
    expect(handled(machine(max), machine(max + 1)).reached('machine_bytes')).toBe(1);
  });
});

describe('ids', () => {
  const { max } = SHARD_LIMITS.id_length;
  const id = (length: number): string => 'i'.repeat(length);

  test('limits: ids of machines, Nodes and providers have their length', () => {
    const providerMax = SHARD_LIMITS.provider_id_length.max;
    const at = machineBytes({
      state: 5,
      machineId: id(max),
      nodeName: id(max),
      providerId: id(providerMax),
    });
    const beyond = [
      machineBytes({ state: 5, machineId: id(max + 1) }),
      machineBytes({ ...MACHINE, nodeName: id(max + 1) }),
      machineBytes({ ...MACHINE, providerId: id(providerMax + 1) }),
    ];
    const { events, reached, gaps, lines } = handled(at, ...beyond);
    expect(events.map(({ _tag }) => _tag)).toEqual([
      'MachineObserved',
      'MachineMalformed',
      'MachineMalformed',
    ]);
    expect([reached('id_length'), reached('provider_id_length'), gaps]).toEqual([2, 1, 0]);
    expect(lines[0]?.fields).toMatchObject({
      problem: `Cannot use a NodeStateUpdate: the machine id has ${max + 1} characters, limit ` +
        `${max} (id_length)`,
    });
  });

  test('limits: ids of instructions, pulls and clusters have their length', () => {
    const { events, errors, reached } = handled(
      reclaimBytes({ instructionId: id(max), nodes: ['m'] }),
      reclaimBytes({ instructionId: id(max + 1), nodes: ['m'] }),
      pullBytes({ requestId: id(max), clusterId: 'prod-1' }),
      pullBytes({ requestId: id(max + 1), clusterId: 'prod-1' }),
      pullBytes({ requestId: 'r', clusterId: id(max + 1) }),
    );
    expect(events.map(({ _tag }) => _tag)).toEqual(['ReclaimInstructed']);
    expect(errors).toEqual([
      '',
      `Malformed request: the cluster id has ${max + 1} characters, limit ${max} (id_length)`,
    ]);
    expect(reached('id_length')).toBe(3);
  });

  test('limits: an entry of an instruction that is too long is left out', () => {
    const { events, notes, reached } = handled(
      reclaimBytes({ instructionId: 'i1', nodes: [id(max), id(max + 1), 'm'] }),
    );
    expect(events).toMatchObject([{ instruction: { machines: [id(max), 'm'] } }]);
    expect(notes).toEqual([
      `ShardLimitReached: Cannot reclaim 1 machines of "i1": limit id_length is ${max}; the fleet ` +
      'must send them in further instructions',
    ]);
    expect(reached('id_length')).toBe(1);
  });
});

describe('lists', () => {
  test('limits: an instruction names 1,000 machines at most', () => {
    const { max } = SHARD_LIMITS.instruction_machines;
    const names = (count: number) => Array.from({ length: count }, (_, at) => `m-${at}`);
    const order = (count: number) =>
      handled(reclaimBytes({ instructionId: 'i1', nodes: names(count) }));
    const at = order(max);
    expect(at.events).toMatchObject([{ instruction: { machines: names(max) } }]);
    expect([at.notes, at.reached('instruction_machines')]).toEqual([[], 0]);
    const beyond = order(max + 7);
    expect(beyond.events).toMatchObject([{ instruction: { machines: names(max) } }]);
    expect(beyond.notes).toEqual([
      `ShardLimitReached: Cannot reclaim 7 machines of "i1": limit instruction_machines is ${max}; ` +
      'the fleet must send them in further instructions',
    ]);
    expect(beyond.reached('instruction_machines')).toBe(7);
    expect(beyond.lines[0]?.fields).toMatchObject({
      machine: `${names(10).join(',')} and ${max - 10} more`,
    });
  });

  test('limits: a bootstrap pull has 128 requirements at most', () => {
    const { max } = SHARD_LIMITS.bootstrap_requirements;
    const pull = (count: number) =>
      pullBytes({
        requestId: 'r',
        clusterId: 'prod-1',
        requirements: Array.from({ length: count }, () => ({ key: 'zone', operator: 1 })),
      });
    const { errors, reached } = handled(pull(max), pull(max + 1));
    expect(errors).toEqual([
      '',
      `Malformed request: it has ${max + 1} requirements, limit ${max} (bootstrap_requirements)`,
    ]);
    expect(reached('bootstrap_requirements')).toBe(1);
  });
});
