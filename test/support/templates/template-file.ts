/** A bootstrap template in its own file. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Writes it and returns its path. Must be called inside a test, which removes it. */
export const templateFile = async (text: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-template-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'user-data');
  await writeFile(path, text);
  return path;
};
