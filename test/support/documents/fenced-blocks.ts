/**
 * The commands of the documentation, and what they print according to it.
 *
 * Promises: a block of commands is one fenced as `sh`; the `text` block right after it is its
 * expected output; an HTML comment right before it says where it is run, and why.
 */
import { readFileSync } from 'node:fs';
import { PROJECT } from '../../tidy/source-file.ts';

/** Where a block is run; without a marker everywhere. */
export type Marker = 'embedded cluster' | 'not run' | 'real cluster';

/** One block of commands. */
export interface CommandBlock {
  /** Such as `docs/tasks/install.md:12`. */
  readonly place: string;
  readonly commands: string;
  /** Lines that the output must have, in this order. */
  readonly expected: readonly string[];
  readonly marker: Marker | undefined;
}

const BLOCK =
  /(?:^ *<!-- (?<marker>embedded cluster|not run|real cluster): [^\n]+ -->\n\n)?^(?<indent> *)```sh\n(?<commands>[^]*?)^ *```$(?:\n\n^ *```text\n(?<expected>[^]*?)^ *```$)?/gm;

const MARKERS: readonly Marker[] = ['embedded cluster', 'not run', 'real cluster'];

const unindented = (text: string, indent: string): string =>
  text.replaceAll(new RegExp(`^${indent}`, 'gm'), '');

const markerOf = (text: string | undefined): Marker | undefined =>
  MARKERS.find((marker) => marker === text);

/** The blocks of a page, in their order. */
export const commandBlocks = (path: string): readonly CommandBlock[] => {
  const page = readFileSync(`${PROJECT}${path}`, 'utf8');
  return [...page.matchAll(BLOCK)].map((match) => {
    const { marker, indent = '', commands = '', expected = '' } = match.groups ?? {};
    const line = page.slice(0, match.index + match[0].indexOf('```sh')).split('\n').length;
    return {
      place: `${path}:${line}`,
      commands: unindented(commands, indent),
      expected: unindented(expected, indent).split('\n').filter((one) => one.trim() !== ''),
      marker: markerOf(marker),
    };
  });
};

/** Names, ages and times differ from run to run; a bare number does not. */
const isVariable = (word: string): boolean =>
  /\d/.test(word) && (/[A-Za-z]/.test(word) || /\d[.:/]\d/.test(word));

const escaped = (word: string): string => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** An ellipsis stands for the rest of a line, or for a part of it. */
const wordPattern = (word: string): string => {
  if (word === '…') return '.*';
  return isVariable(word) ? '\\S+' : escaped(word);
};

const patternOf = (line: string): RegExp =>
  new RegExp(line.trim().split(/\s+/).map(wordPattern).join('\\s+'));

/** The first expected line that an output lacks, after those before it. */
export const missingLine = (output: string, expected: readonly string[]): string | undefined => {
  let rest = output;
  for (const line of expected) {
    const found = patternOf(line).exec(rest);
    if (found === null) return line;
    rest = rest.slice(found.index + found[0].length);
  }
  return undefined;
};
