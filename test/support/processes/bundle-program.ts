/**
 * Bundles `tidegate` once for all processes of a run: see `program.ts`.
 *
 * Promises: always the source as it is now; the bundle ends with the run.
 */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleProgram } from '../../../tools/package/bundle.ts';
import { newDirectory } from '../../../tools/testbed/directories.ts';
import { bundleFolder, setBundleFolder } from '../../../tools/testbed/environment.ts';

/** Bundles, unless it has; returns what takes the bundle away. Called by vitest per project. */
export const setup = async (): Promise<() => Promise<void>> => {
  if (bundleFolder() !== undefined) return () => Promise.resolve();
  const folder = await newDirectory();
  await bundleProgram(folder);
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n');
  setBundleFolder(folder);
  return async () => {
    setBundleFolder(undefined);
    // A process that ends writes what it compiled.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  };
};
