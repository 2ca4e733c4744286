/**
 * Generates the messages of `proto/` with buf, for the operator and for the stand-in fleet, which
 * shares no code with it; with `--check`, verifies instead of writing.
 *
 * `--check` fails when the contract does not lint, when it breaks what `proto/baseline.binpb`
 * promised, or when the committed code is not what buf generates today. `--baseline` records
 * the present contract as the one that later changes must not break.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUF = join(ROOT, 'node_modules', '.bin', 'buf');
/** The folders of the messages: other tools generate beside them. */
const GENERATED = ['src/gen/bigfleet', 'packages/stand-in-fleet/src/gen/bigfleet'];
const BASELINE = 'proto/baseline.binpb';

/** Runs buf in the root of the repository; false, with its output shown, when it fails. */
const buf = (...parameters: readonly string[]): boolean => {
  const { status, stdout, stderr } = spawnSync(BUF, parameters, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) process.stderr.write(`buf ${parameters.join(' ')}: ${stdout}${stderr}\n`);
  return status === 0;
};

/** Contents by path relative to `folder`. */
const filesOf = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]),
  );

/** Paths whose generated text is not the committed one. */
const stalePaths = (): readonly string[] => {
  const scratch = mkdtempSync(join(tmpdir(), 'tidegate-proto-'));
  try {
    if (!buf('generate', '--output', scratch)) return GENERATED;
    return GENERATED.flatMap((folder) => {
      const wanted = filesOf(join(scratch, folder));
      const committed = filesOf(join(ROOT, folder));
      return [...new Set([...wanted.keys(), ...committed.keys()])]
        .filter((path) => wanted.get(path) !== committed.get(path))
        .map((path) => join(folder, path));
    });
  } finally {
    rmSync(scratch, { recursive: true });
  }
};

const check = (): boolean => {
  const sound = [buf('lint'), buf('breaking', '--against', BASELINE)].every(Boolean);
  const stale = stalePaths();
  for (const path of stale) {
    process.stderr.write(`${path} is not current: run "node tools/proto.ts"\n`);
  }
  return sound && stale.length === 0;
};

const run = (mode: string | undefined): boolean => {
  if (mode === undefined) return buf('generate');
  if (mode === '--check') return check();
  if (mode === '--baseline') return buf('build', '--output', BASELINE);
  process.stderr.write('Usage: node tools/proto.ts [--check | --baseline]\n');
  return false;
};

process.exitCode = run(process.argv[2]) ? 0 : 1;
