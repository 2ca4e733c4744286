/** Names, sizes, headers and docstrings of files. */
import { lineAt, type Rule, SHIPPED, type SourceFile, type Violation } from './source-file.ts';

const LINES_MAX = 400;
/** A suite is a list: it may be longer than what it tests. */
const TEST_LINES_MAX = 500;
const COLUMNS_MAX = 100;
const PARAMETERS_MAX = 3;
const FUNCTION_LINES_MAX = 60;
/** With the functions inside of it: what a reader must keep in mind at once. */
const NESTED_LINES_MAX = 80;

const one = (
  file: SourceFile,
  line: number,
  [problem, remedy]: readonly [problem: string, remedy: string],
): Violation => ({ path: file.path, line, problem, remedy });

const isSource = ({ path }: SourceFile): boolean => SHIPPED.test(path);

const tooLong = (file: SourceFile): readonly Violation[] => {
  const lines = file.text.split('\n').length - 1;
  const most = /^(?:packages\/[^/]+\/)?test\//.test(file.path) ? TEST_LINES_MAX : LINES_MAX;
  return lines <= most ? [] : [one(file, most + 1, [
    `It has ${lines} lines; ${most} are the limit`,
    'Find its second subject and give it a file',
  ])];
};

/** A line that a formatter cannot break, because one literal or pattern makes it long. */
const UNBREAKABLE =
  /(['"`]).{30,}\1|^\s*['"`|].{30,}|https?:\/\/|^import .* from |^\s*\/[^/*]|\{\{/;

const tooWide = (file: SourceFile): readonly Violation[] =>
  file.text.split('\n').flatMap((text, index) =>
    [...text].length <= COLUMNS_MAX || (!isSource(file) && UNBREAKABLE.test(text))
      ? []
      : [one(file, index + 1, [
        `The line has ${[...text].length} columns; ${COLUMNS_MAX} are the limit`,
        'Break the line',
      ])]
  );

const BANNED_NAMES = /(?:^|[-/.])(?:utils?|helpers?|commons?|types?|managers?|misc)(?=$|[-/.])/;
const KEBAB = /^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)*[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test|\.d)?\.tsx?$/;
const CATALOGUE = 'src/machines/index.ts';

const badName = (file: SourceFile): readonly Violation[] => {
  if (!KEBAB.test(file.path)) {
    return [one(file, 1, ['Its name is not kebab-case', 'Name it like node-drain.ts'])];
  }
  if (BANNED_NAMES.test(file.path)) {
    return [one(file, 1, ['Its name says nothing', 'Name it by the noun that it is about'])];
  }
  return file.path.endsWith('/index.ts') && file.path !== CATALOGUE
    ? [one(file, 1, ['It is a barrel', 'Import from the files themselves'])]
    : [];
};

const noHeader = (file: SourceFile): readonly Violation[] =>
  /^(?:#!.*\n)?\/\*\*\s*\S?/.test(file.text) ? [] : [one(file, 1, [
    'It has no header comment',
    'Begin with one sentence of purpose, then what it promises',
  ])];

/** Exported functions (also curried and asynchronous ones), classes and interfaces. */
const EXPORTED =
  /^export (?:(?:async )?function\*? (?<func>\w+)|(?:abstract )?class (?<kind>\w+)|const (?<value>\w+)\b[^=;]*=\s*(?:async\s*)?(?:<|\([^)]*\)?[^;]*?=>|\w+ =>))/gm;

/** One docstring serves a block of things of one kind: lines without a blank one in between. */
const startOfBlock = (text: string, index: number): number => {
  const gap = text.lastIndexOf('\n\n', index);
  const comment = text.lastIndexOf('*/\n', index);
  return comment > gap ? comment + 3 : index;
};

const hasDocstring = (file: SourceFile, index: number): boolean =>
  file.text.slice(0, startOfBlock(file.text, index)).trimEnd().endsWith('*/');

/** The header is about the file; the first exported thing needs words of its own. */
const isHeader = (file: SourceFile, index: number): boolean => {
  const before = file.text.slice(0, index);
  return before.indexOf('/**') === before.lastIndexOf('/**');
};

