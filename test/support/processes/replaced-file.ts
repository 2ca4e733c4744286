/** Files that a process follows. */
import { rename, writeFile } from 'node:fs/promises';

/** Replaces a file at once, as a mounted volume does: a reader never sees it empty. */
export const replaceFile = async (path: string, text: string): Promise<void> => {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
};
