/**
 * Previous versions of a file: `FILE.1` is the newest of them.
 *
 * Promises: nothing is overwritten but the oldest of a bounded number; a device or a pipe is left
 * alone.
 */
import { rename, stat } from 'node:fs/promises';

/** Previous versions that are kept. */
export const PREVIOUS_FILES_MAX = 9;

const isRegular = async (file: string): Promise<boolean> => {
  try {
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
};

/** Moves `file` to `FILE.1`, that one to `FILE.2`, and so on. */
export const rotateFile = async (file: string): Promise<void> => {
  if (!await isRegular(file)) return;
  const names = [file];
  while (names.length <= PREVIOUS_FILES_MAX) {
    const name = `${file}.${names.length}`;
    names.push(name);
    if (!await isRegular(name)) break;
  }
  for (let at = names.length - 1; at > 0; at -= 1) {
    const [from, to] = [names[at - 1], names[at]];
    if (from !== undefined && to !== undefined) await rename(from, to);
  }
};
