/** The program as a separate process, on the runtime of this test: exit codes and outputs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { event, json, startStubApi } from '../../support/api/stub-api.ts';
import { rawRequest } from '../../support/eviction-requests/request-fixture.ts';

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const RUN_TYPESCRIPT = 'Deno' in globalThis ? ['run', '-A', MAIN] : [MAIN];

const folders: string[] = [];
/** What the first program compiled, for those after it. */
const compiled = mkdtempSync(join(tmpdir(), 'tidegate-compiled-'));
folders.push(compiled);
afterAll(async () => {
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true })));
});

const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-cli-'));
  folders.push(folder);
  return folder;
};

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const started = (
  given: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) =>
  spawn(process.execPath, [...RUN_TYPESCRIPT, ...given], {
    env: {
      PATH: process.env['PATH'],
      HOME: '/nonexistent',
      // Half of the processor time of a start is to read the sources.
      NODE_COMPILE_CACHE: compiled,
      ...environment,
    },
  });

const run = (
  given: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> =>
  new Promise((resolve) => {
    const child = started(given, environment);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });

/** Starts a program, waits for its first output, and sends it signals. */
const signalled = (
  script: readonly string[],
  signals: readonly NodeJS.Signals[],
): Promise<number | null> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [...script], { stdio: ['ignore', 'ignore', 'pipe'] });
    let waiting = [...signals];
    child.stderr.on('data', () => {
      const [next, ...rest] = waiting;
      waiting = rest;
      if (next !== undefined && child.pid !== undefined) process.kill(child.pid, next);
    });
    child.on('close', (code) => resolve(code));
  });

const kubeconfig = (port: number): string =>
  JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
    clusters: [{ name: 'k', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'u', user: { token: 't' } }],
  });

const kubeconfigFile = async (port: number): Promise<string> => {
  const file = join(await newFolder(), 'config');
  await writeFile(file, kubeconfig(port));
  return file;
};

test('exit code 0: --version says the version on stdout', async () => {
  const ended = await run(['--version']);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toMatch(/^tidegate \d/);
});

test('completion prints a script for the shell', async () => {
  const ended = await run(['completion', 'bash']);
  expect(ended.code).toBe(0);
  expect(ended.stdout).toContain('complete -F _tidegate tidegate');
});

test('exit code 2: a missing --cluster-id is one line on stderr', async () => {
  expect(await run(['operator', '--shard-addr=a:1'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'Cannot start without --cluster-id: the fleet must identify the cluster; add ' +
      '--cluster-id=ID or set TIDEGATE_CLUSTER_ID\n',
  });
});

test('exit code 2: an invalid variable is named', async () => {
  const ended = await run(['-cluster-id', 'c', '-shard-addr', 'a:1'], { TIDEGATE_QPS: 'fast' });
  expect(ended).toEqual({
    code: 2,
    stdout: '',
    stderr: 'Cannot use TIDEGATE_QPS "fast": it is not a rate; write a number above 0\n',
  });
});

test('exit code 2: incomplete TLS files stop the operator and the fleet', async () => {
  const operator = await run(['--cluster-id=c', '--shard-addr=a:1', '--tls-key=k.pem']);
  const fleet = await run(['fleet', '--tls-cert=c.pem']);
  expect([operator.code, fleet.code]).toEqual([2, 2]);
  expect(operator.stderr.trimEnd().split('\n')).toHaveLength(1);
});

test('exit code 2: an operator without TLS files that is not told to use plaintext', async () => {
  const refused = await run(['--cluster-id=c', '--shard-addr=a:1']);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/^Cannot start without --tls-cert.*--insecure-plaintext.*\n$/);
});

test('exit code 2: a missing kubeconfig', async () => {
  const ended = await run(['explain', 'machine', 'm-1', '--kubeconfig=/nonexistent/config']);
  expect(ended.code).toBe(2);
  expect(ended.stderr).toMatch(/^Cannot use --kubeconfig "\/nonexistent\/config": .*\n$/);
});

