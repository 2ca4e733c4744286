/**
 * Names that the project gave up, and the field's terms to use in their place.
 *
 * Promises: identifiers, names of events and names of files are taken apart into their words, so
 * that `makeDoorkeeper` and `kube-doors.ts` are found and `indoor` and `return` are not. Comments
 * and texts are free: there `shown` and `said` are plain English.
 */
import { readdirSync } from 'node:fs';
import { lineAt, PROJECT, type Rule, type SourceFile, type Violation } from './source-file.ts';
import { RETIRED_NAMES } from './retired-names.ts';

/**
 * Folders and files whose names are not renamed yet. Remove an entry when its names are replaced:
 * `test/vocabulary.test.ts` fails for an entry without a retired name.
 */
export const NOT_YET_RENAMED: readonly string[] = [
  'packages/go-template/src/builtins.ts',
  'packages/go-template/src/directive-fields.ts',
  'packages/stand-in-fleet/src/script-routes.ts',
  'src/actors',
  'src/domain',
  'src/effects',
  'src/machines',
  'src/view/explain-node.ts',
  'src/view/explain-pod.ts',
  'test/bench/cluster.ts',
  'test/bench/session.ts',
  'test/contract',
  'test/integration',
  'test/models',
  'test/simulation/event-log.ts',
  'test/simulation/plan-runner.ts',
  'test/support/actors',
  'test/support/api',
  'test/support/demand',
  'test/support/drains',
  'test/support/fleet',
  'test/unit/actors',
  'test/unit/cli/drain-watch.test.ts',
  'test/unit/domain',
  'test/unit/drain',
  'test/unit/pods',
  'test/unit/session',
  'test/unit/streams',
  'tools/rules',
  'tools/rules-docs.ts',
];

/** Names that libraries, Kubernetes or users gave, and that therefore stay. */
const GIVEN = new Set([
  'controllerRevision', // a kind of Kubernetes
  'revisionHistoryLimit', // a field of a Deployment
  'sleep', // a method of Effect's Clock
  'stageTimestamp', // a field of an audit event
  'takeUntil', // RxJS
  'takeWhile', // RxJS
  'willNotComeBack', // a field of `drain plan --output=json`
]);

interface RetiredPattern {
  readonly retired: string;
  /** Folders and files only. */
  readonly inPaths: boolean;
  readonly use: string;
  readonly pattern: RegExp;
  readonly allowed: readonly string[];
}

const wordsIn = (retired: string): string => retired.replaceAll(/[=~/]/g, '');

const patternOf = (retired: string): RegExp => {
  const words = wordsIn(retired);
  if (retired.endsWith('~')) return new RegExp(`^${words}-`);
  if (retired.includes('~')) return new RegExp(`-${words}$`);
  if (/^[=/]/.test(retired)) return new RegExp(`^${words}$`);
  return new RegExp(`(?:^|-)${words}(?:-|$)`);
};

const PATTERNS: readonly RetiredPattern[] = RETIRED_NAMES.flatMap((
  { retired, use, allowed = [] },
) =>
  retired.map((name) => ({
    retired: name,
    inPaths: name.startsWith('/'),
    use,
    allowed,
    pattern: patternOf(name),
  }))
);

const WORD = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g;

/** The words of a name: `kubeDoors`, `KUBE_DOORS` and `kube-doors.ts` all have "kube-doors". */
const wordsOf = (name: string): string => (name.match(WORD) ?? []).join('-').toLowerCase();

/** Where a name stands: in the code of a file, or in its path. */
interface Named {
  readonly path: string;
  readonly name: string;
  readonly inPath: boolean;
}

const retiredIn = ({ path, name, inPath }: Named): RetiredPattern | undefined => {
  // Actions are functions: constants such as TAKE_MS are none.
  if (GIVEN.has(name)) return undefined;
  const words = wordsOf(name);
  return PATTERNS.find(({ retired, pattern, inPaths, allowed }) =>
    pattern.test(words) && (inPath || !inPaths) &&
    (!retired.endsWith('~') || /^[a-z]/.test(name)) && !allowed.some((folder) =>
      path.startsWith(folder)
    )
  );
};

