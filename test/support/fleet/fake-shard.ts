/**
 * An in-process shard: accepts every dial, sends what the test scripts, and records what it
 * receives.
 */
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { Deferred, Effect, Layer } from 'effect';
import type { KeyPair } from '../../../src/domain/credentials.ts';
import type { SessionEnding } from '../../../src/domain/session.ts';
import { ShardCalls } from '../../../src/effects/shard-call.ts';
import {
  type OperatorMessage,
  OperatorMessageSchema,
  ShardMessageSchema,
} from '../../../src/gen/bigfleet/v1alpha1/shard_pb.ts';

type Payload = NonNullable<MessageInitShape<typeof ShardMessageSchema>['payload']>;

/** One stream that the operator opened. */
export interface FakeStream {
  readonly pair: KeyPair | undefined;
  /** What the operator sent, in order. */
  readonly received: readonly OperatorMessage['payload'][];
  readonly kinds: () => readonly string[];
  readonly send: (payload: Payload) => void;
  readonly ack: (echo: 'hello' | 'rollup') => void;
  readonly sendBytes: (bytes: Uint8Array) => void;
  readonly end: (ending: SessionEnding) => void;
  /** False: no write is consumed until it is true again. */
  readonly read: (reads: boolean) => void;
  /** `open`, `halfClosed` or `left` (by the operator). */
  readonly state: () => string;
}

export interface FakeShard {
  readonly layer: Layer.Layer<ShardCalls>;
  readonly streams: readonly FakeStream[];
  /** The newest stream. */
  readonly stream: () => FakeStream;
  /** What the next dials come to; `undefined` connects them. */
  readonly refuse: (ending: SessionEnding | 'never' | undefined) => void;
}

const fakeStream = (pair: KeyPair | undefined, receive: (frame: Uint8Array) => void) => {
  const received: OperatorMessage['payload'][] = [];
  const ended = Deferred.makeUnsafe<SessionEnding>();
  const stalled: (() => void)[] = [];
  let reads = true;
  let state = 'open';
  const send = (payload: Payload): void =>
    receive(toBinary(ShardMessageSchema, create(ShardMessageSchema, { payload })));
  const handle: FakeStream = {
    pair,
    received,
    kinds: () => received.map((payload) => payload.case ?? ''),
    send,
    ack: (echo) => send({ case: 'ack', value: { echo } }),
    sendBytes: receive,
    end: (ending) => {
      Deferred.doneUnsafe(ended, Effect.succeed(ending));
    },
    read: (now) => {
      reads = now;
      if (reads) { for (const resume of stalled.splice(0)) resume(); }
    },
    state: () => state,
  };
  return {
    handle,
    leave: () => {
      state = 'left';
    },
    stream: {
      write: (bytes: Uint8Array) =>
        Effect.callback<void>((resume) => {
          received.push(fromBinary(OperatorMessageSchema, bytes).payload);
          if (reads) resume(Effect.void);
          else stalled.push(() => resume(Effect.void));
        }),
      closeSending: Effect.sync(() => {
        state = 'halfClosed';
      }),
      ended: Deferred.await(ended),
    },
  };
};

/** A shard that accepts every dial until the test makes it refuse. */
export const fakeShard = (): FakeShard => {
  const streams: FakeStream[] = [];
  let refusal: SessionEnding | 'never' | undefined;
  return {
    streams,
    stream: () => {
      const newest = streams.at(-1);
      if (newest === undefined) throw new Error('No connection was dialled');
      return newest;
    },
    refuse: (ending) => {
      refusal = ending;
    },
    layer: Layer.succeed(ShardCalls, {
      open: ({ pair, receive }) =>
        Effect.gen(function* () {
          if (refusal === 'never') yield* Effect.never;
          else if (refusal !== undefined) return yield* Effect.fail(refusal);
          const made = yield* Effect.acquireRelease(
            Effect.sync(() => fakeStream(pair, receive)),
            ({ leave }) => Effect.sync(leave),
          );
          streams.push(made.handle);
          return made.stream;
        }),
    }),
  };
};
