/**
 * Cuts the text of a template into tokens.
 *
 * Promises: for any text there is an answer: tokens that end in `eof` or in one `error`, each with
 * its byte position and line; trim markers are applied and comments dropped here. Source: Go,
 * package text/template, sections "Text and spaces" and "Actions".
 */
import {
  type ByteString,
  decodeRune,
  encodeRune,
  isAlphaNumeric,
  isPrintable,
} from './byte-strings.ts';
import { quote } from './quoting.ts';
import { isKeyword, type Token, type TokenKind } from './tokens.ts';

const LEFT = '{{';
const RIGHT = '}}';
const LEFT_COMMENT = '/*';
const RIGHT_COMMENT = '*/';

const isSpace = (character: string): boolean =>
  character === ' ' || character === '\t' || character === '\r' || character === '\n';

/** A letter, digit or underscore at `at`: its width in bytes, or 0. */
const alphaNumericWidth = (input: ByteString, at: number): number => {
  if (at >= input.length) return 0;
  const { rune, width } = decodeRune(input, at);
  return isAlphaNumeric(rune) ? width : 0;
};

/** `U+0041 'A'`, as Go names a character in messages. */
const namedCharacter = (input: ByteString, at: number): ByteString => {
  const { rune } = decodeRune(input, at);
  const code = `U+${rune.toString(16).toUpperCase().padStart(4, '0')}`;
  return isPrintable(rune) ? `${code} '${encodeRune(rune)}'` : code;
};