const noDocstring = (file: SourceFile): readonly Violation[] => {
  if (!isSource(file)) return [];
  return [...file.code.matchAll(EXPORTED)].flatMap((match) => {
    const { func, kind, value } = match.groups ?? {};
    const documented = hasDocstring(file, match.index) && !isHeader(file, match.index);
    return documented ? [] : [one(file, lineAt(file.code, match.index), [
      `Exported "${func ?? kind ?? value}" has no docstring`,
      'Say what it gives, in which unit, and when it fails',
    ])];
  });
};

const matching = (code: string, open: number): number => {
  const pairs: Readonly<Record<string, string>> = { '(': ')', '{': '}', '[': ']', '<': '>' };
  const closing = pairs[code[open] ?? ''];
  let depth = 0;
  for (let at = open; at < code.length; at += 1) {
    if (code[at] === code[open]) depth += 1;
    // The arrow of a function type closes nothing.
    const closes = code[at] === closing && (closing !== '>' || code[at - 1] !== '=');
    if (closes && --depth === 0) return at;
  }
  return -1;
};

/** How many parameters stand between the parentheses at `open` and `close`. */
const parametersIn = (code: string, open: number, close: number): number => {
  let depth = 0;
  let count = 0;
  let pending = false;
  for (let at = open + 1; at < close; at += 1) {
    const character = code[at] ?? '';
    if ('([{<'.includes(character)) depth += 1;
    // The arrow of a function type closes nothing.
    if (')]}'.includes(character) || (character === '>' && code[at - 1] !== '=')) depth -= 1;
    if (character === ',' && depth === 0) {
      count += 1;
      pending = false;
    } else if (character.trim() !== '') pending = true;
  }
  return count + (pending ? 1 : 0);
};

