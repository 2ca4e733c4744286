/**
 * A gRPC peer that sends any bytes as a shard, over mTLS.
 *
 * Promises: acknowledges hello and roll-ups until it is told not to; the newest stream is the one
 * that frames are sent on; a new one begins with the machines that are bound and the instructions
 * that were not acknowledged, so that a session which ends loses none.
 */
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import type { Server } from '@grpc/grpc-js';
import {
  type OperatorMessage,
  OperatorMessageSchema,
  ShardMessageSchema,
} from '../../src/gen/bigfleet/v1alpha1/shard_pb.ts';
import { MachineState } from '../../src/gen/bigfleet/v1alpha1/provider_pb.ts';
import { eventually } from '../support/eventually.ts';
import { rawShard, type RawStream, type ShardKeys } from '../support/fleet/raw-shard.ts';

type Payload = NonNullable<MessageInitShape<typeof ShardMessageSchema>['payload']>;
type MachineUpdate = Extract<Payload, { case: 'nodeStateUpdate' }>['value'];

/** A message of the operator. */
export type Received = OperatorMessage['payload'];

/** Far above what one attack leads to. */
const RECEIVED_MAX = 20_000;

/** The bytes of a message. */
const frameBytes = (payload: Payload): Uint8Array =>
  toBinary(ShardMessageSchema, create(ShardMessageSchema, { payload }));

/** A machine that serves the cluster, unless `more` says otherwise. */
export const machineFrame = (machineId: string, more: MachineUpdate = {}): Payload => ({
  case: 'nodeStateUpdate',
  value: {
    supersedesKey: `node:${machineId}`,
    machineId,
    state: MachineState.CONFIGURED,
    providerId: `host-${machineId}`,
    ...more,
  },
});

/** The end of a machine. */
const machineGone = (machineId: string): Payload =>
  machineFrame(machineId, { state: MachineState.DELETING });

/** An instruction to give machines back. */
export const reclaimFrame = (
  instructionId: string,
  nodes: readonly string[],
  graceSeconds = 600n,
): Payload => ({
  case: 'reclaimInstruction',
  value: { instructionId, nodes: [...nodes], gracePeriodSeconds: graceSeconds },
});

/** A running shard. */
export class HostileShard {
  readonly #server: Server;
  readonly port: number;
  #stream: RawStream | undefined;
  #sessions = 0;
  #acked = 0;
  #acks = true;
  #received: Received[] = [];
  /** The last frame of each machine that serves the cluster. */
  readonly #bound = new Map<string, Uint8Array>();
  /** Instructions without an acknowledgement. */
  readonly #instructions = new Map<string, Uint8Array>();

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  /** Starts one on any port. */
  static async start(tls: ShardKeys): Promise<HostileShard> {
    let onStream: (stream: RawStream) => void = () => {};
    const { server, port } = await rawShard({ tls, session: (stream) => onStream(stream) });
    const shard = new HostileShard(server, port);
    onStream = (stream) => shard.#open(stream);
    return shard;
  }

  #open(stream: RawStream): void {
    this.#stream = stream;
    this.#sessions += 1;
    this.#acked = 0;
    const closed = (): void => {
      if (this.#stream === stream) this.#stream = undefined;
    };
    stream.on('data', (bytes: Buffer) => this.#onMessage(stream, bytes));
    stream.on('end', closed);
    stream.on('cancelled', closed);
    stream.on('error', closed);
  }

  #onMessage(stream: RawStream, bytes: Buffer): void {
    const { payload } = fromBinary(OperatorMessageSchema, new Uint8Array(bytes));
    if (this.#received.length < RECEIVED_MAX) this.#received.push(payload);
    if (payload.case === 'reclaimAck') this.#instructions.delete(payload.value.instructionId);
    const echo = payload.case;
    if (!this.#acks || (echo !== 'hello' && echo !== 'rollup')) return;
    stream.write(Buffer.from(frameBytes({ case: 'ack', value: { echo } })));
    if (echo === 'rollup') {
      this.#acked += 1;
      return;
    }
    for (const frame of [...this.#bound.values(), ...this.#instructions.values()]) {
      stream.write(Buffer.from(frame));
    }
  }

  /** Frames of the operator since `forget`. */
  received(): readonly Received[] {
    return this.#received;
  }

  forget(): void {
    this.#received = [];
  }

  /** Whether hello and roll-ups are acknowledged. */
  acknowledge(acks: boolean): void {
    this.#acks = acks;
  }

  /** Streams so far. */
  sessions(): number {
    return this.#sessions;
  }

  /** Waits for a session of which a roll-up was acknowledged. */
  async untilSession(): Promise<void> {
    await eventually(() => this.#stream !== undefined && this.#acked > 0, {
      what: 'the session with the shard',
      everyMs: 10,
    });
  }

  /** A machine comes to serve the cluster: sent now, and in the replay of each session. */
  bind(machineId: string, more: MachineUpdate = {}): void {
    const frame = frameBytes(machineFrame(machineId, more));
    this.#bound.set(machineId, frame);
    this.sendBytes(frame);
  }

  /** A machine leaves for good. */
  unbind(machineId: string): void {
    this.#bound.delete(machineId);
    this.send(machineGone(machineId));
  }

  /** Takes machines back: sent now, and in each session until it is acknowledged. */
  instruct(instructionId: string, machineIds: readonly string[]): void {
    const frame = frameBytes(reclaimFrame(instructionId, machineIds));
    this.#instructions.set(instructionId, frame);
    this.sendBytes(frame);
  }

  /** Forgets which instructions were not acknowledged. */
  withdraw(): void {
    this.#instructions.clear();
  }

  /** Sends to the open session. */
  send(payload: Payload, times = 1): void {
    this.sendBytes(frameBytes(payload), times);
  }

  sendBytes(bytes: Uint8Array, times = 1): void {
    const frame = Buffer.from(bytes);
    for (let left = times; left > 0; left -= 1) this.#stream?.write(frame);
  }

  /** Whether what the operator sends is read. */
  read(reads: boolean): void {
    if (reads) this.#stream?.resume();
    else this.#stream?.pause();
  }

  /** Ends the session with a status of gRPC. */
  end(code: number, details: string): void {
    this.#stream?.emit('error', { code, details });
    this.#stream = undefined;
  }

  stop(): void {
    this.#server.forceShutdown();
  }
}