const LIKE_NUMBER: ReadonlyMap<string, RegExp> = new Map([
  ['0x', /0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?/y],
  ['0o', /0[oO][0-7_]*(?:\.[0-7_]*)?/y],
  ['0b', /0[bB][01_]*(?:\.[01_]*)?/y],
]);
const LIKE_DECIMAL = /[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?/y;

class Lexer {
  readonly tokens: Token[] = [];
  readonly #input: ByteString;
  #start = 0;
  #at = 0;
  #startLine = 1;
  #parenDepth = 0;
  #isDone = false;

  constructor(input: ByteString) {
    this.#input = input;
  }

  run(): readonly Token[] {
    let inAction = false;
    while (!this.#isDone) inAction = inAction ? this.#lexInsideAction() : this.#lexText();
    return this.tokens;
  }

  /** Moves the start of the next token here, counting the lines passed. */
  #ignore(): void {
    for (let at = this.#start; at < this.#at; at += 1) {
      if (this.#input.charCodeAt(at) === 0x0a) this.#startLine += 1;
    }
    this.#start = this.#at;
  }

  #emit(kind: TokenKind, text = this.#input.slice(this.#start, this.#at)): void {
    this.tokens.push({ kind, position: this.#start, line: this.#startLine, text });
    this.#ignore();
  }

  /** Ends the run with an error; gives what the caller returns. */
  #fail(message: ByteString): boolean {
    this.#emit('error', message);
    this.#isDone = true;
    return true;
  }

  #startsWith(text: string, at = this.#at): boolean {
    return this.#input.startsWith(text, at);
  }

  #hasLeftTrim(at: number): boolean {
    return this.#input.charAt(at) === '-' && isSpace(this.#input.charAt(at + 1));
  }

  /** A right delimiter at `at`: `trimmed` with its marker; `undefined` when there is none. */
  #rightDelimiter(at = this.#at): 'plain' | 'trimmed' | undefined {
    const isMarked = isSpace(this.#input.charAt(at)) && this.#input.charAt(at + 1) === '-';
    if (isMarked && this.#startsWith(RIGHT, at + 2)) return 'trimmed';
    return this.#startsWith(RIGHT, at) ? 'plain' : undefined;
  }

  #skipSpaces(): void {
    while (isSpace(this.#input.charAt(this.#at))) this.#at += 1;
  }

  /** Text up to the next action; true when an action begins. */
  #lexText(): boolean {
    const next = this.#input.indexOf(LEFT, this.#at);
    if (next < 0) {
      this.#at = this.#input.length;
      if (this.#at > this.#start) this.#emit('text');
      this.#emit('eof', 'EOF');
      this.#isDone = true;
      return false;
    }
    this.#at = next;
    if (this.#hasLeftTrim(next + LEFT.length)) {
      while (this.#at > this.#start && isSpace(this.#input.charAt(this.#at - 1))) this.#at -= 1;
    }
    if (this.#at > this.#start) this.#emit('text');
    this.#at = next;
    this.#ignore();
    return this.#lexLeftDelimiter();
  }

  #lexLeftDelimiter(): boolean {
    this.#at += LEFT.length;
    const afterMarker = this.#at + (this.#hasLeftTrim(this.#at) ? 2 : 0);
    if (this.#startsWith(LEFT_COMMENT, afterMarker)) {
      this.#at = afterMarker;
      this.#ignore();
      return this.#lexComment();
    }
    this.#emit('leftDelimiter');
    this.#at = afterMarker;
    this.#ignore();
    this.#parenDepth = 0;
    return true;
  }

  #lexComment(): boolean {
    const end = this.#input.indexOf(RIGHT_COMMENT, this.#at + LEFT_COMMENT.length);
    if (end < 0) return this.#fail('unclosed comment');
    this.#at = end + RIGHT_COMMENT.length;
    const delimiter = this.#rightDelimiter();
    if (delimiter === undefined) return this.#fail('comment ends before closing delimiter');
    this.#at += delimiter === 'trimmed' ? 2 + RIGHT.length : RIGHT.length;
    if (delimiter === 'trimmed') this.#skipSpaces();
    this.#ignore();
    return false;
  }

  #lexRightDelimiter(delimiter: 'plain' | 'trimmed'): boolean {
    if (delimiter === 'trimmed') {
      this.#at += 2;
      this.#ignore();
    }
    this.#at += RIGHT.length;
    this.#emit('rightDelimiter');
    if (delimiter === 'trimmed') {
      this.#skipSpaces();
      this.#ignore();
    }
    return false;
  }

  /** One token of an action; false when the action is over. */
  #lexInsideAction(): boolean {
    const delimiter = this.#rightDelimiter();
    if (delimiter !== undefined) {
      if (this.#parenDepth === 0) return this.#lexRightDelimiter(delimiter);
      return this.#fail('unclosed left paren');
    }
    const character = this.#input.charAt(this.#at);
    if (character === '') return this.#fail('unclosed action');
    if (isSpace(character)) return this.#lexSpace();
    const next = this.#input.charAt(this.#at + 1);
    switch (character) {
      case '"':
        return this.#lexQuoted('string', 'quoted string');
      case "'":
        return this.#lexQuoted('character', 'character constant');
      case '`':
        return this.#lexRawString();
      case '$':
        return this.#lexName('variable');
      case '.':
        return next !== '' && (next < '0' || next > '9')
          ? this.#lexName('field')
          : this.#lexNumber();
      default:
        if (/^[+\-0-9]$/.test(character)) return this.#lexNumber();
        return this.#lexPunctuation(character, next);
    }
  }

  #lexPunctuation(character: string, next: string): boolean {
    const width = alphaNumericWidth(this.#input, this.#at);
    if (width > 0) return this.#lexIdentifier();
    this.#at += 1;
    switch (character) {
      case '=':
        this.#emit('assign');
        return true;
      case ':':
        if (next !== '=') return this.#fail('expected :=');
        this.#at += 1;
        this.#emit('declare');
        return true;
      case '|':
        this.#emit('pipe');
        return true;
      case '(':
        this.#parenDepth += 1;
        this.#emit('leftParen');
        return true;
      case ')':
        this.#parenDepth -= 1;
        if (this.#parenDepth < 0) return this.#fail('unexpected right paren');
        this.#emit('rightParen');
        return true;
      default:
        break;
    }
    if (character < '\x80' && isPrintable(character.charCodeAt(0))) {
      this.#emit('char');
      return true;
    }
    const name = namedCharacter(this.#input, this.#at - 1);
    return this.#fail(`unrecognized character in action: ${name}`);
  }

  /** Spaces, up to the one that belongs to a trim marker. */
  #lexSpace(): boolean {
    const first = this.#at;
    this.#skipSpaces();
    if (this.#rightDelimiter(this.#at - 1) === 'trimmed') {
      this.#at -= 1;
      if (this.#at === first) return this.#lexRightDelimiter('trimmed');
    }
    this.#emit('space');
    return true;
  }

  #skipAlphaNumerics(): void {
    for (let width = 1; width > 0; this.#at += width) {
      width = alphaNumericWidth(this.#input, this.#at);
    }
  }

  /** Whether a name may end here. */
  #atTerminator(): boolean {
    const character = this.#input.charAt(this.#at);
    return character === '' || isSpace(character) || '.,|:)('.includes(character) ||
      this.#startsWith(RIGHT);
  }

  #failAtName(): boolean {
    return this.#fail(`bad character ${namedCharacter(this.#input, this.#at)}`);
  }

  #lexIdentifier(): boolean {
    this.#skipAlphaNumerics();
    if (!this.#atTerminator()) return this.#failAtName();
    const word = this.#input.slice(this.#start, this.#at);
    const isBool = word === 'true' || word === 'false';
    this.#emit(isKeyword(word) ? word : isBool ? 'bool' : 'identifier');
    return true;
  }

  /** A field or a variable, from its `.` or `$` on. */
  #lexName(kind: 'field' | 'variable'): boolean {
    this.#at += 1;
    if (this.#atTerminator()) {
      this.#emit(kind === 'variable' ? 'variable' : 'dot');
      return true;
    }
    this.#skipAlphaNumerics();
    if (!this.#atTerminator()) return this.#failAtName();
    this.#emit(kind);
    return true;
  }

  #lexQuoted(kind: 'string' | 'character', what: string): boolean {
    const mark = this.#input.charAt(this.#at);
    for (this.#at += 1;; this.#at += 1) {
      let character = this.#input.charAt(this.#at);
      if (character === mark) break;
      if (character === '\\') {
        this.#at += 1;
        character = this.#input.charAt(this.#at);
      }
      if (character === '' || character === '\n') return this.#fail(`unterminated ${what}`);
    }
    this.#at += 1;
    this.#emit(kind);
    return true;
  }

  #lexRawString(): boolean {
    const end = this.#input.indexOf('`', this.#at + 1);
    if (end < 0) return this.#fail('unterminated raw quoted string');
    this.#at = end + 1;
    this.#emit('rawString');
    return true;
  }

  #lexNumber(): boolean {
    if (!this.#scanNumber()) return this.#failAtNumber();
    if (!/^[+-]$/.test(this.#input.charAt(this.#at))) {
      this.#emit('number');
      return true;
    }
    if (!this.#scanNumber() || this.#input.charAt(this.#at - 1) !== 'i') {
      return this.#failAtNumber();
    }
    this.#emit('complex');
    return true;
  }

  #failAtNumber(): boolean {
    const text = this.#input.slice(this.#start, this.#at);
    return this.#fail(`bad number syntax: ${quote(text)}`);
  }

  /** Passes what `pattern` (sticky) matches here. */
  #accept(pattern: RegExp): void {
    pattern.lastIndex = this.#at;
    this.#at += pattern.exec(this.#input)?.[0].length ?? 0;
  }

  /** Passes something like a number; the parser reads it strictly. */
  #scanNumber(): boolean {
    this.#accept(/[+-]?/y);
    const prefix = this.#input.slice(this.#at, this.#at + 2).toLowerCase();
    this.#accept(LIKE_NUMBER.get(prefix) ?? LIKE_DECIMAL);
    this.#accept(/i?/y);
    const width = alphaNumericWidth(this.#input, this.#at);
    this.#at += width;
    return width === 0;
  }
}

/** The tokens of `input`; the last one is `eof` or `error`. */
export const lex = (input: ByteString): readonly Token[] => new Lexer(input).run();
