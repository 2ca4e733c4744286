/**
 * The actor that the session statechart invokes while connected: one stream, from the dial to its
 * end, with two outgoing lanes and one incoming.
 *
 * Promises: each lane has at most one message in the network, so a roll-up waits for at most one
 * reply and a reply for at most one roll-up (WIRE-03); incoming frames are passed on immediately,
 * regardless of the lanes; a frame that arrives after the end of its stream is dropped.
 */
import { Clock, Effect, type Scope } from 'effect';
import { concatMap, EMPTY, from, merge, type Observable, Subject, type Subscription } from 'rxjs';
import type { KeyPair } from '../../domain/credentials.ts';
import type { ShardFrame } from '../../domain/frames.ts';
import type { ClusterId } from '../../domain/ids.ts';
import type { Reply, Rollup, SessionEnding } from '../../domain/session.ts';
import { keyPairProblem } from '../../effects/credentials.ts';
import { readShardFrame } from '../../effects/frames.ts';
import { helloBytes, replyBytes } from '../../effects/operator-messages.ts';
import type { RollupFrame } from '../../effects/rollup-frame.ts';
import { ShardCalls, type ShardStream } from '../../effects/shard-call.ts';
import type { ReplyOutbox } from '../../streams/reply-outbox.ts';
import { singleSlot } from '../../streams/single-slot.ts';
import type { TooLarge } from './session-events.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** The interface between a stream and its session. */
export interface StreamPort {
  readonly address: string;
  readonly clusterId: ClusterId;
  /** The current pair to dial with; `undefined` is plaintext. */
  readonly pair: () => KeyPair | undefined;
  readonly outbox: ReplyOutbox<Reply>;
  /** Offered roll-ups; only the newest waits. */
  readonly rollups: Observable<Rollup>;
  /** The statechart is ready for the next roll-up. */
  readonly requests: Observable<void>;
  readonly encode: (rollup: Rollup) => RollupFrame;
  readonly onConnected: () => void;
  readonly onFrame: (frame: ShardFrame) => void;
  /** Called right before the bytes are sent. */
  readonly onRollup: (rollup: Rollup, bytes: number) => void;
  readonly onTooLarge: (large: TooLarge) => void;
}

/** A session's handle on its stream. */
export interface StreamHold {
  /** Dials and resolves when the stream is over. */
  readonly hold: Effect.Effect<SessionEnding, never, ShardCalls>;
  /** Ends our side of the stream: from now on it takes no reply and no roll-up. */
  readonly closeSending: () => void;
}

/**
 * Reads frames until the scope is closed. A transport may still deliver what was on its way; the
 * next stream must not count it as its own.
 */
const framesUntilClosed = ({ onFrame }: Pick<StreamPort, 'onFrame'>) =>
  Effect.acquireRelease(
    Effect.sync(() => ({ isOpen: true })),
    (gate) => Effect.sync(() => void (gate.isOpen = false)),
  ).pipe(Effect.map((gate) => (bytes: Uint8Array): void => {
    if (gate.isOpen) onFrame(readShardFrame(bytes));
  }));

/** The stream of `port`, for repeated use. */
export const shardStream = (
  environment: ActorEnvironment<ShardCalls>,
  port: StreamPort,
): StreamHold => {
  let current: { readonly stream: ShardStream; readonly lanes: Subscription } | undefined;

  const write = (stream: ShardStream, bytes: Uint8Array): Observable<never> =>
    from(environment.runtime.runPromise(stream.write(bytes))).pipe(concatMap(() => EMPTY));

  const rollupLane = (stream: ShardStream): Observable<never> => {
    const again = new Subject<void>();
    return port.rollups.pipe(
      singleSlot(merge(port.requests, again)),
      concatMap((rollup) => {
        const frame = port.encode(rollup);
        if (frame._tag === 'TooLarge') {
          port.onTooLarge({ rollup, frame });
          again.next();
          return EMPTY;
        }
        port.onRollup(rollup, frame.bytes.length);
        return write(stream, frame.bytes);
      }),
    );
  };

  const openLanes = (stream: ShardStream): Effect.Effect<void, never, Scope.Scope> =>
    Effect.asVoid(Effect.acquireRelease(
      Effect.sync(() => {
        const lanes = merge(
          rollupLane(stream),
          port.outbox.drain((reply) => write(stream, replyBytes(reply))),
        ).subscribe();
        current = { stream, lanes };
        return lanes;
      }),
      (lanes) =>
        Effect.sync(() => {
          lanes.unsubscribe();
          current = undefined;
        }),
    ));

  const dial = Effect.gen(function* () {
    const pair = port.pair();
    const nowMs = yield* Clock.currentTimeMillis;
    const problem = pair === undefined ? undefined : keyPairProblem(pair, port.clusterId, nowMs);
    if (problem !== undefined) {
      const refused: SessionEnding = { why: 'CredentialsRefused', detail: problem };
      return yield* Effect.fail(refused);
    }
    const calls = yield* ShardCalls;
    return yield* calls.open({
      address: port.address,
      receive: yield* framesUntilClosed(port),
      ...(pair === undefined ? {} : { pair }),
    });
  });

  const hold = Effect.gen(function* () {
    const stream = yield* dial;
    yield* openLanes(stream);
    port.onConnected();
    yield* stream.write(helloBytes(port.clusterId));
    return yield* stream.ended;
  });

  return {
    hold: Effect.scoped(hold).pipe(Effect.catch((ending) => Effect.succeed(ending))),
    closeSending: () => {
      if (current === undefined) return;
      current.lanes.unsubscribe();
      environment.runtime.runFork(current.stream.closeSending);
    },
  };
};
