/** A file of lines: no line is lost or torn, and its end reports write errors. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openLineFile } from '../../../src/observability/line-file.ts';

const newFile = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-lines-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'lines');
};

test('lines of all lengths are in the file, in order', async () => {
  const file = await newFile();
  const { put, flush, close } = await openLineFile(file);
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
  const { put, flush, waitingBytes, close } = await openLineFile(file);
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
  const { put, flush, waitingBytes, close } = await openLineFile(await newFile());
  put('four');
  expect(waitingBytes()).toBe(0);
  flush();
  expect(waitingBytes()).toBe(5);
  await close();
  expect(waitingBytes()).toBe(0);
});

test('a file that cannot be opened is an error', async () => {
  await expect(openLineFile('/nowhere/at/all')).rejects.toThrow(/ENOENT|No such file/);
});

test('a full disk is reported at the end', async () => {
  const { put, close } = await openLineFile('/dev/full');
  put('one');
  await expect(close()).rejects.toThrow(/ENOSPC|No space left/);
});
