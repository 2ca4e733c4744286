/**
 * A lock between builder processes.
 *
 * The lock only saves work: builds are published with one atomic rename, so two builders at once,
 * possible when two others break a dead one's lock together, are wasteful but harmless.
 */
import { open, readFile, rm } from 'node:fs/promises';
import { eventually } from './waiting.ts';

const LOCK_TIMEOUT_MS = 30 * 60 * 1000;
const LOCK_LOOK_MS = 500;

/** Whether a process with this number exists. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (problem) {
    return problem instanceof Error && 'code' in problem && problem.code === 'EPERM';
  }
};

const taken = async (path: string): Promise<boolean> => {
  try {
    const file = await open(path, 'wx');
    await file.writeFile(String(process.pid));
    await file.close();
    return true;
  } catch (problem) {
    if (!(problem instanceof Error && 'code' in problem && problem.code === 'EEXIST')) {
      throw problem;
    }
    return false;
  }
};

const breakWhenAbandoned = async (path: string): Promise<void> => {
  const holder = Number(await readFile(path, 'utf8').catch(() => ''));
  // An empty file is a lock whose holder has not yet written its number, or never will.
  if (holder > 0 && !isRunning(holder)) await rm(path, { force: true });
};

/** Runs `work` while holding the lock file at `path`; its folder must exist. */
export const locked = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
  await eventually(async () => {
    if (await taken(path)) return true;
    await breakWhenAbandoned(path);
    return false;
  }, { what: `the lock ${path}`, timeoutMs: LOCK_TIMEOUT_MS, everyMs: LOCK_LOOK_MS });
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
};
