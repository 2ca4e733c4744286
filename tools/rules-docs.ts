/**
 * Writes `docs/rules.md`, one line a rule, and `docs/reference/rule-tests.md`, the tests of each
 * rule; with `--check` it only verifies that they are current. In both modes a rule without its
 * test is an error that names it, unless it says why it is not kept, and so is a rule of drains
 * without a planted bug, and a rule of EvictionRequests that neither a test sees at a real API
 * server nor a reason explains.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { settlePages } from './pages.ts';
import { CHAPTERS } from './rules/chapters.ts';
import type { Rule } from './rules/rule.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

interface TestTitle {
  readonly title: string;
  readonly file: string;
}

const testFiles = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .filter(({ parentPath }) => !parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();

/** Titles in the source: `test('…'`, `test.each(…)('…'`, `title: '…'`. */
const TITLE =
  /(?:\b(?:test|it|describe)(?:\.\w+(?:\([^'"`]*\))?)*\(\s*|\btitle:\s*)(['"`])((?:\\.|(?!\1)[^\\])*)\1/gs;

const titlesIn = (file: string): readonly TestTitle[] =>
  [...readFileSync(file, 'utf8').matchAll(TITLE)].map((match) => ({
    title: (match[2] ?? '').replaceAll(/\\\n/g, '').replaceAll(/\\(.)/g, '$1').replaceAll(
      /\s+/g,
      ' ',
    ),
    file: relative(root, file),
  }));

const TITLES = ['packages', 'test'].flatMap((folder) => testFiles(join(root, folder)))
  .flatMap(titlesIn);

/** Names a file of tests, not a title. */
const WHOLE_FILE = /^(?:packages\/[^/]+\/)?test\//;

const link = (file: string): string => `[${file}](../../${file})`;

/** The tests that one entry of `testedBy` matches; empty when they are gone. */
const testsOf = (wanted: string): readonly string[] =>
  WHOLE_FILE.test(wanted)
    ? TITLES.some(({ file }) => file === wanted) ? [`- all of ${link(wanted)}`] : []
    : TITLES.filter(({ title }) => title.startsWith(wanted))
      .map(({ title, file }) => `- ${title} (${link(file)})`);

const PLANTED = 'test/mutants/planted';
const PLANTED_HEAD = /^(.+)\nTest: .+\nTitle: (.+)\n/;

interface PlantedBug {
  readonly file: string;
  readonly why: string;
  /** Of the test that fails with it. */
  readonly title: string;
}

/** Bugs that `npm run planted` plants. */
const BUGS: readonly PlantedBug[] = readdirSync(join(root, PLANTED)).toSorted().flatMap((name) => {
  const file = `${PLANTED}/${name}`;
  const [, why, title] = PLANTED_HEAD.exec(readFileSync(join(root, file), 'utf8')) ?? [];
  return why === undefined || title === undefined ? [] : [{ file, why, title }];
});

const bugsOf = ({ id }: Rule): readonly PlantedBug[] =>
  BUGS.filter(({ title }) => title.startsWith(`${id}:`));

/** Rules of drains have a planted bug each, so that one of their tests is known to fail. */
const unplanted = CHAPTERS.flatMap(({ rules }) => rules)
  .filter((rule) => rule.id.startsWith('DR-') && bugsOf(rule).length === 0)
  .map(({ id }) => `Rule ${id}: no bug in ${PLANTED} fails one of its tests`);

const untested = CHAPTERS.flatMap(({ rules }) => rules).flatMap(({ id, testedBy, unsupported }) =>
  testedBy.length === 0 && unsupported === undefined
    ? [`Rule ${id}: no test is named, and nothing says why`]
    : testedBy.filter((wanted) => testsOf(wanted).length === 0)
      .map((wanted) => `Rule ${id}: there is no test "${wanted}…"`)
);

/** Suites with a real API server. */
const AT_SERVER = /^test\/(?:integration|e2e)\//;

const isSeenAtServer = ({ testedBy }: Rule): boolean =>
  TITLES.some(({ title, file }) =>
    AT_SERVER.test(file) && testedBy.some((wanted) => title.startsWith(wanted))
  );

const unseen = CHAPTERS.flatMap(({ rules }) => rules)
  .filter((rule) => rule.id.startsWith('ER-') && !isSeenAtServer(rule))
  .filter(({ elsewhere }) => elsewhere === undefined)
  .map(({ id }) => `Rule ${id}: no test sees it at a real API server, and nothing says why`);

const missing = [...untested, ...unplanted, ...unseen];

/** The file name, which says what is wrong. */
const bugName = ({ file }: PlantedBug): string =>
  file.slice(PLANTED.length + 1).replace(/\.patch$/, '');

const plantedIn = (rule: Rule): string => {
  const links = bugsOf(rule).map((bug) => `[${bugName(bug)}](../${bug.file})`);
  return links.length === 0 ? '' : ` *Planted bugs:* ${links.join(', ')}.`;
};

const elsewhereIn = (rule: Rule): string =>
  rule.elsewhere === undefined || isSeenAtServer(rule)
    ? ''
    : ` *Not tested at a real API server:* ${rule.elsewhere}`;

const lineOf = (rule: Rule): string =>
  rule.unsupported === undefined
    ? `- [${rule.id}](reference/rule-tests.md#${rule.id.toLowerCase()}): ${rule.text}` +
      elsewhereIn(rule) +
      plantedIn(rule)
    : `- ${rule.id}: ${rule.text} *Not supported:* ${rule.unsupported}`;

const rulesPage = [
  '# Rules',
  '',
  'What Tidegate promises on the wire and in its custom resources; each number links to its tests.',
  'This page is generated by `node tools/rules-docs.ts` from `tools/rules/`; a rule',
  'without a test fails the build, unless it says why it is not kept, and so does a rule of drains',
  'without a planted bug that one of its tests catches ([mutation tests](mutation-tests.md)), and a',
  'rule of EvictionRequests that no test sees at a real API server, unless it says why.',
  ...CHAPTERS.flatMap(({ title, intro, rules }) => [
    '',
    `## ${title}`,
    '',
    intro,
    '',
    ...rules.map(lineOf),
  ]),
];

const testsPage = [
  '# Rules and their tests',
  '',
  '<!-- Generated by tools/rules-docs.ts from tools/rules/. -->',
  '',
  'The rules are in [docs/rules.md](../rules.md).',
  ...CHAPTERS.flatMap(({ title, rules }) => [
    '',
    `## ${title}`,
    ...rules.filter(({ testedBy }) => testedBy.length > 0).flatMap(({ id, testedBy }) => [
      '',
      `### ${id}`,
      '',
      ...new Set(testedBy.flatMap(testsOf)),
    ]),
  ]),
];

const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`;

settlePages('tools/rules-docs.ts', [
  { path: 'docs/rules.md', text: text(rulesPage) },
  { path: 'docs/reference/rule-tests.md', text: text(testsPage) },
]);
if (missing.length > 0) {
  process.stderr.write(`${missing.join('\n')}\n`);
  process.exitCode = 1;
}
