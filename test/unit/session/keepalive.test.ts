/** The pings of an idle stream, as the shard receives them; hours pass on a mocked clock. */
import { once } from 'node:events';
import { createServer, type ServerHttp2Session } from 'node:http2';
import { Effect, ManagedRuntime } from 'effect';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ShardCalls, shardCallsLayer } from '../../../src/effects/shard-call.ts';
import { listening } from '../../../tools/testbed/ports.ts';

/** Go's servers close connections that ping more often. */
const GO_ENFORCEMENT_MS = 5 * 60_000;

/** A shard that accepts every stream and says nothing. */
const silentShard = async () => {
  const server = createServer();
  const sessions: ServerHttp2Session[] = [];
  const pings: number[] = [];
  server.on('session', (session) => {
    sessions.push(session);
    session.on('ping', () => pings.push(Date.now()));
  });
  server.on('stream', (stream) => stream.on('error', () => {}));
  const port = await listening(server);
  onTestFinished(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { address: `127.0.0.1:${port}`, server, pings };
};

test('wire 6: an idle stream is pinged, and no more often than every five minutes', async () => {
  const { address, server, pings } = await silentShard();
  const runtime = ManagedRuntime.make(shardCallsLayer);
  onTestFinished(() => runtime.dispose());
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const arrived = once(server, 'stream');
  void runtime.runPromise(Effect.scoped(Effect.gen(function* () {
    const calls = yield* ShardCalls;
    const stream = yield* calls.open({ address, receive: () => {} });
    yield* stream.write(new Uint8Array());
    return yield* stream.ended;
  }))).catch(() => {});
  await arrived;
  const startedMs = Date.now();
  const nextPing = async (): Promise<void> => {
    const before = pings.length;
    while (pings.length === before && Date.now() < startedMs + 4 * GO_ENFORCEMENT_MS) {
      vi.advanceTimersByTime(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await nextPing();
  expect(pings).toHaveLength(1);
  expect((pings[0] ?? 0) - startedMs).toBeGreaterThan(GO_ENFORCEMENT_MS);
});
