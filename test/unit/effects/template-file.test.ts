/** The text of a file that a person maintains. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Effect } from 'effect';
import { expect, onTestFinished, test } from 'vitest';
import { readTextFile } from '../../../src/effects/template-file.ts';

test('a file is read as it is, and a missing one is named with the cause', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-text-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'template');
  const read = () => Effect.runPromise(readTextFile(path));
  expect(await read()).toEqual({
    _tag: 'Unreadable',
    problem: `Cannot read "${path}": ENOENT: no such file or directory, open '${path}'`,
  });
  await writeFile(path, 'text\n');
  expect(await read()).toEqual({ _tag: 'Text', text: 'text\n' });
});
