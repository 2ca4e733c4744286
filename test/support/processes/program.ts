/**
 * The program that tests start: `src/main.ts`, or a bundle of it that starts in a quarter of the
 * time.
 *
 * Node strips the types of 313 files and loads 1,900 modules in every process, for 1.8 s of
 * processor time; a bundle takes 0.45 s. What can differ between them is tested from the source:
 * `test/unit/testbed`, `test/e2e/smoke.test.ts` on both runtimes, and the documented commands.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROGRAM } from '../../../tools/package/bundle.ts';
import { bundleFolder } from '../../../tools/testbed/environment.ts';

/** The runtimes that the source must run on. */
export type Runtime = 'node' | 'deno';

/** The runtime that this test runs on. */
export const thisRuntime: Runtime = 'deno' in process.versions ? 'deno' : 'node';

/** A path in the repository. */
export const inRepository = (path: string): string =>
  fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** What to execute: a file and its first arguments. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

const mainOf = (isSource: boolean): string => {
  const folder = isSource ? undefined : bundleFolder();
  return folder === undefined ? inRepository('src/main.ts') : join(folder, PROGRAM);
};

/** `tidegate` under a runtime; from its source where the loading of the source is tested. */
export const tidegateCommand = (
  { runtime = thisRuntime, isSource = false }: {
    readonly runtime?: Runtime;
    readonly isSource?: boolean;
  } = {},
): Command => ({
  file: inRepository(`node_modules/.bin/${runtime}`),
  args: [...(runtime === 'deno' ? ['run', '-A', '-q'] : []), mainOf(isSource)],
});
