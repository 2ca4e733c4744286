/**
 * Writes generated pages, or compares them with the committed ones.
 *
 * Promises: with `--check` nothing is written, and an outdated page ends with exit code 1 and the
 * command that regenerates it.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A page by its path in the project. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

const committed = (path: string): string | undefined => {
  try {
    return readFileSync(`${ROOT}${path}`, 'utf8');
  } catch {
    return undefined;
  }
};

/** Writes the pages, or checks them with `--check`. */
export const settlePages = (tool: string, pages: readonly Page[]): void => {
  const stale = pages.filter(({ path, text }) => committed(path) !== text);
  if (process.argv.includes('--check')) {
    for (const { path } of stale) {
      process.stderr.write(`${path} is not current: run "node ${tool}"\n`);
      process.exitCode = 1;
    }
    return;
  }
  for (const { path, text } of stale) {
    mkdirSync(dirname(`${ROOT}${path}`), { recursive: true });
    writeFileSync(`${ROOT}${path}`, text);
    process.stdout.write(`wrote ${path}\n`);
  }
};

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** A Markdown table. */
export const table = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] => [
  `| ${head.join(' | ')} |`,
  `|${head.map(() => '---').join('|')}|`,
  ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`),
];
