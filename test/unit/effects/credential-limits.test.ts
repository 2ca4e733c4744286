/** Reads of credentials end, whatever the plugin does, and hold up no request. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Effect, Layer, ManagedRuntime } from 'effect';
import { afterEach, expect, test } from 'vitest';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { limitPlugins } from '../../../src/effects/exec-plugins.ts';
import { KubeApi } from '../../../src/effects/kube-api.ts';
import { kubeConnection } from '../../../src/effects/kube-connection.ts';
import { readCredentials, readKubeconfig } from '../../../src/effects/kubeconfig.ts';
import { json, startStubApi } from '../../support/api/stub-api.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A kubeconfig whose user is what the shell script `plugin` prints. */
const kubeconfigWith = async (server: string, plugin: string) => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-plugin-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  const path = join(folder, 'kubeconfig');
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'sh',
    args: ['-c', plugin, 'plugin', folder],
    interactiveMode: 'Never',
  };
  await writeFile(
    path,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'one',
      clusters: [{ name: 'one', cluster: { server } }],
      users: [{ name: 'one', user: { exec } }],
      contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
    }),
  );
  return { _tag: 'File', path } as const;
};

test('an exec plugin that never ends is killed, also when its child keeps the output open', async () => {
  const source = await kubeconfigWith('http://127.0.0.1:1', 'cat "$1/end"; echo');
  const end = join(dirname(source.path), 'end');
  execFileSync('mkfifo', [end]);
  const config = limitPlugins(await Effect.runPromise(readKubeconfig(source)), 200);
  await expect(readCredentials(config)).rejects.toThrow();
  await writeFile(end, '', { flag: 'r+' });
});

test('requests continue with the previous credentials while an exec plugin hangs', async () => {
  const stub = await startStubApi((_request, response) => json(response, 200, {}));
  cleanups.push(stub.stop);
  const credential = JSON.stringify({
    kind: 'ExecCredential',
    status: { token: 'first', expirationTimestamp: '2020-01-01T00:00:00Z' },
  });
  const source = await kubeconfigWith(
    `http://127.0.0.1:${stub.port}`,
    `if [ -e "$1/ran" ]; then exec sleep 15; fi; touch "$1/ran"; echo '${credential}'`,
  );
  const time = simulatedTime();
  const connection = kubeConnection({ source, version: '1', telemetry: silentTelemetry });
  const runtime = ManagedRuntime.make(
    Layer.provideMerge(Layer.orDie(connection), clockLayer(time)),
  );
  cleanups.push(() => runtime.dispose());
  const call = async () =>
    await runtime.runPromise(
      KubeApi.use((api) => api.call({ method: 'GET', path: '/api' })),
    );
  await call();
  for (let turn = 0; turn < 3; turn += 1) {
    await time.advance(31_000);
    const answered = call();
    await time.advance(1_000);
    expect((await answered).status).toBe(200);
  }
  expect(stub.requests.map(({ headers }) => headers.authorization))
    .toEqual(['Bearer first', 'Bearer first', 'Bearer first', 'Bearer first']);
});
