/** TLS of the connection: trust, identity, and rotation. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { Effect, Layer, ManagedRuntime, Result } from 'effect';
import { afterEach, describe, expect, it } from 'vitest';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { type KubeAnswer, KubeApi, type KubeFault } from '../../../src/effects/kube-api.ts';
import { kubeConnection } from '../../../src/effects/kube-connection.ts';
import { type Authority, newAuthority, type Pair } from '../../support/processes/certificates.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A server that answers with the name in the client's certificate. */
const serve = async (authority: Authority, server: Pair): Promise<number> => {
  const listener = createServer({
    key: server.key,
    cert: server.certificate,
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: true,
  }, ({ socket }, response) => {
    const peer = socket instanceof TLSSocket ? socket.getPeerCertificate() : undefined;
    response.end(JSON.stringify({ peer: peer?.subject?.CN }));
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  cleanups.push(() =>
    new Promise((resolve) => {
      listener.closeAllConnections();
      listener.close(resolve);
    })
  );
  const address = listener.address();
  return typeof address === 'object' ? address?.port ?? 0 : 0;
};

interface Bed {
  readonly call: () => Promise<Result.Result<KubeAnswer, KubeFault>>;
  readonly useClient: (commonName: string) => Promise<void>;
  /** Writes a new certificate beside the old key. */
  readonly rotateHalf: () => Promise<void>;
  readonly loseFiles: () => Promise<void>;
  readonly refreshCredentials: () => Promise<void>;
}

const bed = async (trusted: Authority, serving: Authority): Promise<Bed> => {
  const server = serving.issue({ commonName: 'api', alternativeNames: ['IP:127.0.0.1'] });
  const port = await serve(serving, server);
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-tls-'));
  const loseFiles = () => rm(folder, { recursive: true, force: true });
  cleanups.push(loseFiles);
  const path = join(folder, 'kubeconfig');
  const useClient = async (commonName: string): Promise<void> => {
    const { certificate, key } = serving.issue({ commonName, alternativeNames: [] });
    await writeFile(join(folder, 'client.crt'), certificate);
    await writeFile(join(folder, 'client.key'), key);
  };
  await useClient('first');
  await writeFile(join(folder, 'ca.crt'), trusted.certificate);
  await writeFile(
    path,
    JSON.stringify({
      'current-context': 'tls',
      clusters: [{
        name: 'tls',
        cluster: { server: `https://127.0.0.1:${port}`, 'certificate-authority': 'ca.crt' },
      }],
      users: [{
        name: 'tls',
        user: { 'client-certificate': 'client.crt', 'client-key': 'client.key' },
      }],
      contexts: [{ name: 'tls', context: { cluster: 'tls', user: 'tls' } }],
    }),
  );
  const time = simulatedTime();
  const source = { _tag: 'File', path } as const;
  const connection = kubeConnection({ source, version: 'test', telemetry: silentTelemetry });
  const runtime = ManagedRuntime.make(
    Layer.orDie(Layer.provideMerge(connection, clockLayer(time))),
  );
  cleanups.push(() => runtime.dispose());
  return {
    call: () =>
      runtime.runPromise(
        Effect.result(KubeApi.use((api) => api.call({ method: 'GET', path: '/version' }))),
      ),
    useClient,
    rotateHalf: async () => {
      const { certificate } = serving.issue({ commonName: 'half', alternativeNames: [] });
      await writeFile(join(folder, 'client.crt'), certificate);
    },
    loseFiles,
    refreshCredentials: () => time.advance(31_000),
  };
};

describe('TLS to the API server', () => {
  it('presents the client certificate of the kubeconfig', async () => {
    const authority = newAuthority();
    const { call } = await bed(authority, authority);
    expect(Result.getOrThrow(await call()).body).toEqual({ peer: 'first' });
  });

  it('uses a new key pair for new connections once the files have changed', async () => {
    const authority = newAuthority();
    const { call, useClient, refreshCredentials } = await bed(authority, authority);
    await call();
    await useClient('second');
    expect(Result.getOrThrow(await call()).body).toEqual({ peer: 'first' });
    await refreshCredentials();
    expect(Result.getOrThrow(await call()).body).toEqual({ peer: 'second' });
  });

  it('keeps its key pair when the files cannot be read', async () => {
    const authority = newAuthority();
    const { call, loseFiles, refreshCredentials } = await bed(authority, authority);
    await call();
    await loseFiles();
    await refreshCredentials();
    expect(Result.getOrThrow(await call()).body).toEqual({ peer: 'first' });
  });

  it('keeps its key pair in the middle of a rotation', async () => {
    const authority = newAuthority();
    const { call, rotateHalf, useClient, refreshCredentials } = await bed(authority, authority);
    await call();
    await rotateHalf();
    await refreshCredentials();
    expect(Result.getOrThrow(await call()).body).toEqual({ peer: 'first' });
    await useClient('second');
    await refreshCredentials();
    expect(Result.getOrThrow(await call()).body).toEqual({ peer: 'second' });
  });

  it('sends nothing to a server that it does not trust', async () => {
    const { call } = await bed(newAuthority('trusted'), newAuthority('other'));
    const result = await call();
    expect(Result.isFailure(result) && result.failure._tag).toBe('NotSent');
  });
});
