/** Assertions that pass whatever they look at. */
import { lineAt, type Rule, type SourceFile, type Violation } from './source-file.ts';

const MATCHER = /\.toMatchObject\(/g;

/** Where the bracket that opens before `start` closes. */
const closing = (code: string, start: number): number => {
  let depth = 1;
  let at = start;
  while (at < code.length && depth > 0) {
    if (code[at] === '(') depth += 1;
    if (code[at] === ')') depth -= 1;
    at += 1;
  }
  return at;
};

/** Where a pattern may begin as a value; a comment begins otherwise. */
const VALUE = /[:,[(]\s*\/(?![/*])/g;

/** Patterns that are arguments of a matcher that reads them. */
const READ = /\b(?:stringMatching|test|match)$/;

/** True for a pattern in code, and not in a literal or comment: there all is blanked. */
const isPattern = ({ code }: SourceFile, start: number, end: number): boolean =>
  code[start] !== ' ' && code[end - 1] !== '/' && !READ.test(code.slice(0, start));

const patternsInObjects = (file: SourceFile): readonly Violation[] =>
  [...file.code.matchAll(MATCHER)].flatMap(({ 0: call, index }) => {
    const start = index + call.length;
    const inside = file.text.slice(start, closing(file.code, start));
    return [...inside.matchAll(VALUE)]
      .map(({ 0: { length }, index: at }) => ({ from: start + at, to: start + at + length }))
      .filter(({ from, to }) => isPattern(file, from, to))
      .map(({ to }) => ({
        path: file.path,
        line: lineAt(file.text, to),
        problem: 'A regular expression inside toMatchObject matches anything',
        remedy: 'Use expect.stringMatching',
      }));
  });

/** A constant is what the code says; a test of it repeats the code and shows no behaviour. */
const CONSTANT = /\bexpect\(\s*[A-Z][A-Z0-9_]*\s*\)\s*\.(?:toBe|toEqual|toStrictEqual)\(/g;

const comparedConstants = (file: SourceFile): readonly Violation[] =>
  [...file.code.matchAll(CONSTANT)].map(({ index }) => ({
    path: file.path,
    line: lineAt(file.text, index),
    problem: 'A constant that is compared with a value shows no behaviour',
    remedy: 'Test what the constant limits',
  }));

export const MATCHER_RULES: readonly Rule[] = [{
  title: 'no test compares a constant with a value',
  check: comparedConstants,
  planted: {
    path: 'test/unit/planted.test.ts',
    text: '/** X. */\nexpect(FRAME_BYTES_MAX).toBe(256 * 1024 * 1024);\n',
  },
}, {
  title: 'no regular expression is a value inside toMatchObject',
  check: patternsInObjects,
  planted: {
    path: 'test/unit/planted.test.ts',
    text: '/** X. */\nexpect(status).toMatchObject({ phase: 1, problem: /refused by/ });\n',
  },
}];
