/** The tokens that the text of a template is cut into. */
import type { ByteString } from './byte-strings.ts';

/** The words of the template language. */
export const KEYWORDS = [
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'nil',
  'range',
  'template',
  'with',
] as const;
export type Keyword = (typeof KEYWORDS)[number];

/** What a token is. A keyword is its own kind. */
export type TokenKind =
  | Keyword
  | 'assign'
  | 'bool'
  | 'char'
  | 'character'
  | 'complex'
  | 'declare'
  | 'dot'
  | 'eof'
  | 'error'
  | 'field'
  | 'identifier'
  | 'leftDelimiter'
  | 'leftParen'
  | 'number'
  | 'pipe'
  | 'rawString'
  | 'rightDelimiter'
  | 'rightParen'
  | 'space'
  | 'string'
  | 'text'
  | 'variable';

/** A token: for an `error`, `text` says what is wrong. */
export interface Token {
  readonly kind: TokenKind;
  /** The byte it starts at. */
  readonly position: number;
  /** The line it starts on, from 1. */
  readonly line: number;
  readonly text: ByteString;
}

const KEYWORD_SET: ReadonlySet<string> = new Set(KEYWORDS);
/** Whether a word is a keyword. */
export const isKeyword = (word: string): word is Keyword => KEYWORD_SET.has(word);
