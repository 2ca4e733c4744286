/** How the shard is dialled. */
import { createServer } from 'node:net';
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { Effect } from 'effect';
import { expect, onTestFinished, test, vi } from 'vitest';
import { FRAME_BYTES_MAX } from '../../../src/effects/rollup-frame.ts';
import { ShardCalls, shardCallsLayer } from '../../../src/effects/shard-call.ts';
import { nameOptions } from '../../../src/effects/shard-credentials.ts';

test('wire 2: frames go up to 256 MiB in both directions', () => {
  expect(FRAME_BYTES_MAX).toBe(256 * 1024 * 1024);
});

// A target with a scheme was cut at its last colon and the rest taken for the host, so that no
// certificate ever matched and every dial failed.
test.each([
  ['10.1.2.3:7700', true],
  ['[fd00::1]:7700', true],
  ['dns:///10.1.2.3:7700', true],
  ['dns://10.0.0.53/10.1.2.3', true],
  ['ipv4:10.1.2.3:7700', true],
  ['ipv4:10.1.2.3:7700,10.1.2.4:7700', true],
  ['ipv6:[fd00::1]:7700', true],
  ['ipv6:fd00::1', true],
  ['shard.fleet.svc:7700', false],
  ['dns:shard.fleet.svc:7700', false],
  ['dns://10.0.0.53/shard.fleet.svc', false],
  ['unix:/run/shard.sock', false],
])('wire 8: whether the target %s is an IP address decides the name of the handshake: %s', (
  target,
  isAddress,
) => {
  expect(Object.keys(nameOptions(target))).toHaveLength(isAddress ? 1 : 0);
});

test('no proxy variable diverts the session', async () => {
  let diverted = 0;
  const proxy = createServer((socket) => {
    diverted += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  const bound = proxy.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  for (const name of ['grpc_proxy', 'https_proxy', 'http_proxy']) {
    vi.stubEnv(name, `http://127.0.0.1:${port}`);
  }
  onTestFinished(() => void vi.unstubAllEnvs());
  const dialled = Effect.scoped(Effect.gen(function* () {
    const calls = yield* ShardCalls;
    const stream = yield* calls.open({ address: 'localhost:1', receive: () => {} });
    return yield* stream.ended;
  }));
  await Effect.runPromiseExit(
    Effect.provide(dialled, shardCallsLayer).pipe(Effect.timeoutOption(5_000)),
  );
  expect(diverted).toBe(0);
});

/** A server that answers a stream with this many small frames at once. */
const floodingShard = async (frames: number): Promise<number> => {
  const server = new Server();
  const same = (bytes: Buffer): Buffer => bytes;
  server.addService({
    session: {
      path: '/bigfleet.v1alpha1.Shard/Session',
      requestStream: true,
      responseStream: true,
      requestSerialize: same,
      requestDeserialize: same,
      responseSerialize: same,
      responseDeserialize: same,
    },
  }, {
    session: (stream: ServerDuplexStream<Buffer, Buffer>) => {
      stream.on('error', () => {});
      for (let left = frames; left > 0; left -= 1) stream.write(Buffer.from([left & 255]));
    },
  });
  onTestFinished(() => server.forceShutdown());
  return await new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (problem, port) => {
      if (problem === null) resolve(port);
      else reject(problem);
    });
  });
};

// The flow control window has room for 100,000 small frames, and all of them were handled within
// one turn of the event loop: a flood of 12,000 profiles stopped everything else for half a second.
test('wire 11: a flood of frames leaves turns of the event loop to everything else', async () => {
  const frames = 3000;
  const port = await floodingShard(frames);
  const handled = Promise.withResolvers<void>();
  let received = 0;
  const atTurns: number[] = [];
  const turn = setInterval(() => atTurns.push(received), 1);
  onTestFinished(() => clearInterval(turn));
  const receive = (): void => {
    const endMs = performance.now() + 0.2;
    while (performance.now() < endMs);
    received += 1;
    if (received === frames) handled.resolve();
  };
  await Effect.runPromise(Effect.provide(
    Effect.scoped(Effect.gen(function* () {
      const calls = yield* ShardCalls;
      yield* calls.open({ address: `localhost:${port}`, receive });
      yield* Effect.promise(() => handled.promise);
    })),
    shardCallsLayer,
  ));
  const mostInATurn = Math.max(
    ...atTurns.map((count, index) => count - (atTurns[index - 1] ?? 0)),
    received - (atTurns.at(-1) ?? 0),
  );
  expect(mostInATurn).toBeLessThan(frames / 6);
});
