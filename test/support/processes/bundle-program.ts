/**
 * Bundles `tidegate` once for all processes of a run: see `program.ts`.
 *
 * Promises: always the source as it is now; the bundle ends with the run.
 */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';
import { newDirectory } from '../../../tools/testbed/directories.ts';
import { bundleFolder, setBundleFolder } from '../../../tools/testbed/environment.ts';
import { inRepository } from './program.ts';

const bundle = (folder: string) =>
  build({
    root: inRepository('.'),
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    ssr: { noExternal: true },
    build: {
      ssr: true,
      target: 'node24',
      outDir: folder,
      emptyOutDir: false,
      minify: false,
      rolldownOptions: {
        input: {
          'main': inRepository('src/main.ts'),
          'demo-operator': inRepository('src/demo-operator.ts'),
        },
        // In one folder: the demo finds its operator beside itself.
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  });

/** Bundles, unless it has; returns what takes the bundle away. Called by vitest per project. */
export const setup = async (): Promise<() => Promise<void>> => {
  if (bundleFolder() !== undefined) return () => Promise.resolve();
  const folder = await newDirectory();
  await bundle(folder);
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n');
  await writeFile(join(folder, 'demo-operator.ts'), "import './demo-operator.js';\n");
  setBundleFolder(folder);
  return async () => {
    setBundleFolder(undefined);
    // A process that ends writes what it compiled.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  };
};
