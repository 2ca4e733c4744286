/**
 * Source text with the insides of comments and literals blanked, so that rules about code do not
 * trip over words.
 *
 * Promises: same length, same line breaks: a place in the blanked text is the same place in the
 * source. What is inside `${…}` of a template is code and stays.
 */

/** Blanked source. `code` lacks comments and literals; `comments` has nothing but comments. */
export interface Blanked {
  readonly code: string;
  readonly comments: string;
}

const BEFORE_PATTERN = new Set('(,=:[!&|?{};+-*%~^<>');
const WORDS_BEFORE_PATTERN = /\b(?:return|typeof|case|in|of|void|throw|delete|await|yield|else)$/;

const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');

/** Where the quoted literal that opens at `start` ends (behind its closing quote). */
const endOfQuoted = (source: string, start: number): number => {
  const quote = source[start];
  let at = start + 1;
  while (at < source.length && source[at] !== quote && source[at] !== '\n') {
    at += source[at] === '\\' ? 2 : 1;
  }
  return at + 1;
};

const endOfPattern = (source: string, start: number): number => {
  let at = start + 1;
  let inClass = false;
  while (at < source.length && source[at] !== '\n' && (inClass || source[at] !== '/')) {
    if (source[at] === '[') inClass = true;
    if (source[at] === ']') inClass = false;
    at += source[at] === '\\' ? 2 : 1;
  }
  return at + 1;
};

const opensPattern = (codeBefore: string): boolean => {
  const before = codeBefore.trimEnd();
  const last = before.at(-1);
  return last === undefined || BEFORE_PATTERN.has(last) || WORDS_BEFORE_PATTERN.test(before);
};

type Kind = 'code' | 'comment' | 'literal';

interface Piece {
  readonly kind: Kind;
  readonly end: number;
}

const endOrAll = (source: string, found: number): number => found === -1 ? source.length : found;

/** A slash may open a regular expression, by what is before it: so much decides. */
const BEFORE_SLASH = 40;

/** The piece of text outside any template that starts at `at`. */
const pieceAt = (source: string, at: number, code: string): Piece => {
  const two = source.slice(at, at + 2);
  if (two === '//') return { kind: 'comment', end: endOrAll(source, source.indexOf('\n', at)) };
  if (two === '/*') {
    return { kind: 'comment', end: endOrAll(source, source.indexOf('*/', at + 2) + 2) };
  }
  const one = source[at];
  if (one === "'" || one === '"') return { kind: 'literal', end: endOfQuoted(source, at) };
  if (one === '/' && opensPattern(code.slice(-BEFORE_SLASH))) {
    return { kind: 'literal', end: endOfPattern(source, at) };
  }
  return { kind: 'code', end: at + 1 };
};

/** The text part of a template, up to behind its closing backtick or its next `${`. */
const templatePart = (source: string, start: number): number => {
  let at = start;
  while (at < source.length) {
    if (source[at] === '\\') at += 2;
    else if (source[at] === '`') return at + 1;
    else if (source[at] === '$' && source[at + 1] === '{') return at + 2;
    else at += 1;
  }
  return source.length;
};

/** What may begin anything but code, or change the depth of braces. */
const MARK = /['"`/{}]/g;

/** The next such place; the code up to it is taken at once, because sources are mostly code. */
const markFrom = (source: string, at: number): number => {
  MARK.lastIndex = at;
  return MARK.exec(source)?.index ?? source.length;
};

/** Blanks a source. */
export const blanked = (source: string): Blanked => {
  let code = '';
  let comments = '';
  // One entry for each `${` that is open: how many braces are open inside of it.
  const braces: number[] = [];
  let at = 0;
  const take = (kind: Kind, end: number): void => {
    const text = source.slice(at, end);
    code += kind === 'code' ? text : blank(text);
    comments += kind === 'comment' ? text : blank(text);
    at = Math.max(end, at + 1);
  };
  const readTemplate = (): void => {
    const end = templatePart(source, at + 1);
    if (source.slice(end - 2, end) === '${') braces.push(0);
    take('literal', end);
  };
  while (at < source.length) {
    const mark = markFrom(source, at);
    if (mark > at) take('code', mark);
    if (mark === source.length) break;
    const one = source[at];
    const depth = braces.at(-1);
    if (one === '`') {
      readTemplate();
    } else if (one === '}' && depth === 0) {
      braces.pop();
      readTemplate();
    } else {
      if (depth !== undefined && one === '{') braces[braces.length - 1] = depth + 1;
      if (depth !== undefined && one === '}') braces[braces.length - 1] = depth - 1;
      const piece = pieceAt(source, at, code);
      take(piece.kind, piece.end);
    }
  }
  return { code, comments };
};
