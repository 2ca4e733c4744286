/** The stand-in fleet behind the operator's own way to the shard, without a socket between them. */
import { Deferred, Effect, Layer } from 'effect';
import type { SessionEnding } from '../../../src/domain/session.ts';
import { ShardCalls, type ShardDial } from '../../../src/effects/shard-call.ts';
import { dial, StreamRefused } from '../../../packages/stand-in-fleet/src/in-process.ts';
import type { Script } from '../../../packages/stand-in-fleet/src/script.ts';

const endingOf = (problem: unknown): SessionEnding =>
  problem instanceof StreamRefused
    ? { why: 'EndedByShard', detail: `${problem.status}: ${problem.message}` }
    : { why: 'Defect', detail: String(problem) };

const listen = async (
  frames: AsyncIterable<Uint8Array>,
  receive: ShardDial['receive'],
): Promise<SessionEnding> => {
  try {
    for await (const frame of frames) receive(frame);
    return { why: 'EndedByShard', detail: 'OK' };
  } catch (problem) {
    return endingOf(problem);
  }
};

/** Dials the current fleet of `script`. */
export const inProcessShard = (script: () => Script): Layer.Layer<ShardCalls> =>
  Layer.succeed(ShardCalls, {
    open: ({ receive }) =>
      Effect.gen(function* () {
        const ended = Deferred.makeUnsafe<SessionEnding>();
        const stream = yield* Effect.acquireRelease(
          Effect.sync(() => dial(script())),
          ({ close }) => Effect.sync(close),
        );
        void listen(stream.frames, receive).then((ending) => {
          Deferred.doneUnsafe(ended, Effect.succeed(ending));
        });
        return {
          write: (message: Uint8Array) => Effect.sync(() => stream.send(message)),
          closeSending: Effect.sync(stream.close),
          ended: Deferred.await(ended),
        };
      }),
  });
