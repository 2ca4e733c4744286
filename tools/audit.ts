/**
 * `npm run audit`: asks the registry for advisories about the packages that ship.
 *
 * Promises: exit code 1 for an advisory of severity high or critical. A registry that has none, or
 * that cannot be reached, is reported as "not run", with the reason, and fails with `--require`
 * only: CI needs no network after its install.
 */
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseJson } from '../src/domain/json.ts';
import { shippedPackages } from './shipped-packages.ts';
import { auditReport } from './suites/audit-report.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TIMEOUT_MS = 60_000;

const { stdout, error } = spawnSync('npm', ['audit', '--json'], {
  cwd: ROOT,
  encoding: 'utf8',
  timeout: TIMEOUT_MS,
});
const shipped = shippedPackages();
const report = error === undefined
  ? auditReport(parseJson(stdout), shipped)
  : { _tag: 'NotRun' as const, why: error.message };
if (report._tag === 'NotRun') {
  process.stdout.write(`audit: not run: ${report.why}\n`);
  if (process.argv.includes('--require')) process.exitCode = 1;
} else {
  for (const { name, severity, title, url } of report.advisories) {
    process.stdout.write(`audit: ${severity}: ${name}: ${title} ${url}\n`);
  }
  const severe = report.advisories.filter(({ isSevere }) => isSevere).length;
  process.stdout.write(
    `audit: ${shipped.length} packages that ship, ${severe} severe advisories\n`,
  );
  if (severe > 0) process.exitCode = 1;
}
