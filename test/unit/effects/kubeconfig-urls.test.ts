/** The URLs of a kubeconfig: what cannot be used is refused, and no password in it is quoted. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Effect } from 'effect';
import { expect, onTestFinished, test } from 'vitest';
import { readKubeconfig } from '../../../src/effects/kubeconfig.ts';

/** Why a kubeconfig with this cluster cannot be used; undefined when it can. */
const problemWith = async (cluster: object): Promise<string | undefined> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-kubeconfig-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'kubeconfig');
  const config = {
    'current-context': 'one',
    clusters: [{ name: 'one', cluster }],
    users: [{ name: 'one', user: {} }],
    contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
  };
  await writeFile(path, JSON.stringify(config));
  const read = await Effect.runPromise(Effect.result(readKubeconfig({ _tag: 'File', path })));
  return read._tag === 'Failure' ? read.failure.message : undefined;
};

const SERVER = 'https://127.0.0.1:6443';

test.each([
  { cluster: { server: SERVER }, problem: undefined },
  { cluster: { server: 'http://127.0.0.1:8080' }, problem: undefined },
  {
    cluster: { server: 'prod:6443/' },
    problem: 'the server does not begin with https:// or http://',
  },
  { cluster: { server: '//me:secret@a' }, problem: 'the server is not a URL' },
  { cluster: { server: SERVER, 'proxy-url': 'http://me:secret@a:3128' }, problem: undefined },
  {
    cluster: { server: SERVER, 'proxy-url': 'ftp://me:secret@a' },
    problem: 'the proxy-url does not begin with https:// or http://',
  },
  {
    cluster: { server: SERVER, 'proxy-url': 'socks5://me:secret@a' },
    problem: 'a SOCKS proxy-url is not supported',
  },
])('$cluster: $problem', async ({ cluster, problem }) => {
  const found = await problemWith(cluster);
  expect(found).toBe(problem === undefined ? undefined : `Cannot use the kubeconfig: ${problem}`);
});
