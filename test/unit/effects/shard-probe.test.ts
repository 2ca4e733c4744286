/** Whether a shard can be reached, as `tidegate doctor` asks. */
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { Effect } from 'effect';
import { expect, onTestFinished, test, vi } from 'vitest';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { probeShard } from '../../../src/effects/shard-probe.ts';

/** A gRPC server without any method. */
const startShard = async (): Promise<number> => {
  const server = new Server();
  onTestFinished(() => server.forceShutdown());
  return await new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (problem, port) => {
      if (problem === null) resolve(port);
      else reject(problem);
    });
  });
};

/** Its deadline is ten minutes later than usual: a busy machine may stop in the middle. */
const PATIENT = { ...realTime, now: () => realTime.now() + 600_000 };

const probed = (shard: Parameters<typeof probeShard>[0]) =>
  Effect.runPromise(probeShard(shard).pipe(Effect.provide(clockLayer(PATIENT))));

test('a gRPC server that knows no such method is reached, also beside a proxy', async () => {
  for (const name of ['grpc_proxy', 'http_proxy']) vi.stubEnv(name, 'http://127.0.0.1:1');
  onTestFinished(() => void vi.unstubAllEnvs());
  const address = `127.0.0.1:${await startShard()}`;
  expect(await probed({ address })).toEqual({ _tag: 'Reached' });
});

test('an address where nothing listens is not reached, with the reason', async () => {
  const probe = await probed({ address: '127.0.0.1:1' });
  expect(probe).toMatchObject({ _tag: 'Unreached', why: expect.stringMatching(/^UNAVAILABLE: /) });
});

test('a key pair that cannot be read is a reason, not a crash, and shows no key', async () => {
  const texts = { certificate: 'no certificate', key: 'a secret', authority: 'none' };
  const pair = { ...texts, fingerprint: 'none' };
  const probe = await probed({ address: '127.0.0.1:1', pair });
  expect(probe).toMatchObject({ _tag: 'Unreached', why: expect.stringMatching(/.+/) });
  expect(JSON.stringify(probe)).not.toContain('secret');
});
