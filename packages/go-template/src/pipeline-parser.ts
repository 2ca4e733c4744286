/**
 * Reads pipelines: declarations, commands, operands and constants.
 *
 * Promises: what Go takes for a pipeline is one here, and what it refuses is refused in its words.
 * Source: Go, package text/template, sections "Arguments", "Pipelines" and "Variables".
 */
import type { ByteString } from './byte-strings.ts';
import {
  type CommandNode,
  nodeText,
  type OperandNode,
  type PipeNode,
  type TermNode,
  type VariableNode,
} from './nodes.ts';
import { type NumberForm, readNumber } from './number-constants.ts';
import { quote } from './quoting.ts';
import type { TokenReader } from './token-reader.ts';
import type { Token, TokenKind } from './tokens.ts';

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

/** Reads the pipelines of one template, and knows which variables they may name. */
export class PipelineParser {
  readonly #reader: TokenReader;
  readonly #functions: ReadonlySet<string>;
  #variables: ByteString[] = ['$'];

  constructor(reader: TokenReader, functions: ReadonlySet<string>) {
    this.#reader = reader;
    this.#functions = functions;
  }

  /** Runs `read`; variables that it declares end with it. */
  scoped<T>(read: () => T): T {
    const declared = this.#variables.length;
    const result = read();
    this.#variables = this.#variables.slice(0, declared);
    return result;
  }

  pipeline(context: string, end: TokenKind): PipeNode {
    const { position } = this.#reader.peekNonSpace();
    const { isAssign, variables } = this.#declarations(context);
    const commands: CommandNode[] = [];
    for (
      let token = this.#reader.nextNonSpace();
      token.kind !== end;
      token = this.#reader.nextNonSpace()
    ) {
      if (!OPERAND_STARTS.has(token.kind)) return this.#reader.unexpected(token, context);
      this.#reader.putBack(token);
      commands.push(this.#command());
    }
    if (commands.length === 0) return this.#reader.fail(`missing value for ${context}`);
    commands.forEach((command, index) => {
      if (index > 0 && CONSTANTS.has(command.operands[0].kind)) {
        this.#reader.fail(`non executable command in pipeline stage ${index + 1}`);
      }
    });
    return { kind: 'pipe', position, isAssign, variables, commands };
  }

  /** `$x :=`, `$x =` or, for a range, `$i, $x :=` in front of a pipeline. */
  #declarations(context: string): Pick<PipeNode, 'isAssign' | 'variables'> {
    const variables: VariableNode[] = [];
    while (true) {
      const variable = this.#reader.peekNonSpace();
      if (variable.kind !== 'variable') return { isAssign: false, variables };
      this.#reader.next();
      const after = this.#reader.peek();
      const next = this.#reader.peekNonSpace();
      const isAssign = next.kind === 'assign';
      const isList = next.kind === 'char' && next.text === ',';
      if (!isAssign && next.kind !== 'declare' && !isList) {
        if (after.kind === 'space') this.#reader.putBack(after);
        this.#reader.putBack(variable);
        return { isAssign: false, variables };
      }
      this.#reader.nextNonSpace();
      variables.push({ kind: 'variable', position: variable.position, names: [variable.text] });
      this.#variables.push(variable.text);
      if (!isList) return { isAssign, variables };
      this.#expectSecondVariable(context, variables.length);
    }
  }

  #expectSecondVariable(context: string, declared: number): void {
    if (context !== 'range' || declared >= 2) {
      return this.#reader.fail(`too many declarations in ${context}`);
    }
    const { kind } = this.#reader.peekNonSpace();
    if (kind !== 'variable' && kind !== 'rightDelimiter' && kind !== 'rightParen') {
      this.#reader.fail('range can only initialize variables');
    }
  }

  #command(): CommandNode {
    const { position } = this.#reader.peekNonSpace();
    const operands: OperandNode[] = [];
    while (true) {
      this.#reader.peekNonSpace();
      const operand = this.#operand();
      if (operand !== undefined) operands.push(operand);
      const token = this.#reader.next();
      if (token.kind === 'space') continue;
      if (token.kind === 'rightDelimiter' || token.kind === 'rightParen') {
        this.#reader.putBack(token);
      } else if (token.kind !== 'pipe') return this.#reader.unexpected(token, 'operand');
      break;
    }
    const [first, ...rest] = operands;
    if (first === undefined) return this.#reader.fail('empty command');
    return { kind: 'command', position, operands: [first, ...rest] };
  }

  /** A term with the fields that follow it; `undefined` when the next token is no operand. */
  #operand(): OperandNode | undefined {
    const term = this.#term();
    if (term === undefined) return undefined;
    const { kind, position } = this.#reader.peek();
    if (kind !== 'field') return term;
    const fields: ByteString[] = [];
    while (this.#reader.peek().kind === 'field') fields.push(this.#reader.next().text.slice(1));
    switch (term.kind) {
      case 'field':
        return { kind: 'field', position, names: [...term.names, ...fields] };
      case 'variable':
        return { kind: 'variable', position, names: [term.names[0], ...fields] };
      case 'pipe':
      case 'identifier':
        return { kind: 'chain', position, of: term, names: fields };
      default:
        return this.#reader.fail(`unexpected . after term ${quote(nodeText(term))}`);
    }
  }

  #term(): TermNode | undefined {
    const token = this.#reader.nextNonSpace();
    const { kind, position, text } = token;
    switch (kind) {
      case 'identifier':
        if (!this.#functions.has(text)) {
          return this.#reader.fail(`function ${quote(text)} not defined`, token);
        }
        return { kind, position, name: text };
      case 'dot':
      case 'nil':
        return { kind, position };
      case 'variable':
        if (!this.#variables.includes(text)) {
          return this.#reader.fail(`undefined variable ${quote(text)}`, token);
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
        return this.#reader.deeper(() => this.pipeline('parenthesized pipeline', 'rightParen'));
      case 'string':
      case 'rawString':
        return { kind: 'string', position, quoted: text, value: this.#reader.unquoted(token) };
      default:
        this.#reader.putBack(token);
        return undefined;
    }
  }

  #number(token: Token, form: NumberForm): TermNode {
    const constant = readNumber(token.text, form);
    if (constant._tag === 'Malformed') return this.#reader.fail(constant.message, token);
    return { kind: 'number', position: token.position, text: token.text, constant };
  }
}