/** Functions: declared, bound to a name, members of a literal, methods. */
const DEFINED =
  /(?:\bfunction\*?(?:\s+\w+)?\s*(?:<[^(]*>)?|^\s*(?:export )?const \w+\s*=\s*(?:async\s*)?(?:<[^=]*?>)?|^\s+\w+: (?:async )?(?=\([^()]*\)[^\n;]*=>)|^\s+(?:async )?#?\w+(?=\([^()]*\)[^\n;]*\{$))\(/gm;

interface Definition {
  readonly start: number;
  readonly end: number;
  readonly parameters: number;
  /** From its first line to its last. */
  readonly lines: number;
  /** Without the functions inside of it. */
  readonly ownLines: number;
}

/** Where an expression ends that begins at `start`: before its `;`, its `,` or a closing bracket. */
const expressionEnd = (code: string, start: number): number => {
  let at = start;
  while (at < code.length && !';,)]}'.includes(code[at] ?? '')) {
    at = '([{'.includes(code[at] ?? '') ? matching(code, at) + 1 : at + 1;
    if (at === 0) return -1;
  }
  return at - 1;
};

/** What may follow a `{…}` that is a type and no body. */
const AFTER_TYPE = /^\s*(?:=>|[|&>[])/;

/**
 * Where the body of a function ends, block or expression, that has its parameters closed at
 * `close`; -1 without one.
 */
const bodyEnd = (code: string, close: number): number => {
  let at = close + 1;
  while (at < code.length && !';,)]}'.includes(code[at] ?? '')) {
    if (code.startsWith('=>', at)) {
      const start = at + 2 + (code.slice(at + 2).length - code.slice(at + 2).trimStart().length);
      return code[start] === '{' ? matching(code, start) : expressionEnd(code, start);
    }
    const end = '([{<'.includes(code[at] ?? '') ? matching(code, at) : at;
    if (end === -1) return -1;
    if (code[at] === '{' && !AFTER_TYPE.test(code.slice(end + 1, end + 40))) return end;
    at = end + 1;
  }
  return -1;
};

const definitions = ({ code }: SourceFile): readonly Definition[] => {
  const found = [...code.matchAll(DEFINED)].flatMap((match) => {
    const open = match.index + match[0].length - 1;
    const close = matching(code, open);
    if (close === -1) return [];
    const start = match.index + (match[0].length - match[0].trimStart().length);
    const end = Math.max(close, bodyEnd(code, close));
    const lines = lineAt(code, end) - lineAt(code, start) + 1;
    return [{ start, end, lines, parameters: parametersIn(code, open, close) }];
  });
  const inside = (outer: typeof found[number]) =>
    found.filter((inner) => inner.start > outer.start && inner.end <= outer.end);
  return found.map((outer) => {
    const nested = inside(outer);
    const direct = nested.filter((one) =>
      !nested.some((other) => one.start > other.start && one.end <= other.end)
    );
    const ownLines = outer.lines - direct.reduce((sum, one) => sum + one.lines - 1, 0);
    return { ...outer, ownLines };
  });
};

const tooManyParameters = (file: SourceFile): readonly Violation[] =>
  definitions(file).filter(({ parameters }) => parameters > PARAMETERS_MAX).map((found) =>
    one(file, lineAt(file.code, found.start), [
      `A function takes ${found.parameters} positional parameters; ${PARAMETERS_MAX} are the limit`,
      'Take an object with names',
    ])
  );

const tooLongFunctions = (file: SourceFile): readonly Violation[] =>
  isSource(file)
    ? definitions(file).filter(({ ownLines }) => ownLines > FUNCTION_LINES_MAX).map((found) =>
      one(file, lineAt(file.code, found.start), [
        `A function has ${found.ownLines} lines of its own; ${FUNCTION_LINES_MAX} are the limit`,
        'Give its steps names',
      ])
    )
    : [];

const tooLongWithNested = (file: SourceFile): readonly Violation[] =>
  isSource(file)
    ? definitions(file).filter(({ lines }) => lines > NESTED_LINES_MAX).map((found) =>
      one(file, lineAt(file.code, found.start), [
        `A function has ${found.lines} lines with those inside of it; ${NESTED_LINES_MAX} are the ` +
        'limit',
        'Make it a class or two modules',
      ])
    )
    : [];

const planted = (text: string, path = 'src/domain/planted.ts'): Rule['planted'] => ({ path, text });

/** Rules about the shape of files. */
export const SHAPE_RULES: readonly Rule[] = [
  {
    title: 'files have at most 400 lines, and suites 500',
    check: tooLong,
    planted: planted('/** x */\n'.repeat(LINES_MAX + 1)),
  },
  {
    title: 'lines have at most 100 columns',
    check: tooWide,
    planted: planted(`export const long = ${'1 + '.repeat(30)}1;\n`),
  },
  {
    title: 'file names are kebab-case nouns that say something, and no barrels',
    check: badName,
    planted: planted('/** x */\n', 'src/domain/stringUtils.ts'),
  },
  {
    title: 'file names are never utils, helpers, common, types or manager',
    check: badName,
    planted: planted('/** x */\n', 'src/domain/time-helpers.ts'),
  },
  {
    title: 'there is no index.ts but the catalogue of machines',
    check: badName,
    planted: planted('/** x */\n', 'src/domain/index.ts'),
  },
  {
    title: 'files begin with a header comment',
    check: noHeader,
    planted: planted('export const light = 1;\n'),
  },
  {
    title: 'exported functions and classes have docstrings',
    check: noDocstring,
    planted: planted('/** Header. */\n\nexport const on = (light: Light): Light => light;\n'),
  },
  {
    title: 'functions take at most 3 positional parameters',
    check: tooManyParameters,
    planted: planted('const mix = (a: A<B, C>, b: () => D, { c, d }: E, f = 1) => a;\n'),
  },
  {
    title: 'functions are short',
    check: tooLongFunctions,
    planted: planted(`const long = (): void => {\n${'  step();\n'.repeat(70)}};\n`),
  },
  {
    title: 'functions are short with the functions inside of them',
    check: tooLongWithNested,
    planted: planted(
      `const long = (): void => {\n${
        ['a', 'b'].map((name) =>
          `  const ${name} = (): void => {\n${'    step();\n'.repeat(45)}  };\n`
        )
          .join('')
      }};\n`,
    ),
  },
];
