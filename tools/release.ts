/**
 * `npm run release -- --dry-run`: writes the files of a release to `dist/release`. Without the flag
 * it also tags the commit, whose tree must be clean; nothing is published by it.
 *
 * Promises: exit code 1, with the remedy, when a release cannot be made.
 */
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { packageVersion } from './package/npm-package.ts';
import { ReleaseRefused, writeRelease } from './package/release-files.ts';
import { runCommand } from './testbed/commands.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const HELP = `Usage: npm run release -- [flags]

Writes the npm package, the files of the image, the chart, the manifest for krew, the bill of
materials and their checksums to dist/release, and tags the commit.

  --dry-run      without the tag; the tree may have changes
  --url URL      where the files will be, for the manifest (default https://tidegate.dev/releases/V)
  --help         print this
`;

const git = async (...args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await runCommand('git', args, { cwd: ROOT });
  if (code !== 0) throw new ReleaseRefused(`git ${args[0]} failed: ${stderr.trim()}`);
  return stdout.trim();
};

const release = async (isDry: boolean, url: string | undefined): Promise<void> => {
  if (!isDry && await git('status', '--porcelain') !== '') {
    throw new ReleaseRefused('The tree has changes: commit them, or use --dry-run');
  }
  const tag = `v${await packageVersion()}`;
  const folder = join(ROOT, 'dist/release');
  const baseUrl = url ?? `https://tidegate.dev/releases/${tag}`;
  for (const name of await writeRelease(folder, { baseUrl })) {
    process.stdout.write(`${join('dist/release', name)}\n`);
  }
  if (isDry) return;
  await git('tag', '--annotate', tag, '--message', tag);
  process.stdout.write(`Tagged ${tag}: push it, and publish the files\n`);
};

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    url: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(HELP);
else {
  try {
    await release(values['dry-run'], values.url);
  } catch (error) {
    if (!(error instanceof ReleaseRefused)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
