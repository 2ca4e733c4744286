/**
 * Which mutations the type checker rejects: no slip that anyone could commit, so that no test is
 * tried on them.
 *
 * Promises: all of them are checked in one run, on copies; the tree does not change. What only
 * another file would notice is not found.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import type { Mutation } from './operators.ts';
import { ROOT } from './planted-bugs.ts';

/** A mutation with its place. */
export interface MutatedFile {
  readonly id: string;
  /** The path from the root. */
  readonly file: string;
  readonly text: string;
  readonly mutation: Pick<Mutation, 'start' | 'end' | 'replacement'>;
}

const COPIED = ['src', 'packages', 'deno.json', 'package.json', 'package-lock.json'];
const COPY_NAME = 'mutated-';
const COPY_IN_ERROR = new RegExp(`at file:\\S*/${COPY_NAME}(\\d+)\\.ts`, 'g');
const OUTPUT_BYTES_MAX = 1 << 28;

const mutatedText = (
  { text, mutation: { start, end, replacement } }: Pick<MutatedFile, 'text' | 'mutation'>,
): string =>
  text.slice(0, start) + (replacement === null ? ';' : `(${replacement})`) + text.slice(end);

/** The output of the type checker over the copies. */
const checked = (root: string, files: readonly string[]): string => {
  const { stdout, stderr, error } = spawnSync(
    join(ROOT, 'node_modules/.bin/deno'),
    ['check', '--quiet', ...files],
    {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: OUTPUT_BYTES_MAX,
      env: { ...process.env, NO_COLOR: '1' },
    },
  );
  if (error !== undefined) throw error;
  return stdout + stderr;
};

/** The ids of the mutations that do not compile. */
export const rejectedByTypes = (mutated: readonly MutatedFile[]): ReadonlySet<string> => {
  if (mutated.length === 0) return new Set();
  const root = mkdtempSync(join(tmpdir(), 'tidegate-types-'));
  try {
    for (const name of COPIED) cpSync(join(ROOT, name), join(root, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    const copies = mutated.map((each, index) => {
      const copy = join(dirname(each.file), `${COPY_NAME}${index}.ts`);
      writeFileSync(join(root, copy), mutatedText(each));
      return copy;
    });
    const output = checked(root, copies);
    const rejected = [...output.matchAll(COPY_IN_ERROR)].map(([, index]) => Number(index));
    return new Set(rejected.flatMap((index) => mutated[index]?.id ?? []));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
};
