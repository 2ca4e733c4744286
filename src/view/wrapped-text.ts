/**
 * Text broken into lines at words.
 *
 * Promises: no line is longer than the width unless a single word is; no word is split, dropped or
 * reordered.
 */

/** The words of `text` in lines of at most `columns` characters. */
export const wrappedLines = (text: string, columns: number): readonly string[] => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, line];
};

/** A name with its explanation. */
export interface Definition {
  readonly term: string;
  readonly text: string;
}

const INDENT = 2;
const GAP = 2;
/** Longer terms have a line of their own. */
const TERM_COLUMNS_MAX = 26;

/** Names in a column of their own and their explanations, wrapped, in the next. */
export const definitionLines = (
  definitions: readonly Definition[],
  columns: number,
  paint: (term: string) => string = (term) => term,
): readonly string[] => {
  const lengths = definitions.map(({ term }) => term.length).filter((n) => n <= TERM_COLUMNS_MAX);
  const width = Math.max(0, ...lengths);
  const left = INDENT + width + GAP;
  return definitions.flatMap(({ term, text }) => {
    const lines = wrappedLines(text, columns - left);
    const named = `${' '.repeat(INDENT)}${paint(term)}`;
    const rest = ' '.repeat(left);
    if (lines.length === 0) return [named];
    if (term.length > width) return [named, ...lines.map((line) => rest + line)];
    const [first = '', ...more] = lines;
    return [
      `${named}${' '.repeat(width - term.length + GAP)}${first}`,
      ...more.map((line) => rest + line),
    ];
  });
};

const COMMAND = ': kubectl ';

/**
 * Sentences in lines of at most `columns` characters. A command at their end has a line of its own,
 * however long: a break within it would be pasted.
 */
export const sentenceLines = (text: string, columns: number): readonly string[] => {
  const end = text.indexOf(COMMAND);
  if (end < 0) return wrappedLines(text, columns);
  const lines = wrappedLines(text.slice(0, end + 1), columns);
  const command = text.slice(end + 2);
  const last = lines.at(-1) ?? '';
  return last.length + 1 + command.length <= columns
    ? [...lines.slice(0, -1), `${last} ${command}`]
    : [...lines, command];
};

/**
 * A command as a person may paste it: broken before its arguments, with a backslash at the end of
 * each line but the last.
 */
export const commandLines = (command: string, columns: number): readonly string[] => {
  const [first = '', ...more] = wrappedLines(command, columns - 2 - INDENT);
  const lines = [first, ...more.map((line) => `${' '.repeat(INDENT)}${line}`)];
  return lines.map((line, index) => (index === lines.length - 1 ? line : `${line} \\`));
};
