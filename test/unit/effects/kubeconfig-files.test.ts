/** The files of a kubeconfig: read as kubectl reads them. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Effect } from 'effect';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readCredentials, readKubeconfig } from '../../../src/effects/kubeconfig.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidegate-kubeconfig-'));
});
afterEach(() => rm(folder, { recursive: true }));

const SERVERS = { a: 'https://a.example', b: 'https://b.example' } as const;

/** A context, cluster and user of this name. */
const entriesOf = (name: keyof typeof SERVERS, user: object = { token: name }) => ({
  clusters: [{ name, cluster: { server: SERVERS[name] } }],
  users: [{ name, user }],
  contexts: [{ name, context: { cluster: name, user: name } }],
});

const written = async (name: string, content: object | string): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

/** What requests would go out with, with these files in KUBECONFIG. */
const credentialsOf = async (paths: readonly string[], context?: string) => {
  const source = { _tag: 'Default', ...(context === undefined ? {} : { context }) } as const;
  const config = await Effect.runPromise(readKubeconfig(source, paths.join(delimiter)));
  const { server, headers } = await readCredentials(config);
  return [server.host, headers['authorization']];
};

test('of several files the first current context counts', async () => {
  const a = await written('a', { 'current-context': 'a', ...entriesOf('a') });
  const b = await written('b', { 'current-context': 'b', ...entriesOf('b') });
  const without = await written('without', entriesOf('a'));
  expect(await credentialsOf([a, b])).toEqual(['a.example', 'Bearer a']);
  expect(await credentialsOf([b, a])).toEqual(['b.example', 'Bearer b']);
  expect(await credentialsOf([without, b])).toEqual(['b.example', 'Bearer b']);
  expect(await credentialsOf([a, b], 'b')).toEqual(['b.example', 'Bearer b']);
});

test('of several files the first entry of a name counts', async () => {
  const first = await written('first', { 'current-context': 'a', ...entriesOf('a') });
  const second = await written('second', entriesOf('a', { token: 'another' }));
  expect(await credentialsOf([first, second])).toEqual(['a.example', 'Bearer a']);
  expect(await credentialsOf([second, first])).toEqual(['a.example', 'Bearer another']);
});

test('of several files those that do not exist or are empty are left out', async () => {
  const empty = await written('empty', '\n');
  const b = await written('b', { 'current-context': 'b', ...entriesOf('b') });
  expect(await credentialsOf([join(folder, 'absent'), empty, b])).toEqual([
    'b.example',
    'Bearer b',
  ]);
});

test.each([
  ['a file that does not exist', (path: string) => path, /ENOENT.*absent/],
  ['no file', () => delimiter, /KUBECONFIG names no file/],
])('KUBECONFIG with %s is refused', async (_, variable, problem) => {
  const reading = readKubeconfig({ _tag: 'Default' }, variable(join(folder, 'absent')));
  const read = await Effect.runPromise(Effect.result(reading));
  expect(read._tag === 'Failure' ? read.failure.message : '').toMatch(problem);
});

test('a token file comes before a token, and is relative to the kubeconfig', async () => {
  await written('token', 'from-a-file\n');
  const user = { token: 'inline', tokenFile: 'token' };
  const path = await written('a', { 'current-context': 'a', ...entriesOf('a', user) });
  expect(await credentialsOf([path])).toEqual(['a.example', 'Bearer from-a-file']);
});

test('a token stays in use while its file does not exist', async () => {
  const user = { token: 'inline', tokenFile: 'absent' };
  const path = await written('a', { 'current-context': 'a', ...entriesOf('a', user) });
  expect(await credentialsOf([path])).toEqual(['a.example', 'Bearer inline']);
});

test('a kubeconfig without a current context, or without anything, says what to do', async () => {
  const problem = /^Cannot use the kubeconfig: it has no current context; name one with --context$/;
  await expect(credentialsOf([await written('a', entriesOf('a'))])).rejects.toThrow(problem);
  await expect(credentialsOf([await written('empty', '')])).rejects.toThrow(problem);
});

test('a kubeconfig may come from a pipe', async () => {
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  // A process of its own: the read holds this one until everything is written.
  spawn('cp', [await written('a', { 'current-context': 'a', ...entriesOf('a') }), path]);
  const read = () => Effect.runPromise(readKubeconfig({ _tag: 'File', path }));
  expect((await read()).getCurrentContext()).toBe('a');
  // As after a 401: nobody writes any more.
  expect((await read()).getCurrentContext()).toBe('a');
});

test('a token file that does not exist fails in one sentence', async () => {
  const user = { tokenFile: 'absent' };
  const path = await written('a', { 'current-context': 'a', ...entriesOf('a', user) });
  await expect(credentialsOf([path])).rejects.toThrow(/^Cannot use the kubeconfig: ENOENT/);
});
