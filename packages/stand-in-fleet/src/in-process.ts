/**
 * In-process transport for simulation and for tests on one clock.
 *
 * Promises: frames are the bytes that a socket would carry, in sending order; only promises and the
 * fleet's `Time` schedule work.
 */
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import {
  OperatorMessageSchema,
  type ShardMessage,
  ShardMessageSchema,
} from './gen/bigfleet/v1alpha1/shard_pb.ts';
import { frameQueue } from './frame-queue.ts';
import type { Script } from './script.ts';
import { STATUS, type Status } from './session.ts';

/** A stream ended with a status that is not OK. */
export class StreamRefused extends Error {
  readonly status: Status;

  constructor(status: Status, message: string) {
    super(message);
    this.name = 'StreamRefused';
    this.status = status;
  }
}

/** The cluster's end of a stream. */
export interface DialledStream {
  readonly send: (frame: Uint8Array) => void;
  /** Frames from the shard; ends with the stream, or throws `StreamRefused`. */
  readonly frames: AsyncIterable<Uint8Array>;
  /** Half-closes; the shard ends the stream. */
  readonly close: () => void;
}

/** Opens a stream to a fleet in this process. */
export const dial = (script: Script, certified?: readonly string[]): DialledStream => {
  const queue = frameQueue<Uint8Array>();
  if (script.admission.refuse) {
    queue.fail(new StreamRefused(STATUS.UNAVAILABLE, 'The shard takes no sessions now'));
    return { send: () => {}, frames: queue.items, close: () => {} };
  }
  const inbound = script.shard.connect(
    {
      send: queue.push,
      end: (status, message) =>
        status === STATUS.OK ? queue.end() : queue.fail(new StreamRefused(status, message)),
      cut: () => queue.fail(new StreamRefused(STATUS.UNAVAILABLE, 'The connection was cut')),
      congested: () => false,
    },
    { address: 'in-process', certified },
  );
  return {
    send: (frame) => inbound.receive(frame),
    frames: queue.items,
    close: () => inbound.closed(),
  };
};

/** The payload of a frame from the cluster. */
export type OperatorFrame = Exclude<
  MessageInitShape<typeof OperatorMessageSchema>['payload'],
  undefined
>;

/** A stream of messages instead of bytes. */
export interface DialledMessages {
  readonly send: (payload: OperatorFrame) => void;
  readonly messages: AsyncIterable<ShardMessage>;
  readonly close: () => void;
}

async function* decoded(frames: AsyncIterable<Uint8Array>): AsyncGenerator<ShardMessage> {
  for await (const frame of frames) yield fromBinary(ShardMessageSchema, frame);
}

/** Opens a stream of messages to a fleet in this process. */
export const dialMessages = (script: Script, certified?: readonly string[]): DialledMessages => {
  const { send, frames, close } = dial(script, certified);
  return {
    send: (payload) =>
      send(toBinary(OperatorMessageSchema, create(OperatorMessageSchema, { payload }))),
    messages: decoded(frames),
    close,
  };
};
