/**
 * Folders of test beds, which do not pile up: what a killed run left goes when the next one starts.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from './locks.ts';

const root = join(tmpdir(), 'tidegate-testbeds');
const OWNER_FILE = 'owner.pid';

const sweep = async (): Promise<void> => {
  for (const name of await readdir(root)) {
    const directory = join(root, name);
    const owner = Number(await readFile(join(directory, OWNER_FILE), 'utf8').catch(() => ''));
    // No number yet: somebody is just making it.
    if (owner > 0 && !isRunning(owner)) await rm(directory, { recursive: true, force: true });
  }
};

/** A new, empty folder that belongs to this process. */
export const newDirectory = async (): Promise<string> => {
  await mkdir(root, { recursive: true });
  await sweep();
  const directory = await mkdtemp(join(root, 'bed-'));
  await writeFile(join(directory, OWNER_FILE), String(process.pid));
  return directory;
};
