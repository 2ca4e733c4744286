/** How the shard is dialled. */
import { promises } from 'node:dns';
import { createServer } from 'node:net';
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
