/**
 * The files of a release: the npm package, the image's files, the chart, the manifest for krew, the
 * bill of materials, and the checksums of all of them.
 *
 * Promises: archives have no times and no owners, so that the same files give the same archive.
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { binaries } from '../testbed/binaries.ts';
import { runCommand } from '../testbed/commands.ts';
import { PROGRAM } from './bundle.ts';
import { writeImageFiles } from './image-files.ts';
import { packageVersion, writePackage } from './npm-package.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NUMERIC = ['--owner=0', '--group=0', '--numeric-owner', '--mtime=@0', '--sort=name'];
/** A release cannot be made; the message has the remedy. */
export class ReleaseRefused extends Error {}

const must = async (file: string, args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(file, args, { cwd: ROOT });
  if (code !== 0) throw new ReleaseRefused(`${file} ${args[0]} failed: ${stderr.trim()}`);
  return stdout;
};

const sha256 = async (file: string): Promise<string> =>
  createHash('sha256').update(await readFile(file)).digest('hex');

/** What kubectl's package manager needs to install the command line as `kubectl tidegate`. */
const krewManifest = (version: string, { uri, hash }: {
  readonly uri: string;
  readonly hash: string;
}): object => ({
  apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
  kind: 'Plugin',
  metadata: { name: 'tidegate' },
  spec: {
    version: `v${version}`,
    homepage: 'https://tidegate.dev',
    shortDescription: 'See and steer drains, evictions and maintenances',
    description: 'Shows which nodes drain and what blocks them, asks pods to leave, plans ' +
      'maintenances before they run, and explains pods, nodes and requests.\n',
    caveats: 'It needs Node 24 in the PATH.\n',
    platforms: [{
      selector: {
        matchExpressions: [{ key: 'os', operator: 'In', values: ['linux', 'darwin'] }],
      },
      uri,
      sha256: hash,
      files: [{ from: 'package/*', to: '.' }],
      bin: PROGRAM,
    }],
  },
});

/** Throws unless CHANGELOG.md says what the version changes. */
export const checkChangelog = (changelog: string, version: string): void => {
  if (!changelog.split('\n').some((line) => line.startsWith(`## ${version} `))) {
    throw new ReleaseRefused(
      `CHANGELOG.md has no section "## ${version} (date)": write one, or set the version`,
    );
  }
};

/** Writes all files into a folder, which is emptied before; returns their names. */
export const writeRelease = async (
  folder: string,
  { baseUrl }: { readonly baseUrl: string },
): Promise<readonly string[]> => {
  const version = await packageVersion();
  checkChangelog(await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8'), version);
  await rm(folder, { recursive: true, force: true });
  const work = join(folder, 'work');
  await mkdir(work, { recursive: true });
  await writePackage(join(work, 'package'));
  const archive = `tidegate-${version}.tgz`;
  const packed = join(folder, archive);
  await must('tar', [...NUMERIC, '-C', work, '-czf', packed, 'package']);
  await writeImageFiles(join(work, 'image'));
  const image = join(folder, `tidegate-image-${version}-${process.arch}.tar.gz`);
  await must('tar', [...NUMERIC, '-C', join(work, 'image'), '-czf', image, '.']);
  const { helm } = await binaries(() => {});
  if (helm === undefined) throw new ReleaseRefused('helm is not there: unset KUBEBUILDER_ASSETS');
  const chart = join(work, 'chart');
  await must(helm, ['package', join(ROOT, 'charts/tidegate'), '--destination', chart]);
  await cp(
    join(chart, `tidegate-${version}.tgz`),
    join(folder, `tidegate-chart-${version}.tgz`),
  );
  const krew = krewManifest(version, { uri: `${baseUrl}/${archive}`, hash: await sha256(packed) });
  await writeFile(join(folder, 'krew.yaml'), stringify(krew));
  await cp(join(ROOT, 'docs/reference/sbom.cdx.json'), join(folder, 'sbom.cdx.json'));
  await rm(work, { recursive: true });
  const names = (await readdir(folder)).sort();
  const sums = names.map(async (name) => `${await sha256(join(folder, name))}  ${name}\n`);
  await writeFile(join(folder, 'SHA256SUMS'), (await Promise.all(sums)).join(''));
  return [...names, 'SHA256SUMS'];
};