const violation = (named: Named, line: number): readonly Violation[] => {
  const found = retiredIn(named);
  if (found === undefined) return [];
  const problem = `Its name "${named.name}" has the retired "${wordsIn(found.retired)}"`;
  const { path } = named;
  return [{ path, line, problem, remedy: `Use ${found.use}` }];
};

/** Names of folders and files, the ending of the file left out. */
const segmentsOf = (path: string): readonly string[] =>
  path.split('/').map((segment) => segment.replace(/(?:\.test)?\.\w+$/, ''));

const inPath = (path: string): readonly Violation[] =>
  segmentsOf(path).flatMap((name) => violation({ path, name, inPath: true }, 1));

const IDENTIFIER = /[A-Za-z_$][\w$]*/g;
/** An event of a statechart: a quoted `subject.verb`. */
const EVENT = /(?<=['"])[a-z][A-Za-z]*(?:\.[a-z][A-Za-z]*)+(?=['"])/g;
/** Methods of libraries have the names that their authors gave. */
const OF_A_LIBRARY = /\b(?:Effect|Stream|rx)\.$/;

const inCode = (file: SourceFile): readonly Violation[] => {
  const names = [...file.code.matchAll(IDENTIFIER)].filter(({ index }) =>
    !OF_A_LIBRARY.test(file.code.slice(Math.max(0, index - 8), index))
  );
  const events = [...file.text.matchAll(EVENT)].filter(({ index }) =>
    file.comments[index] === ' ' && file.code[index] === ' '
  );
  const all = [...names, ...events];
  const firsts = new Map(all.toReversed().map((match) => [match[0], match.index]));
  return [...firsts].flatMap(([name, index]) =>
    retiredIn({ path: file.path, name, inPath: false }) === undefined
      ? []
      : violation({ path: file.path, name, inPath: false }, lineAt(file.text, index))
  );
};

/** True for the entry itself, and for what lies in it when it is a folder. */
export const isIn = (path: string, entry: string): boolean =>
  path === entry || path.startsWith(`${entry}/`);

const isNotYetRenamed = (path: string): boolean =>
  NOT_YET_RENAMED.some((entry) => isIn(path, entry));

/** Every retired name of a file, wherever it lies. */
export const retiredNames = (file: SourceFile): readonly Violation[] => [
  ...inPath(file.path),
  ...inCode(file),
];

/**
 * Retired names in the names of files that are no source files. Charts are generated, with the
 * names of their machines.
 */
export const retiredFileNames = (): readonly Violation[] =>
  ['adr', 'charts', 'docs', 'proto', 'test', 'tools']
    .flatMap((folder) =>
      readdirSync(`${PROJECT}${folder}`, { recursive: true, encoding: 'utf8' })
        .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    )
    .filter((path) =>
      !/node_modules|^docs\/lifecycles|\.tsx?$/.test(path) && !isNotYetRenamed(path)
    )
    .flatMap(inPath);

/** A name that has the retired word, as an author would write it. */
const exampleOf = (retired: string): string => {
  const words = wordsIn(retired);
  const name = retired.endsWith('~')
    ? `${words}-pod`
    : /^[=/]\w/.test(retired)
    ? words
    : `pod-${words}`;
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
};

const planted = (retired: string): Rule['planted'] => {
  const name = exampleOf(retired);
  return retired.startsWith('/')
    ? { path: `src/domain/${name}/planted.ts`, text: '/** Planted. */\n' }
    : { path: 'src/domain/planted.ts', text: `/** Planted. */\nexport const ${name} = 1;\n` };
};

/** Every retired name with a file that has it: proof that each is found. */
export const PLANTED_NAMES: readonly {
  readonly retired: string;
  readonly planted: Rule['planted'];
}[] = PATTERNS.map(({ retired }) => ({ retired, planted: planted(retired) }));

/** Rules about the words in names. */
export const VOCABULARY_RULES: readonly Rule[] = [
  {
    title: 'no name has a retired word',
    check: (file) => isNotYetRenamed(file.path) ? [] : retiredNames(file),
    planted: planted('doorkeeper'),
  },
];
