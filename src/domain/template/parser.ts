/**
 * Makes the tree of a template from its tokens.
 *
 * Promises: every text either parses or fails with `ParseFailure` in Go's words, on Go's line;
 * nothing nests deeper than `NESTING_DEPTH_MAX`. Source: Go, package text/template, sections
 * "Actions", "Pipelines", "Variables" and "Nested template definitions".
 */
import { type ByteString, fromBytes } from './byte-strings.ts';
import { lex, type Token, type TokenKind } from './lexer.ts';
import {
  type BodyNode,
  type BranchNode,
  type CommandNode,
  type JumpNode,
  type ListNode,
  nodeText,
  type OperandNode,
  type PipeNode,
  type TermNode,
  type VariableNode,
} from './nodes.ts';
import { type NumberForm, readNumber } from './number-constants.ts';
import { quote, unquote } from './quoting.ts';
import { NESTING_DEPTH_MAX } from './work-meter.ts';

/** A text that is no template. */
export class ParseFailure extends Error {
  override readonly name = 'ParseFailure';
  /** The line that Go names, from 1. */
  readonly line: number;
  /** The byte where reading stopped. */
  readonly position: number;

  constructor(message: ByteString, line: number, position: number) {
    super(message);
    this.line = line;
    this.position = position;
  }
}

/** Trees by the names they are defined under. */
export type TreeSet = ReadonlyMap<ByteString, ListNode>;

/** What one parse shares among the templates defined in its text. */
interface Source {
  readonly name: ByteString;
  readonly tokens: readonly Token[];
  readonly functions: ReadonlySet<string>;
  readonly trees: Map<ByteString, ListNode>;
  next: number;
  depth: number;
}

/** What ends a list of nodes. */
type Ending =
  | { readonly kind: 'end'; readonly position: number }
  | { readonly kind: 'else'; readonly position: number };

/** White space as Go trims it. */
const GO_SPACE = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;

/** Whether a body has nothing but space. */
const isEmptyBody = (list: ListNode): boolean =>
  list.nodes.every((node) => node.kind === 'text' && GO_SPACE.test(fromBytes(node.text)));

const describeToken = (token: Token): ByteString => {
  if (token.kind === 'eof') return 'EOF';
  if (token.kind === 'error') return token.text;
  if (WORDS.has(token.kind)) return `<${token.text}>`;
  return token.text.length > 10 ? `${quote(firstRunes(token.text, 10))}...` : quote(token.text);
};

/** The first `count` characters, none of them cut in two. */
const firstRunes = (text: ByteString, count: number): ByteString =>
  // In UTF-8 a character goes on for as long as bytes are 0x80 to 0xbf.
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

const OPERAND_STARTS: ReadonlySet<TokenKind> = new Set<TokenKind>([
  'bool',
  'character',
  'complex',
  'dot',
  'field',
  'identifier',
  'leftParen',
  'nil',
  'number',
  'rawString',
  'string',
  'variable',
]);

/** Operands that cannot take the result of the command before them. */
const CONSTANTS: ReadonlySet<string> = new Set(['bool', 'dot', 'nil', 'number', 'string']);

/** Reads one template; definitions inside it are read by parsers of their own. */
class Parser {
  readonly #source: Source;
  /** Tokens put back, the last one to be read first. */
  readonly #putBack: Token[] = [];
  #variables: ByteString[] = ['$'];
  /** The token read last from the source: where Go says an error is. */
  #latest: Token | undefined;
  #actionLine = 0;
  #rangeDepth = 0;

  constructor(source: Source) {
    this.#source = source;
  }

  // ------------------------------------------------------------------ tokens

  #next(): Token {
    const token = this.#putBack.pop();
    if (token !== undefined) return token;
    const { tokens } = this.#source;
    const fresh = tokens[Math.min(this.#source.next, tokens.length - 1)];
    if (fresh === undefined) return this.#fail('unexpected EOF');
    this.#source.next += 1;
    this.#latest = fresh;
    return fresh;
  }

  #peek(): Token {
    const token = this.#next();
    this.#putBack.push(token);
    return token;
  }

