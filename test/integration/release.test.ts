/** What a release consists of: its archives, and that its changelog is complete. */
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { packageVersion } from '../../tools/package/npm-package.ts';
import { checkChangelog, writeRelease } from '../../tools/package/release-files.ts';
import { binaries } from '../../tools/testbed/binaries.ts';
import { describeWithBinaries } from '../support/api/testbed.ts';
import { must, newFolder, NODE } from '../support/processes/required-command.ts';

const PATIENT_MS = 120_000;

describeWithBinaries('a release', () => {
  test('has an archive of everything, and their checksums', { timeout: PATIENT_MS }, async () => {
    const folder = join(await newFolder(), 'release');
    const version = await packageVersion();
    const names = await writeRelease(folder, { baseUrl: 'https://files.example.com' });
    expect(names).toEqual([
      'krew.yaml',
      'sbom.cdx.json',
      `tidegate-${version}.tgz`,
      `tidegate-chart-${version}.tgz`,
      `tidegate-image-${version}-${process.arch}.tar.gz`,
      'SHA256SUMS',
    ]);
    const checked = await must('sha256sum', ['--check', 'SHA256SUMS'], { cwd: folder });
    expect(checked.match(/: OK$/gm)).toHaveLength(names.length - 1);
    const [platform] = listOrEmptyAt(
      parse(await readFile(join(folder, 'krew.yaml'), 'utf8')),
      'spec',
      'platforms',
    );
    const sums = await readFile(join(folder, 'SHA256SUMS'), 'utf8');
    expect(sums).toContain(`${textAt(platform, 'sha256')}  tidegate-${version}.tgz`);
    // As krew puts the plugin there, and links to it.
    const store = await newFolder();
    await must('tar', ['-C', store, '-xzf', join(folder, `tidegate-${version}.tgz`)]);
    const link = join(store, 'kubectl-tidegate');
    await symlink(join(store, 'package', textAt(platform, 'bin') ?? ''), link);
    const env = { PATH: `${store}:${NODE}:${process.env['PATH']}` };
    const { kubectl } = await binaries(() => {});
    expect(await must(kubectl, ['tidegate', 'version'], { env })).toContain(version);
  });

  test('is refused when the changelog does not say what it changes', () => {
    expect(() => checkChangelog('# Changelog\n\n## 0.1.0 (2026-01-01)\n', '0.1.0')).not.toThrow();
    expect(() => checkChangelog('# Changelog\n\n## 0.1.0 (2026-01-01)\n', '0.2.0'))
      .toThrow('CHANGELOG.md has no section "## 0.2.0 (date)"');
  });
});
