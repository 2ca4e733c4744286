/** A file of the project as the rules see it, and what a rule says about it. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { blanked } from './blanking.ts';

/** A source file. Paths are relative to the project, with `/`. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** The text without comments and without the insides of literals. */
  readonly code: string;
  readonly comments: string;
  readonly imports: readonly Import[];
}

/** One import or re-export. */
export interface Import {
  readonly from: string;
  readonly line: number;
  /** The whole statement, for what is imported. */
  readonly statement: string;
  readonly typeOnly: boolean;
}

/** A rule that is broken somewhere. */
export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly problem: string;
  readonly remedy: string;
}

/** A rule about single files. */
export interface Rule {
  /** Read as a requirement: `imports go down only`. */
  readonly title: string;
  readonly check: (file: SourceFile) => readonly Violation[];
  /** A file that breaks it: proof that the rule bites. */
  readonly planted: { readonly path: string; readonly text: string };
}

/** What is shipped: the operator, and the packages. */
export const SHIPPED = /^(?:src|packages\/[^/]+\/src)\//;

/** The line of a place in a text, from 1. */
export const lineAt = (text: string, index: number): number =>
  text.slice(0, index).split('\n').length;

const IMPORT =
  /^[ \t]*(?:import|export)\b(?<type> type\b)?(?<what>[^'";]*?\bfrom\b)?\s*['"](?<from>[^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"](?<from>[^'"]+)['"]\s*\)/g;

const importsOf = (text: string, code: string): readonly Import[] => {
  const found: Import[] = [];
  for (const pattern of [IMPORT, DYNAMIC]) {
    for (const match of text.matchAll(pattern)) {
      const word = match[0].length - match[0].trimStart().length + match.index;
      // In a comment or a literal it is only talk.
      if (code[word] !== text[word]) continue;
      found.push({
        from: match.groups?.['from'] ?? '',
        line: lineAt(text, word),
        statement: match[0],
        typeOnly: match.groups?.['type'] !== undefined,
      });
    }
  }
  return found;
};

/** A file from its path and text. */
export const sourceFile = (path: string, text: string): SourceFile => {
  const { code, comments } = blanked(text);
  return { path, text, code, comments, imports: importsOf(text, code) };
};

/** The folder of the project. */
export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

const FOLDERS = ['src', 'packages', 'test', 'tools'];
const SKIPPED =
  /(?:^|\/)node_modules\/|\/\.|\/vitest\.config\.ts$|^(?:src|packages\/[^/]+\/src)\/gen\//;

/** Every TypeScript file of the project that a person wrote. */
export const projectFiles = (): readonly SourceFile[] =>
  FOLDERS.flatMap((folder) =>
    readdirSync(`${PROJECT}${folder}`, { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((path) => /\.tsx?$/.test(path) && !SKIPPED.test(path))
      .sort()
      .map((path) => sourceFile(path, readFileSync(`${PROJECT}${path}`, 'utf8')))
  );

/** A violation as one line that an editor can jump to. */
export const violationText = ({ path, line, problem, remedy }: Violation): string =>
  `${path}:${line}: ${problem}. ${remedy}`;