  #nextNonSpace(): Token {
    let token = this.#next();
    while (token.kind === 'space') token = this.#next();
    return token;
  }

  #peekNonSpace(): Token {
    const token = this.#nextNonSpace();
    this.#putBack.push(token);
    return token;
  }

  #expect(kinds: readonly TokenKind[], context: string): Token {
    const token = this.#nextNonSpace();
    return kinds.includes(token.kind) ? token : this.#unexpected(token, context);
  }

  // ------------------------------------------------------------------ errors

  #fail(message: ByteString, at: Token | undefined = this.#latest): never {
    const line = this.#latest?.line ?? 0;
    throw new ParseFailure(
      `template: ${this.#source.name}:${line}: ${message}`,
      line,
      at?.position ?? 0,
    );
  }

  #unexpected(token: Token, context: string): never {
    if (token.kind !== 'error') {
      return this.#fail(`unexpected ${describeToken(token)} in ${context}`, token);
    }
    let extra = '';
    if (this.#actionLine !== 0 && this.#actionLine !== token.line) {
      const started = `started at ${this.#source.name}:${this.#actionLine}`;
      extra = token.text.endsWith(' action') ? ` ${started}` : ` in action ${started}`;
    }
    return this.#fail(token.text + extra, token);
  }

  /** Runs `read` one level deeper. */
  #deeper<T>(read: () => T): T {
    if (this.#source.depth >= NESTING_DEPTH_MAX) return this.#fail('max expression depth exceeded');
    this.#source.depth += 1;
    const result = read();
    this.#source.depth -= 1;
    return result;
  }

  // ------------------------------------------------------------------ bodies

  /** The whole text. */
  parseText(): void {
    const position = this.#peek().position;
    const nodes: BodyNode[] = [];
    while (this.#peek().kind !== 'eof') {
      const delimiter = this.#next();
      if (delimiter.kind === 'leftDelimiter') {
        const word = this.#nextNonSpace();
        if (word.kind === 'define') {
          new Parser(this.#source).#parseDefinition();
          continue;
        }
        this.#putBack.push(word);
      }
      this.#putBack.push(delimiter);
      const node = this.#textOrAction();
      if (node.kind === 'end' || node.kind === 'else') {
        return this.#fail(`unexpected {{${node.kind}}}`);
      }
      nodes.push(node);
    }
    this.#add(this.#source.name, { kind: 'list', position, nodes });
  }

  #parseDefinition(): void {
    const context = 'define clause';
    const name = this.#unquoted(this.#expect(['string', 'rawString'], context));
    this.#expect(['rightDelimiter'], context);
    this.#parseBody(name, context);
  }

  /** The body of a definition, up to its `{{end}}`. */
  #parseBody(name: ByteString, context: string): void {
    const [list, ending] = this.#itemList();
    if (ending.kind !== 'end') return this.#fail(`unexpected {{else}} in ${context}`);
    this.#add(name, list);
  }

  #add(name: ByteString, list: ListNode): void {
    const existing = this.#source.trees.get(name);
    if (existing === undefined || isEmptyBody(existing)) {
      this.#source.trees.set(name, list);
    } else if (!isEmptyBody(list)) {
      this.#fail(`template: multiple definition of template ${quote(name)}`);
    }
  }

  #itemList(): readonly [ListNode, Ending] {
    return this.#deeper(() => {
      const nodes: BodyNode[] = [];
      const { position } = this.#peekNonSpace();
      while (this.#peekNonSpace().kind !== 'eof') {
        const node = this.#textOrAction();
        if (node.kind === 'end' || node.kind === 'else') {
          return [{ kind: 'list', position, nodes }, node] as const;
        }
        nodes.push(node);
      }
      return this.#fail('unexpected EOF');
    });
  }

  #textOrAction(): BodyNode | Ending {
    const token = this.#nextNonSpace();
    if (token.kind === 'text') {
      return { kind: 'text', position: token.position, text: token.text };
    }
    if (token.kind !== 'leftDelimiter') return this.#unexpected(token, 'input');
    this.#actionLine = token.line;
    const node = this.#action();
    this.#actionLine = 0;
    return node;
  }

  #action(): BodyNode | Ending {
    const token = this.#nextNonSpace();
    switch (token.kind) {
      case 'block':
        return this.#block();
      case 'break':
      case 'continue':
        return this.#jump(token.kind, token.position);
      case 'else':
        return this.#else();
      case 'end':
        return { kind: 'end', position: this.#expect(['rightDelimiter'], 'end').position };
      case 'if':
      case 'range':
      case 'with':
        return this.#branch(token.kind);
      case 'template':
        return this.#template();
      default:
        break;
    }
    this.#putBack.push(token);
    const { position } = this.#peek();
    return { kind: 'action', position, pipe: this.#pipeline('command', 'rightDelimiter') };
  }

  #jump(kind: JumpNode['kind'], position: number): JumpNode {
    const token = this.#nextNonSpace();
    if (token.kind !== 'rightDelimiter') return this.#unexpected(token, `{{${kind}}}`);
    if (this.#rangeDepth === 0) return this.#fail(`{{${kind}}} outside {{range}}`);
    return { kind, position };
  }

  #else(): Ending {
    const token = this.#peekNonSpace();
    // `{{else if …}}` ends the list here and leaves its `if` to be read as a branch.
    if (token.kind === 'if' || token.kind === 'with') {
      return { kind: 'else', position: token.position };
    }
    return { kind: 'else', position: this.#expect(['rightDelimiter'], 'else').position };
  }

  #branch(kind: BranchNode['kind']): BranchNode {
    const scope = this.#variables.length;
    const pipe = this.#pipeline(kind, 'rightDelimiter');
    if (kind === 'range') this.#rangeDepth += 1;
    const [list, ending] = this.#itemList();
    if (kind === 'range') this.#rangeDepth -= 1;
    const elseList = ending.kind === 'else' ? this.#elseList(kind, ending) : undefined;
    this.#variables = this.#variables.slice(0, scope);
    return { kind, position: pipe.position, pipe, list, elseList };
  }

  #elseList(kind: BranchNode['kind'], { position }: Ending): ListNode {
    if (kind !== 'range' && this.#peek().kind === kind) {
      this.#next();
      // The branch takes the one `{{end}}` that closes both.
      const nodes = [this.#deeper(() => this.#branch(kind))];
      return { kind: 'list', position, nodes };
    }
    const [list, ending] = this.#itemList();
    return ending.kind === 'end' ? list : this.#fail('expected end; found {{else}}');
  }

  #block(): BodyNode {
    const context = 'block clause';
    const token = this.#nextNonSpace();
    const name = this.#templateName(token, context);
    const pipe = this.#pipeline(context, 'rightDelimiter');
    new Parser(this.#source).#parseBody(name, context);
    return { kind: 'template', position: token.position, name, pipe };
  }

  #template(): BodyNode {
    const context = 'template clause';
    const token = this.#nextNonSpace();
    const name = this.#templateName(token, context);
    const next = this.#nextNonSpace();
    if (next.kind === 'rightDelimiter') {
      return { kind: 'template', position: token.position, name, pipe: undefined };
    }
    this.#putBack.push(next);
    const pipe = this.#pipeline(context, 'rightDelimiter');
    return { kind: 'template', position: token.position, name, pipe };
  }

  #templateName(token: Token, context: string): ByteString {
    return token.kind === 'string' || token.kind === 'rawString'
      ? this.#unquoted(token)
      : this.#unexpected(token, context);
  }

  #unquoted(token: Token): ByteString {
    return unquote(token.text) ?? this.#fail('invalid syntax', token);
  }

  // --------------------------------------------------------------- pipelines

  #pipeline(context: string, end: TokenKind): PipeNode {
    const { position } = this.#peekNonSpace();
    const { isAssign, variables } = this.#declarations(context);
    const commands: CommandNode[] = [];
    for (let token = this.#nextNonSpace(); token.kind !== end; token = this.#nextNonSpace()) {
      if (!OPERAND_STARTS.has(token.kind)) return this.#unexpected(token, context);
      this.#putBack.push(token);
      commands.push(this.#command());
    }
    if (commands.length === 0) return this.#fail(`missing value for ${context}`);
    commands.forEach((command, index) => {
      if (index > 0 && CONSTANTS.has(command.operands[0].kind)) {
        this.#fail(`non executable command in pipeline stage ${index + 1}`);
      }
    });
    return { kind: 'pipe', position, isAssign, variables, commands };
  }

  /** `$x :=`, `$x =` or, for a range, `$i, $x :=` in front of a pipeline. */
  #declarations(context: string): Pick<PipeNode, 'isAssign' | 'variables'> {
    const variables: VariableNode[] = [];
    while (true) {
      const variable = this.#peekNonSpace();
      if (variable.kind !== 'variable') return { isAssign: false, variables };
      this.#next();
      const after = this.#peek();
      const next = this.#peekNonSpace();
      const isAssign = next.kind === 'assign';
      const isList = next.kind === 'char' && next.text === ',';
      if (!isAssign && next.kind !== 'declare' && !isList) {
        if (after.kind === 'space') this.#putBack.push(after);
        this.#putBack.push(variable);
        return { isAssign: false, variables };
      }
      this.#nextNonSpace();
      variables.push({ kind: 'variable', position: variable.position, names: [variable.text] });
      this.#variables.push(variable.text);
      if (!isList) return { isAssign, variables };
      this.#expectSecondVariable(context, variables.length);
    }
  }

  #expectSecondVariable(context: string, declared: number): void {
    if (context !== 'range' || declared >= 2) {
      return this.#fail(`too many declarations in ${context}`);
    }
    const { kind } = this.#peekNonSpace();
    if (kind !== 'variable' && kind !== 'rightDelimiter' && kind !== 'rightParen') {
      this.#fail('range can only initialize variables');
    }
  }

  #command(): CommandNode {
    const { position } = this.#peekNonSpace();
    const operands: OperandNode[] = [];
    while (true) {
      this.#peekNonSpace();
      const operand = this.#operand();
      if (operand !== undefined) operands.push(operand);
      const token = this.#next();
      if (token.kind === 'space') continue;
      if (token.kind === 'rightDelimiter' || token.kind === 'rightParen') this.#putBack.push(token);
      else if (token.kind !== 'pipe') return this.#unexpected(token, 'operand');
      break;
    }
    const [first, ...rest] = operands;
    if (first === undefined) return this.#fail('empty command');
    return { kind: 'command', position, operands: [first, ...rest] };
  }

  /** A term with the fields that follow it; `undefined` when the next token is no operand. */
  #operand(): OperandNode | undefined {
    const term = this.#term();
    if (term === undefined) return undefined;
    const { kind, position } = this.#peek();
    if (kind !== 'field') return term;
    const fields: ByteString[] = [];
    while (this.#peek().kind === 'field') fields.push(this.#next().text.slice(1));
    switch (term.kind) {
      case 'field':
        return { kind: 'field', position, names: [...term.names, ...fields] };
      case 'variable':
        return { kind: 'variable', position, names: [term.names[0], ...fields] };
      case 'pipe':
      case 'identifier':
        return { kind: 'chain', position, of: term, names: fields };
      default:
        return this.#fail(`unexpected . after term ${quote(nodeText(term))}`);
    }
  }

  #term(): TermNode | undefined {
    const token = this.#nextNonSpace();
    const { kind, position, text } = token;
    switch (kind) {
      case 'identifier':
        if (!this.#source.functions.has(text)) {
          return this.#fail(`function ${quote(text)} not defined`, token);
        }
        return { kind, position, name: text };
      case 'dot':
      case 'nil':
        return { kind, position };
      case 'variable':
        if (!this.#variables.includes(text)) {
          return this.#fail(`undefined variable ${quote(text)}`, token);
        }
        return { kind, position, names: [text] };
      case 'field':
        return { kind, position, names: [text.slice(1)] };
      case 'bool':
        return { kind, position, value: text === 'true' };
      case 'character':
      case 'complex':
      case 'number':
        return this.#number(token, kind);
      case 'leftParen':
        return this.#deeper(() => this.#pipeline('parenthesized pipeline', 'rightParen'));
      case 'string':
      case 'rawString':
        return { kind: 'string', position, quoted: text, value: this.#unquoted(token) };
      default:
        this.#putBack.push(token);
        return undefined;
    }
  }

  #number(token: Token, form: NumberForm): TermNode {
    const constant = readNumber(token.text, form);
    if (constant._tag === 'Malformed') return this.#fail(constant.message, token);
    return { kind: 'number', position: token.position, text: token.text, constant };
  }
}

/**
 * Reads `text` as a template called `name`, which may call `functions`. Throws `ParseFailure`.
 * The result holds at least the template `name`.
 */
export const parseTrees = (
  name: ByteString,
  text: ByteString,
  functions: ReadonlySet<string>,
): TreeSet => {
  const trees = new Map<ByteString, ListNode>();
  const tokens = lex(text);
  new Parser({ name, tokens, functions, trees, next: 0, depth: 0 }).parseText();
  return trees;
};
