/**
 * The npm package `tidegate`: the bundled program, with no dependency to install.
 *
 * Promises: it has the licences of everything that is in it.
 */
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseJson, recordAt, textAt } from '../../src/domain/json.ts';
import { shippedPackages } from '../shipped-packages.ts';
import { bundleProgram, PROGRAM } from './bundle.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LICENCE_FILE = /^licen[cs]e/i;

/** The version of this checkout. */
export const packageVersion = async (): Promise<string> =>
  textAt(parseJson(await readFile(join(ROOT, 'package.json'), 'utf8')), 'version') ?? '';

/** The manifest for users: nothing of how the project is built. */
const manifest = async (): Promise<string> => {
  const own = parseJson(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const text = (key: string): string => textAt(own, key) ?? '';
  return JSON.stringify(
    {
      name: text('name'),
      version: text('version'),
      description: text('description'),
      homepage: text('homepage'),
      license: text('license'),
      keywords: ['kubernetes', 'operator', 'drain', 'eviction', 'autoscaler', 'kubectl-plugin'],
      type: 'module',
      engines: recordAt(own, 'engines'),
      // kubectl finds a plugin by the name of its file.
      bin: { 'tidegate': PROGRAM, 'kubectl-tidegate': PROGRAM },
    },
    null,
    2,
  );
};

const licenceText = async (path: string): Promise<string> => {
  const names = await readdir(join(ROOT, path));
  const texts = names.filter((name) => LICENCE_FILE.test(name))
    .map((name) => readFile(join(ROOT, path, name), 'utf8'));
  return (await Promise.all(texts)).join('\n');
};

/** The names, licences and texts of the libraries in the bundle. */
const notices = async (): Promise<string> => {
  const parts = shippedPackages()
    .filter(({ path }) => path.includes('node_modules/'))
    .map(async ({ name, version, licence, path }) =>
      `${name} ${version}: ${licence}\n\n${await licenceText(path)}`
    );
  return (await Promise.all(parts)).join(`\n${'-'.repeat(80)}\n\n`);
};

/** Writes the package into a folder, which is emptied before. */
export const writePackage = async (
  folder: string,
  options: { readonly node?: string } = {},
): Promise<void> => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await bundleProgram(folder, options);
  for (const name of ['README.md', 'LICENSE']) await cp(join(ROOT, name), join(folder, name));
  await writeFile(join(folder, 'package.json'), `${await manifest()}\n`);
  await writeFile(join(folder, 'THIRD-PARTY-LICENSES.txt'), await notices());
};