test('exit code 2: an operator with a missing kubeconfig', async () => {
  const ended = await run([
    '--cluster-id=c',
    '--shard-addr=localhost:1',
    '--insecure-plaintext',
    '--kubeconfig=/nonexistent/config',
    '--metrics-addr=0',
    '--health-addr=0',
  ]);
  expect(ended.code).toBe(2);
  expect(ended.stderr).toMatch(/^Cannot use --kubeconfig "\/nonexistent\/config": .*\n$/);
});

test('exit code 1: an operator whose address is in use', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  try {
    const file = await kubeconfigFile(1);
    const ended = await run([
      '--cluster-id=c',
      '--shard-addr=localhost:1',
      '--insecure-plaintext',
      `--kubeconfig=${file}`,
      `--health-addr=127.0.0.1:${port}`,
      '--metrics-addr=0',
    ]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/^Cannot listen on "127\.0\.0\.1:\d+" for \/healthz.*\n$/);
  } finally {
    server.close();
  }
});

test('exit code 2: a missing context', async () => {
  const file = await kubeconfigFile(1);
  const ended = await run(['explain', 'machine', 'm-1', '--kubeconfig', file, '--context=other']);
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain('context "other" is not in the kubeconfig');
});

test('exit code 4: an unreachable cluster', async () => {
  const file = await kubeconfigFile(1);
  const ended = await run(['explain', 'machine', 'm-1', '--kubeconfig', file]);
  expect(ended.code).toBe(4);
  expect(ended.stderr).toMatch(/^Cannot reach the API server: .*\n$/);
});

test('exit code 3: a missing object', async () => {
  const server = createServer((request, response) => {
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ kind: 'Status', code: 404, details: { name: 'x' } }));
    request.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  try {
    const file = await kubeconfigFile(port);
    const ended = await run(['explain', 'cr', 'team-a/none', '--kubeconfig', file]);
    expect(ended).toEqual({
      code: 3,
      stdout: '',
      stderr: 'Cannot find CapacityRequest "team-a/none": it does not exist\n',
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('exit code 0: a watch ends with the first change that its closed pipe does not take', async () => {
  const { promise: watch, resolve: onWatch } = Promise.withResolvers<ServerResponse>();
  const api = await startStubApi(({ query }, response) => {
    if (query.has('watch')) return onWatch(response);
    const resources = [{ name: 'evictionrequests' }];
    json(response, 200, { resources, metadata: { resourceVersion: '10' }, items: [rawRequest()] });
  });
  onTestFinished(api.stop);
  const file = await kubeconfigFile(api.port);
  const child = started(['evictions', '-A', '--watch', '-o', 'name', '--kubeconfig', file]);
  onTestFinished(() => void child.kill());
  const exited = once(child, 'exit');
  const [first] = await once(child.stdout, 'data');
  expect(String(first)).toMatch(/^evictionrequest\..*\n$/);
  const closed = once(child.stdout, 'close');
  child.stdout.destroy();
  await closed;
  event(await watch, 'ADDED', rawRequest({ metadata: { name: 'another' } }));
  expect(await exited).toEqual([0, null]);
});

test.each(['SIGTERM', 'SIGINT'] as const)('exit code 0: %s stops a fleet', async (signal) => {
  const flags = ['fleet', '--listen=127.0.0.1:0', '--script-listen=0', '--seed-machines=1'];
  expect(await signalled([...RUN_TYPESCRIPT, ...flags], [signal])).toBe(0);
});

test('exit code 1: a second signal does not wait for a hanging stop', async () => {
  const signals = new URL('../../../src/cli/signals.ts', import.meta.url);
  const script = `import { endingSignal } from '${signals.href}';
    const say = () => process.stderr.write('x');
    endingSignal().then(say);
    setInterval(() => {}, 1000);
    say();`;
  const file = join(await newFolder(), 'hangs.ts');
  await writeFile(file, script);
  const asked = 'Deno' in globalThis ? ['run', '-A', file] : [file];
  expect(await signalled(asked, ['SIGTERM', 'SIGTERM'])).toBe(1);
});
