/** Directories of test beds, which do not accumulate: each start removes those of killed runs. */
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
    // No number yet: another process is creating it.
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
