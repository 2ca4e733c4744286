/** Links of the documentation that lead nowhere. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { lineAt, PROJECT, type Violation } from './source-file.ts';

/** A page by its path in the project. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

const FOLDERS = [
  '',
  'docs/',
  'adr/',
  'docs/reference/',
  'docs/tasks/',
  'docs/lifecycles/',
  'packages/go-template/',
  'packages/interceptor/',
  'packages/stand-in-fleet/',
  'packages/embedded-kubernetes/',
];

/** Every page of the documentation. */
export const pages = (): readonly Page[] =>
  FOLDERS.flatMap((folder) =>
    readdirSync(`${PROJECT}${folder}`)
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}${name}`)
      .map((path) => ({ path, text: readFileSync(`${PROJECT}${path}`, 'utf8') }))
  );

/** The anchor that a heading gets. */
const anchorOf = (heading: string): string =>
  heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').trim().replaceAll(/\s/g, '-');

const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading)));

const targetOf = (path: string, link: string): string =>
  new URL(link, `file:///${path}`).pathname.slice(1);

const LINK = /\]\((?!https?:|mailto:)(?<file>[^)#\s]*)(?:#(?<anchor>[^)\s]*))?\)/g;

const problemOf = (page: Page, file: string, anchor: string | undefined): string | undefined => {
  const target = file === '' ? page.path : targetOf(page.path, file);
  if (file !== '' && !existsSync(`${PROJECT}${target}`)) return `"${target}" does not exist`;
  if (anchor === undefined || !target.endsWith('.md')) return undefined;
  const text = file === '' ? page.text : readFileSync(`${PROJECT}${target}`, 'utf8');
  return anchorsOf(text).has(anchor) ? undefined : `"${target}" has no heading "${anchor}"`;
};

/** Link targets that do not exist. */
export const brokenLinks = (page: Page): readonly Violation[] =>
  [...page.text.matchAll(LINK)].flatMap((match) => {
    const problem = problemOf(page, match.groups?.['file'] ?? '', match.groups?.['anchor']);
    return problem === undefined ? [] : [{
      path: page.path,
      line: lineAt(page.text, match.index),
      problem: `A link leads nowhere: ${problem}`,
      remedy: 'Fix the link, or write the page',
    }];
  });
