/**
 * Planted bugs, each a patch in `planted/`, and how soon worlds find them.
 *
 * Promises: a patch is applied to a copy of the tree, never to the tree; a bug counts as found when
 * a world of the patched copy breaks the invariant that the head of the patch names, before others.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { RECORDINGS } from './recording-invariant.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PATCHES = join(ROOT, 'test/simulation/planted');
const COPIED = [
  'src',
  'packages',
  'test/simulation',
  'test/support',
  'charts',
  'package.json',
  'deno.json',
];

/** The result of a planted bug. */
export interface PlantedReport {
  readonly name: string;
  readonly why: string;
  readonly found: boolean;
  /** The output of the patched copy. */
  readonly output: string;
}

/** The names of the patches. */
export const plantedBugs = (): readonly string[] =>
  readdirSync(PATCHES).filter((name) => name.endsWith('.patch')).toSorted()
    .map((name) => name.slice(0, -'.patch'.length));

const BREAKS = /^Breaks "(.+)"\.$/m;

/** The invariant that a planted bug breaks; '' when the head of its patch names none. */
export const brokenBy = (name: string): string =>
  BREAKS.exec(readFileSync(join(PATCHES, `${name}.patch`), 'utf8'))?.[1] ?? '';

const REPORTED = /\bbroken\(\s*'([^']+)'/g;

/** The names of all invariants, from the sources of this folder. */
export const invariantNames = (): ReadonlySet<string> => {
  const folder = join(ROOT, 'test/simulation');
  const texts = readdirSync(folder).filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  const named = texts.flatMap((text) => [...text.matchAll(REPORTED)].map(([, name = '']) => name));
  return new Set([...named, RECORDINGS]);
};

/** Runs up to `seeds` worlds with the bug, until one breaks an invariant. */
export const seekPlanted = (name: string, seeds: number): PlantedReport => {
  const patch = join(PATCHES, `${name}.patch`);
  const copy = mkdtempSync(join(tmpdir(), 'tidegate-planted-'));
  try {
    for (const part of COPIED) cpSync(join(ROOT, part), join(copy, part), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    execFileSync('patch', ['--strip=1', '--silent', '--input', patch], { cwd: copy });
    const invariant = brokenBy(name);
    const run = spawnSync(process.execPath, [
      ...process.versions['deno'] === undefined ? [] : ['run', '-A'],
      join(copy, 'test/simulation/main.ts'),
      '--until-breach',
      invariant,
      ...invariant === RECORDINGS ? ['--recordings'] : [],
      '--no-shrink',
      '--seeds',
      String(seeds),
    ], { cwd: copy, encoding: 'utf8' });
    const output = `${run.stdout}${run.stderr}`.trim();
    const why = readFileSync(patch, 'utf8').split('\n')[0] ?? '';
    return {
      name,
      why,
      found: run.status === 1 && output.includes(`the invariant "${invariant}"`),
      output,
    };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
};
