/**
 * Frames per second through the session: the shard's machines from bytes to events, beside only
 * decoding the same bytes.
 *
 * Not measured: the operator's writes about a machine; the API server limits those.
 */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Effect, Layer, ManagedRuntime } from 'effect';
import { firstValueFrom, skip, take } from 'rxjs';
import {
  type FleetSession,
  startFleetSession,
} from '../../src/actors/fleet-session/fleet-session.ts';
import { makeActorEnvironment } from '../../src/actors/actor-environment.ts';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import { bootstrapRenderer } from '../../src/domain/bootstrap.ts';
import { clusterId } from '../../src/domain/ids.ts';
import { Credentials } from '../../src/effects/credentials.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { ShardCalls, shardCallsLayer } from '../../src/effects/shard-call.ts';
import { ShardMessageSchema } from '../../src/gen/bigfleet/v1alpha1/shard_pb.ts';
import { type ShardPayload, startShard } from '../support/fleet/shard-process.ts';
import { machinePayload } from './machine-frames.ts';
import { duration, median, print, printFigure, ratio, repeated } from './measurement.ts';

const FRAMES = 200_000;
const MACHINES = 1_000;
const TIMES = 5;
const CLUSTER = clusterId('bench');

const encoded = (payload: ShardPayload): Uint8Array =>
  toBinary(ShardMessageSchema, create(ShardMessageSchema, { payload }));

const FRAMES_OF = Array.from({ length: MACHINES }, (_, index) => encoded(machinePayload(index)));
const ACK = encoded({ case: 'ack', value: { echo: 'hello' } });

const startSession = (shard: Layer.Layer<ShardCalls>, address: string) => {
  const runtime = ManagedRuntime.make(Layer.merge(
    shard,
    Layer.succeed(Credentials, {
      read: () => Effect.succeed({ _tag: 'Unusable', problem: 'plaintext' } as const),
    }),
  ));
  const environment = makeActorEnvironment({
    time: realTime,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 1,
  });
  const template = bootstrapRenderer(undefined);
  if (template._tag === 'Unparseable') throw new Error(template.problem);
  const session = startFleetSession(environment, {
    clusterId: CLUSTER,
    address,
    rollupIntervalMs: 10_000,
    render: template.render,
    record: () => {},
  });
  session.setLeading(true);
  session.demandListed();
  return {
    session,
    end: async () => {
      await session.stop();
      await runtime.dispose();
    },
  };
};

/** Resolves when the session has emitted `count` machines. */
const received = (session: FleetSession, count: number): Promise<unknown> =>
  firstValueFrom(session.shardEvents.pipe(skip(count - 1), take(1)));

/** A session whose frames come by a call in this process. */
export interface FedSession {
  /** Sends machines in batches; resolves when all were emitted. */
  readonly feed: (atOnce: number, times: number) => Promise<void>;
  readonly end: () => Promise<void>;
}

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    realTime.schedule(0, resolve);
  });

/** Starts one; between two batches others have their turn. */
export const startFedSession = async (): Promise<FedSession> => {
  const opened = Promise.withResolvers<(frame: Uint8Array) => void>();
  const shard = Layer.succeed(ShardCalls, {
    open: ({ receive }) =>
      Effect.sync(() => {
        opened.resolve(receive);
        return { write: () => Effect.void, closeSending: Effect.void, ended: Effect.never };
      }),
  });
  const { session, end } = startSession(shard, 'shard:7780');
  const receive = await opened.promise;
  const streamOpened = received(session, 1);
  receive(ACK);
  await streamOpened;
  return {
    end,
    feed: async (atOnce, times) => {
      const all = received(session, atOnce * times);
      for (let time = 0; time < times; time += 1) {
        if (time > 0) await nextTurn();
        for (let sent = 0; sent < atOnce; sent += 1) receive(FRAMES_OF[sent % MACHINES] ?? ACK);
      }
      await all;
    },
  };
};

/** Milliseconds for `FRAMES` frames by a call in this process. */
const inProcess = async (): Promise<number> => {
  const { feed, end } = await startFedSession();
  const figures = await repeated(TIMES, () => feed(FRAMES, 1));
  await end();
  return median(figures);
};

/** Milliseconds for `FRAMES` frames from a gRPC server in another process. */
const overGrpc = async (): Promise<number> => {
  const shard = await startShard();
  try {
    const { session, end } = startSession(shardCallsLayer, shard.address);
    const opened = await shard.event(({ event }) => event === 'opened');
    const stream = opened.event === 'opened' ? opened.stream : 0;
    const streamOpened = received(session, 1);
    shard.sendBytes(stream, ACK);
    await streamOpened;
    const figures = await repeated(1, async () => {
      const all = received(session, FRAMES);
      shard.send(stream, machinePayload(1), FRAMES);
      await all;
    });
    await end();
    return median(figures);
  } finally {
    await shard.kill('SIGKILL');
  }
};

const perSecond = (ms: number): string =>
  `${Math.round(FRAMES / ms * 1000).toLocaleString('en')}/s`;

/** Measures and prints. */
export const benchSession = async (): Promise<void> => {
  const decodeMs = median(
    await repeated(TIMES, () => {
      for (let at = 0; at < FRAMES; at += 1) {
        fromBinary(ShardMessageSchema, FRAMES_OF[at % MACHINES] ?? ACK);
      }
    }),
  );
  const sessionMs = await inProcess();
  const grpcMs = await overGrpc();
  print();
  print(`Session, ${FRAMES} NodeStateUpdates of ${FRAMES_OF[0]?.length ?? 0} bytes`);
  printFigure('decoding alone', perSecond(decodeMs), duration(decodeMs));
  printFigure('through the session, in process', perSecond(sessionMs), duration(sessionMs));
  printFigure('through the session, beside decoding alone', ratio(sessionMs, decodeMs));
  printFigure('through the session, over gRPC', perSecond(grpcMs), duration(grpcMs));
  printFigure('over gRPC, beside in process', ratio(grpcMs, sessionMs));
};
