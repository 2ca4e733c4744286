/**
 * The folder of a demo.
 *
 * Promises: a demo that was killed leaves its folder only until the next demo starts; the folder of
 * a running demo is never removed.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

const PREFIX = 'tidegate-demo-';
/** The process that made a folder is in its name. */
const NAME = /^tidegate-demo-(\d+)-\w+$/;

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};

const removeAbandoned = async (folder: string): Promise<void> => {
  const names = await readdir(folder);
  const abandoned = names.filter((name) => {
    const pid = NAME.exec(name)?.[1];
    return pid !== undefined && !isRunning(Number(pid));
  });
  // A folder of another user stays.
  await Promise.all(
    abandoned.map((name) =>
      rm(join(folder, name), { recursive: true, force: true }).catch(() => {})
    ),
  );
};

/** Makes the folder of this process's demo, and removes those of demos that were killed. */
export const demoFolder = async (parent: string = tmpdir()): Promise<string> => {
  await removeAbandoned(parent);
  return await mkdtemp(join(parent, `${PREFIX}${process.pid}-`));
};
