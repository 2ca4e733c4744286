/**
 * A process's transport to the stand-in fleet on simulated time: frames take time, and arrive in
 * order.
 *
 * Promises: the connections of a dead process are closed, and the fleet notices; an unavailable
 * shard refuses as over gRPC.
 */
import { Deferred, Effect, Layer } from 'effect';
import type { SessionEnding } from '../../src/domain/session.ts';
import type { Time } from '../../src/domain/time.ts';
import { ShardCalls, type ShardStream } from '../../src/effects/shard-call.ts';
import type { Script } from '../../packages/stand-in-fleet/src/script.ts';
import { STATUS } from '../../packages/stand-in-fleet/src/session.ts';
import type { Chance } from './chance.ts';
import type { ProcessLine } from './process-line.ts';

/** The inputs of a line. */
export interface ShardLineOptions {
  readonly line: ProcessLine;
  readonly world: Time;
  /** The current fleet. */
  readonly script: () => Script;
  readonly chance: Chance;
  /** The time that each frame to the process takes, in milliseconds. */
  readonly frameMs: () => number;
  /** The process has received a frame on a stream that it holds. */
  readonly delivered: (frame: Uint8Array) => void;
  /** The fleet has received a frame of this process. */
  readonly received: (frame: Uint8Array) => void;
}

/** The line, and its end. */
export interface ShardLine {
  readonly layer: Layer.Layer<ShardCalls>;
  /** The process died: its connections are closed from this side. */
  readonly hangUp: () => void;
  /** From now on frames and ends wait, in both directions. */
  readonly hold: () => void;
  /** Everything that waited arrives, in order. */
  readonly letThrough: () => void;
}

const LAG_MS_MAX = 20;

/** The inputs, and the link of the process. */
interface LinkOptions extends ShardLineOptions {
  readonly link: Pick<ReturnType<typeof partition>, 'pass'>;
}

/** Runs actions in sequence, each after a delay, and `apartMs` after the one before. */
const inOrder = (
  { world, chance, link }: LinkOptions,
  apartMs: () => number = () => 0,
) => {
  let dueMs = 0;
  return (act: () => void): void => {
    dueMs = Math.max(dueMs + apartMs(), world.monotonic() + chance.int(1, LAG_MS_MAX));
    world.schedule(dueMs - world.monotonic(), () => link.pass(act));
  };
};

/** Actions that a partition delays. */
const partition = () => {
  let waiting: (() => void)[] | undefined;
  return {
    pass: (act: () => void): void => {
      if (waiting === undefined) act();
      else waiting.push(act);
    },
    hold: (): void => {
      waiting ??= [];
    },
    letThrough: (): void => {
      const held = waiting ?? [];
      waiting = undefined;
      for (const act of held) act();
    },
  };
};

/** One stream: the handle of the process, and its end from this side. */
interface Connection {
  readonly stream: ShardStream;
  readonly close: () => void;
  /** The process has no more to do with it; frames that are under way concern nobody. */
  readonly release: () => void;
}

const connect = (parts: LinkOptions, receive: (frame: Uint8Array) => void): Connection => {
  const { line, script, delivered, received } = parts;
  const ended = Deferred.makeUnsafe<SessionEnding>();
  const toShard = inOrder(parts);
  const toProcess = inOrder(parts, parts.frameMs);
  const finish = (ending: SessionEnding): void =>
    toProcess(() => line.reach(() => Deferred.doneUnsafe(ended, Effect.succeed(ending))));
  let [open, isReleased] = [true, false];
  const inbound = script().shard.connect({
    send: (frame) =>
      toProcess(() =>
        line.reach(() => {
          if (!isReleased) delivered(frame);
          receive(frame);
        })
      ),
    end: (status, message) => {
      open = false;
      finish({ why: 'EndedByShard', detail: `${status}: ${message}` });
    },
    cut: () => {
      open = false;
      finish({ why: 'EndedByShard', detail: `${STATUS.UNAVAILABLE}: The connection was cut` });
    },
    congested: () => false,
  }, { address: 'simulated', certified: undefined });
  const close = (): void => {
    toShard(() => {
      if (open) inbound.closed();
      open = false;
    });
  };
  return {
    close,
    release: () => {
      isReleased = true;
      close();
    },
    stream: {
      write: (message) =>
        Effect.sync(() => {
          if (!line.alive()) return;
          const frame = message.slice();
          toShard(() => {
            if (!open) return;
            inbound.receive(frame);
            received(frame);
          });
        }),
      closeSending: Effect.sync(close),
      ended: Deferred.await(ended),
    },
  };
};

/** A line of one process. */
export const shardLine = (options: ShardLineOptions): ShardLine => {
  const link = partition();
  const parts: LinkOptions = { ...options, link };
  const { line, script, chance } = parts;
  const connections = new Set<Connection>();
  const layer = Layer.succeed(ShardCalls, {
    open: ({ receive }) =>
      Effect.gen(function* () {
        yield* Effect.callback<void>((resume) => {
          const cancel = line.time.schedule(chance.int(1, LAG_MS_MAX), () => resume(Effect.void));
          return Effect.sync(cancel);
        });
        if (script().admission.refuse) {
          const detail = `${STATUS.UNAVAILABLE}: The shard takes no sessions now`;
          return yield* Effect.fail<SessionEnding>({ why: 'Unreachable', detail });
        }
        const connection = yield* Effect.acquireRelease(
          Effect.sync(() => {
            const made = connect(parts, receive);
            connections.add(made);
            return made;
          }),
          (made) =>
            Effect.sync(() => {
              connections.delete(made);
              made.release();
            }),
        );
        return connection.stream;
      }),
  });
  return {
    layer,
    hold: link.hold,
    letThrough: link.letThrough,
    hangUp: () => {
      for (const { close } of connections) close();
    },
  };
};
