/** How the shard is dialled. */
import { promises } from 'node:dns';
import { constants, createServer as createHttp2Server } from 'node:http2';
import { createServer } from 'node:net';
import { Effect } from 'effect';
import { expect, onTestFinished, test, vi } from 'vitest';
import { realTime } from '../../../src/effects/real-time.ts';
import { ShardCalls, shardCallsLayer } from '../../../src/effects/shard-call.ts';
import { nameOptions } from '../../../src/effects/shard-credentials.ts';
import { listening } from '../../../tools/testbed/ports.ts';
import { rawShard } from '../../support/fleet/raw-shard.ts';

const MEBIBYTE = 1024 * 1024;

/** How a stream ends on which the shard announces a frame of that length, and then resets it. */
const endAfterAnnouncing = async (bytes: number) => {
  const shard = createHttp2Server();
  onTestFinished(() => void shard.close());
  shard.on('stream', (stream) => {
    stream.on('error', () => {});
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(bytes, 1);
    stream.write(prefix, () => setImmediate(() => stream.close(constants.NGHTTP2_INTERNAL_ERROR)));
  });
  return await endOf(`127.0.0.1:${await listening(shard)}`, new Uint8Array());
};

/** How the stream to this address ends after one message. */
const endOf = (address: string, message: Uint8Array) =>
  Effect.runPromise(Effect.provide(
    Effect.scoped(Effect.gen(function* () {
      const calls = yield* ShardCalls;
      const stream = yield* calls.open({ address, receive: () => {} });
      yield* stream.write(message);
      return yield* stream.ended;
    })),
    shardCallsLayer,
  ));

test('wire 2: a frame of 256 MiB is received, and a longer one ends the stream at once', async () => {
  expect(await endAfterAnnouncing(256 * MEBIBYTE)).toMatchObject({
    detail: expect.not.stringContaining('larger than max'),
  });
  expect(await endAfterAnnouncing(256 * MEBIBYTE + 1)).toEqual({
    why: 'EndedByShard',
    detail: expect.stringContaining('larger than max (268435457 vs 268435456)'),
  });
});

test('wire 2: a frame of more than 256 MiB is not sent', async () => {
  const shard = createHttp2Server();
  onTestFinished(() => void shard.close());
  shard.on('stream', (stream) => stream.on('error', () => {}));
  const end = await endOf(
    `127.0.0.1:${await listening(shard)}`,
    new Uint8Array(256 * MEBIBYTE + 1),
  );
  expect(end.detail).toContain('a size larger than 268435456');
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

test('only a shard that is dialled with a certificate is suspected of refusing it', async () => {
  const server = createServer((socket) => socket.destroy());
  onTestFinished(() => void server.close());
  const end = endOf(`127.0.0.1:${await listening(server)}`, new Uint8Array());
  await expect(end).rejects.toMatchObject({
    why: 'Unreachable',
    detail: expect.not.stringContaining('certificate'),
  });
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
  // Of the machine: with these no proxy is used at all.
  for (const name of ['no_grpc_proxy', 'no_proxy']) vi.stubEnv(name, '');
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

// Whoever answers DNS could otherwise configure retries and balancing of the session.
test('no service config is requested from DNS', async () => {
  const requested = vi.spyOn(promises, 'resolveTxt').mockRejectedValue(new Error('none'));
  onTestFinished(() => requested.mockRestore());
  const dialled = Effect.scoped(Effect.gen(function* () {
    const calls = yield* ShardCalls;
    return yield* Effect.flip(calls.open({ address: 'dns:///localhost:1', receive: () => {} }));
  }));
  const ending = await Effect.runPromise(Effect.provide(dialled, shardCallsLayer));
  expect(ending.why).toBe('Unreachable');
  expect(requested).not.toHaveBeenCalled();
});

/** A server that answers a stream with this many small frames at once. */
const floodingShard = async (frames: number): Promise<number> => {
  const { server, port } = await rawShard({
    session: (stream) => {
      stream.on('error', () => {});
      for (let left = frames; left > 0; left -= 1) stream.write(Buffer.from([left & 255]));
    },
  });
  onTestFinished(() => server.forceShutdown());
  return port;
};

// The flow control window has room for 100,000 small frames, and all of them were handled within
// one turn of the event loop: a flood of 12,000 profiles stopped everything else for half a second.
test('a flood of frames leaves turns of the event loop to everything else', async () => {
  const frames = 3000;
  const port = await floodingShard(frames);
  const handled = Promise.withResolvers<void>();
  let received = 0;
  const atTicks: number[] = [];
  const tick = (): void => {
    atTicks.push(received);
    if (received < frames) realTime.schedule(1, tick);
  };
  realTime.schedule(1, tick);
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
    ...atTicks.map((count, index) => count - (atTicks[index - 1] ?? 0)),
    received - (atTicks.at(-1) ?? 0),
  );
  expect(mostInATurn).toBeLessThan(frames / 6);
});
