/**
 * Hands the tokens of a template to its parsers, and words their complaints.
 *
 * Promises: messages name the line of the token that was read last, as Go's do.
 */
import type { ByteString } from './byte-strings.ts';
import { quote, unquote } from './quoting.ts';
import type { Token, TokenKind } from './tokens.ts';
import { NESTING_DEPTH_MAX } from './work-meter.ts';

/** A text that is no template. */
export class ParseFailure extends Error {
  override readonly name = 'ParseFailure';
  /** The message without the place. */
  readonly detail: ByteString;
  /** The line that Go names, from 1. */
  readonly line: number;
  /** The byte where reading stopped. */
  readonly position: number;

  constructor(detail: ByteString, { name, line, position }: FailurePlace) {
    super(`template: ${name}:${line}: ${detail}`);
    this.detail = detail;
    this.line = line;
    this.position = position;
  }
}

/** Where a text is no template. */
interface FailurePlace extends Pick<ParseFailure, 'line' | 'position'> {
  /** The name of the text. */
  readonly name: ByteString;
}

/** The tokens of one text, shared by the readers of all templates defined in it. */
export interface TokenSource {
  /** The name of the text in messages. */
  readonly name: ByteString;
  readonly tokens: readonly Token[];
  next: number;
  depth: number;
}

const describeToken = (token: Token): ByteString => {
  if (token.kind === 'eof') return 'EOF';
  if (token.kind === 'error') return token.text;
  if (WORDS.has(token.kind)) return `<${token.text}>`;
  return token.text.length > 10 ? `${quote(firstRunes(token.text, 10))}...` : quote(token.text);
};

/** The first `count` characters, none of them cut in two. */
const firstRunes = (text: ByteString, count: number): ByteString =>
  // In UTF-8 a character continues as long as bytes are 0x80 to 0xbf.
  new RegExp(`^(?:[\\x00-\\x7f\\xc0-\\xff][\\x80-\\xbf]*){0,${count}}`).exec(text)?.[0] ?? '';

const WORDS: ReadonlySet<TokenKind> = new Set<TokenKind>([
  'block',
  'break',
  'continue',
  'define',
  'dot',
  'else',
  'end',
  'if',
  'nil',
  'range',
  'template',
  'with',
]);

/** Reads the tokens of one template; definitions inside it are read by readers of their own. */
export class TokenReader {
  readonly #source: TokenSource;
  /** Tokens put back, the last one to be read first. */
  readonly #returned: Token[] = [];
  /** The token read last from the source: where Go says an error is. */
  #latest: Token | undefined;
  /** The line on which the action being read began; 0 outside of one. */
  actionLine = 0;

  constructor(source: TokenSource) {
    this.#source = source;
  }

  next(): Token {
    const token = this.#returned.pop();
    if (token !== undefined) return token;
    const { tokens } = this.#source;
    const fresh = tokens[Math.min(this.#source.next, tokens.length - 1)];
    if (fresh === undefined) return this.fail('unexpected EOF');
    this.#source.next += 1;
    this.#latest = fresh;
    return fresh;
  }

  peek(): Token {
    const token = this.next();
    this.#returned.push(token);
    return token;
  }

  nextNonSpace(): Token {
    let token = this.next();
    while (token.kind === 'space') token = this.next();
    return token;
  }

  peekNonSpace(): Token {
    const token = this.nextNonSpace();
    this.#returned.push(token);
    return token;
  }

  expect(kinds: readonly TokenKind[], context: string): Token {
    const token = this.nextNonSpace();
    return kinds.includes(token.kind) ? token : this.unexpected(token, context);
  }

  fail(message: ByteString, at: Token | undefined = this.#latest): never {
    const line = this.#latest?.line ?? 0;
    const { name } = this.#source;
    throw new ParseFailure(message, { name, line, position: at?.position ?? 0 });
  }

  unexpected(token: Token, context: string): never {
    if (token.kind !== 'error') {
      return this.fail(`unexpected ${describeToken(token)} in ${context}`, token);
    }
    let extra = '';
    if (this.actionLine !== 0 && this.actionLine !== token.line) {
      const started = `started at ${this.#source.name}:${this.actionLine}`;
      extra = token.text.endsWith(' action') ? ` ${started}` : ` in action ${started}`;
    }
    return this.fail(token.text + extra, token);
  }

  /** Runs `read` one level deeper. */
  deeper<T>(read: () => T): T {
    if (this.#source.depth >= NESTING_DEPTH_MAX) return this.fail('max expression depth exceeded');
    this.#source.depth += 1;
    const result = read();
    this.#source.depth -= 1;
    return result;
  }

  /** Puts a token back, to be read next. */
  putBack(token: Token): void {
    this.#returned.push(token);
  }

  /** The value of a quoted token. */
  unquoted(token: Token): ByteString {
    return unquote(token.text) ?? this.fail('invalid syntax', token);
  }
}
