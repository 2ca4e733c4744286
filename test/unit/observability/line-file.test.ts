/** A file of lines: no line is lost or torn, and its end reports write errors. */
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { PREVIOUS_FILES_MAX } from '../../../src/observability/file-rotation.ts';
import { openLineFile } from '../../../src/observability/line-file.ts';

const OPTIONS = {
  onFailure: (failure: Error) => {
    throw failure;
  },
};

const newFile = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-lines-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'lines');
};

test('lines of all lengths are in the file, in order', async () => {
  const file = await newFile();
  const { put, flush, close } = await openLineFile(file, OPTIONS);
  const lines = [0, 1, 200_000, 3, 90_000, 1_000_000, 5].map((length) => 'ä'.repeat(length));
  lines.forEach(put);
  flush();
  flush();
  put('🌊 the end');
  await close();
  expect(await readFile(file, 'utf8')).toBe([...lines, '🌊 the end', ''].join('\n'));
});

test('lines stay intact while the disk writes them, and buffers are reused', async () => {
  const file = await newFile();
  const { put, flush, waitingBytes, close } = await openLineFile(file, OPTIONS);
  const lines = Array.from({ length: 60 }, (_, at) => String(at % 10).repeat(50_000));
  for (const [at, line] of lines.entries()) {
    put(line);
    if (at % 2 === 0) continue;
    flush();
    if (at % 12 === 11) await expect.poll(waitingBytes).toBe(0);
  }
  await close();
  expect((await readFile(file, 'utf8')).split('\n')).toEqual([...lines, '']);
});

test('buffered lines are counted until they are on the disk', async () => {
  const { put, flush, waitingBytes, close } = await openLineFile(await newFile(), OPTIONS);
  put('four');
  expect(waitingBytes()).toBe(0);
  flush();
  expect(waitingBytes()).toBe(5);
  await close();
  expect(waitingBytes()).toBe(0);
});

test('a file that cannot be opened is an error', async () => {
  await expect(openLineFile('/nowhere/at/all', OPTIONS)).rejects.toThrow(/ENOENT|No such file/);
});

test('a full disk is reported at once and once, and the end is no error', async () => {
  const failures: string[] = [];
  const { put, flush, close } = await openLineFile('/dev/full', {
    onFailure: ({ message }) => failures.push(message),
  });
  put('one');
  flush();
  await expect.poll(() => failures).toEqual([expect.stringMatching(/ENOSPC|No space left/)]);
  put('two');
  await close();
  expect(failures.length).toBe(1);
});

test('only the owner can read the file', async () => {
  const file = await newFile();
  const { close } = await openLineFile(file, OPTIONS);
  await close();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a restart keeps the previous files, and all but the oldest of too many', async () => {
  const file = await newFile();
  for (let start = 0; start < PREVIOUS_FILES_MAX + 3; start += 1) {
    const { put, close } = await openLineFile(file, OPTIONS);
    put(`start ${start}`);
    await close();
  }
  const last = PREVIOUS_FILES_MAX + 2;
  for (let age = 0; age <= PREVIOUS_FILES_MAX; age += 1) {
    const name = age === 0 ? file : `${file}.${age}`;
    expect(await readFile(name, 'utf8')).toBe(`start ${last - age}\n`);
  }
  expect((await readdir(dirname(file))).length).toBe(PREVIOUS_FILES_MAX + 1);
});

test('a file that grows too large is rotated without the loss of a line', async () => {
  const file = await newFile();
  const { put, flush, waitingBytes, close } = await openLineFile(file, {
    ...OPTIONS,
    bytesMax: 2_000,
    firstLine: () => 'head',
  });
  const lines = Array.from({ length: 6 }, (_, at) => String(at).repeat(900));
  for (const line of lines) {
    put(line);
    flush();
    await expect.poll(waitingBytes).toBe(0);
    await new Promise((resolve) => void setImmediate(resolve));
  }
  await close();
  const names = (await readdir(dirname(file))).sort().reverse();
  expect(names.length).toBeGreaterThan(1);
  const texts = await Promise.all(
    names.map((name) => readFile(join(dirname(file), name), 'utf8')),
  );
  expect(texts.join('').split('\n').filter((line) => line !== 'head')).toEqual([...lines, '']);
  expect(texts.slice(1).every((text) => text.startsWith('head\n'))).toBe(true);
});
